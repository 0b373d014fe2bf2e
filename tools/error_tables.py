"""The tables of docs/errors.md, from the error tables of the servers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType

from magicbyte.kit.errors import ErrorKind


def error_table(*modules: ModuleType) -> str:
    """Return the rows of the error tables in these modules, by code: code, HTTP status and message."""
    kinds = sorted(
        {kind for module in modules for kind in _kinds(module)}, key=lambda kind: (str(kind.code), kind.message)
    )
    rows = "".join(f"| {kind.code} | {kind.http_status} | {_message(kind)} |\n" for kind in kinds)
    return f"| code | status | message |\n|---|---|---|\n{rows}"


def _kinds(module: ModuleType) -> Iterator[ErrorKind]:
    return (value for value in vars(module).values() if isinstance(value, ErrorKind))


def _message(kind: ErrorKind) -> str:
    """The message in code, with an ellipsis for each field."""
    text = re.sub(r"\{\w*\}", "…", kind.message.replace("{{", "\0").replace("}}", "\1"))
    return "`" + text.replace("\0", "{").replace("\1", "}").replace("|", "\\|").replace("`", "'") + "`"
