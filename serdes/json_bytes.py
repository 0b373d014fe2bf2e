"""JSON between text and Python, with integers of any size, and as deep as Python's stack."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from compat.json_fault import fault_of

#: orjson reads integers beyond 64 bits as floats; a text that may hold one is read by the standard library.
_LARGE = re.compile(r"\d{19}")


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def loads(text: str) -> Any:
    """The value of a text.

    Raises:
        json.JSONDecodeError: It is not JSON.
    """
    if not _LARGE.search(text):
        return orjson.loads(text)
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        fault = fault_of(text, error)
        raise json.JSONDecodeError(fault.detail, text, fault.offset) from None


def dumps(value: Any) -> bytes:
    """The compact text of a value, in UTF-8.

    Raises:
        TypeError, ValueError, RecursionError: It has none.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
