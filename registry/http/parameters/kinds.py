"""Parsers and descriptions of flags and numbers in queries."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BeforeValidator, WithJsonSchema

from registry import errors
from registry.http.request import integer

_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")


def _is_true(raw: Any) -> bool:
    """Read a flag; any value but `true` is false, as in the reference."""
    return str(raw).lower() == "true"


def number(raw: Any, default: int) -> int:
    """Read an integer of a route of the reference; older versions of FastAPI read defaults too."""
    return integer(str(raw), default)


def bounded(raw: Any, name: str, default: int, least: int, most: int) -> int:
    """Read an integer of a route that the reference does not have."""
    text = str(raw).strip()
    if not text:
        return default
    if not _INTEGER.fullmatch(text) or not least <= int(text) <= most:
        raise errors.INVALID_PARAMETER(detail=f"{name} must be a number from {least} to {most}, not {text[:40]!r}")
    return int(text)


#: A flag; any value but `true` is false.
FLAG = BeforeValidator(_is_true)
TEXT, INT32 = WithJsonSchema({"type": "string"}), WithJsonSchema({"type": "integer", "format": "int32"})
