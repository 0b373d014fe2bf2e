"""JSON values that remember the Python value that they stand for, so that a rule that does not touch it keeps it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from serdes.codec.forms.check import is_integer, is_number


class HeldText(str):  # noqa: SLOT000  # its subclass has two bases with attributes
    """A text for a value of another type, such as a datetime."""

    original: Any


class HeldBranch:
    """A value of a union with its branch's name; the classes below are one for each kind of JSON value."""

    branch: str


class _Record(dict[str, Any], HeldBranch):
    pass


class _Items(list[Any], HeldBranch):
    pass


class _Text(HeldText, HeldBranch):
    pass


class _Whole(int, HeldBranch):
    pass


class _Real(float, HeldBranch):
    pass


_BRANCH_CLASSES: Mapping[type, Any] = {dict: _Record, list: _Items, str: _Text, int: _Whole, float: _Real}


def held_branch(branch: str, document: Any) -> Any:
    """The JSON value with its branch's name; null and booleans cannot have one."""
    if isinstance(document, bool):
        return document
    kind = next((held for plain, held in _BRANCH_CLASSES.items() if isinstance(document, plain)), None)
    if kind is None:
        return document
    held = kind(document)
    held.branch = branch
    if kind is _Text:
        held.original = document.original if isinstance(document, HeldText) else str(document)
    return held


def copied(document: Any) -> Any:
    """A copy of a document; null values of an evaluation, which are no JSON, stay themselves."""
    if isinstance(document, dict):
        parts: Any = {key: copied(item) for key, item in document.items()}
    elif isinstance(document, list | range):
        parts = [copied(item) for item in document]
    else:
        return document
    return held_branch(document.branch, parts) if isinstance(document, HeldBranch) else parts


def _instant(value: datetime) -> str:
    timespec = "microseconds" if value.microsecond % 1000 else "milliseconds"
    return value.isoformat(timespec=timespec).replace("+00:00", "Z")


def _bytes(value: Any) -> str:
    return bytes(value).decode("iso-8859-1")


#: The texts of values that JSON lacks; of two rows that fit, the first counts.
_TEXTS: tuple[tuple[tuple[type, ...], Callable[[Any], str]], ...] = (
    ((bytes, bytearray, memoryview), _bytes),
    ((datetime,), _instant),
    ((date, time_of_day), lambda value: str(value.isoformat())),
    ((Decimal, UUID), str),
)


def leaf_document(value: Any) -> Any:
    """The JSON value of a value without parts.

    Bytes are texts of ISO-8859-1, dates and times of ISO 8601; decimals and UUIDs are texts, too.

    Raises:
        TypeError: JSON has no form for a value of this type.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Enum):
        return leaf_document(value.value)
    for types, text_of in _TEXTS:
        if isinstance(value, types):
            held = HeldText(text_of(value))
            held.original = value
            return held
    if is_integer(value):
        return int(value)
    if is_number(value):
        return float(value)
    raise TypeError(f"JSONATA has no form for a value of type {type(value).__name__}")
