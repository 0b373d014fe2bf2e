"""Whether a record fits the conditions of a filter."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from types import MappingProxyType
from typing import Any

import msgspec

from magicbyte.ui.messages.filter_text import Condition, Contains, Field, HasHeader, HasSchema, number_of
from magicbyte.ui.messages.kinds import parsed

_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        "=": operator.eq,
        "!=": operator.ne,
        ">": operator.gt,
        ">=": operator.ge,
        "<": operator.lt,
        "<=": operator.le,
    }
)
_WORDS = MappingProxyType({"null": None, "true": True, "false": False})


@dataclass
class Part:
    """A key or value as filters see it.

    Attributes:
        text: Its JSON; None for no key or value, and for bytes that do not decode.
        schema_id: The id of its schema; None without one.
        is_null: Whether there is no key or value.
    """

    text: bytes | None
    schema_id: int | None = None
    is_null: bool = False

    @cached_property
    def lower(self) -> str:
        """Its JSON in lower case."""
        return "" if self.text is None else self.text.decode(errors="replace").lower()

    @cached_property
    def data(self) -> tuple[Any, ...]:
        """Its data, as a tuple of one; empty if it does not decode."""
        if self.text is None:
            return (None,) if self.is_null else ()
        try:
            return (parsed(self.text),)
        except (ValueError, RecursionError):
            return ()


@dataclass(frozen=True)
class Candidate:
    """A record to compare with the conditions.

    Attributes:
        parts: `key` and `value`.
        headers: The names and values of the headers.
    """

    parts: Mapping[str, Part]
    headers: Sequence[tuple[str, bytes | None]]


def fits(candidate: Candidate, conditions: Sequence[Condition]) -> bool:
    """Whether all conditions hold."""
    return all(_holds(candidate, condition) for condition in conditions)


def _holds(candidate: Candidate, condition: Condition) -> bool:
    if isinstance(condition, Field):
        return _field_holds(candidate.parts[condition.side], condition)
    if isinstance(condition, HasSchema):
        return any(part.schema_id == condition.schema_id for part in candidate.parts.values())
    if isinstance(condition, HasHeader):
        return any(
            name == condition.name and (condition.text is None or condition.text in _lower(value))
            for name, value in candidate.headers
        )
    return _contains(candidate, condition)


def _contains(candidate: Candidate, condition: Contains) -> bool:
    if condition.side is not None:
        return condition.text in candidate.parts[condition.side].lower
    if any(condition.text in part.lower for part in candidate.parts.values()):
        return True
    return any(condition.text in name.lower() or condition.text in _lower(value) for name, value in candidate.headers)


def _lower(value: bytes | None) -> str:
    return "" if value is None else value.decode(errors="replace").lower()


def _field_holds(part: Part, field: Field) -> bool:
    try:
        found = list(_at(part.data, field.path))
    except RecursionError:
        return False
    if field.operator == "!=":
        # A field that is missing has no value to differ.
        return bool(found) and not any(_compares(datum, field, "=") for datum in found)
    return any(_compares(datum, field, field.operator) for datum in found)


def _at(data: Sequence[Any], path: tuple[str, ...]) -> Iterator[Any]:
    """The data at a path below some data: a name also leads into each item of an array, and a number to one item."""
    for datum in data:
        if not path:
            yield from datum if isinstance(datum, list) else (datum,)
        elif isinstance(datum, dict):
            if path[0] in datum:
                yield from _at((datum[path[0]],), path[1:])
        elif isinstance(datum, list):
            index = int(path[0]) if path[0].isascii() and path[0].isdigit() and len(path[0]) < 10 else None
            if index is None:
                yield from _at(datum, path)
            elif index < len(datum):
                yield from _at((datum[index],), path[1:])


def _compares(datum: Any, field: Field, name: str) -> bool:
    if name == "~":
        return field.text.lower() in _as_text(datum).lower()
    compare = _COMPARE[name]
    if not field.is_quoted and field.text in _WORDS and (datum is None or isinstance(datum, bool)):
        return name in ("=", ">=", "<=") and datum is _WORDS[field.text]
    if field.number is not None:
        number = _as_number(datum)
        if number is not None:
            return compare(number, field.number)
    if datum is None or isinstance(datum, bool | dict | list):
        return False
    if name not in ("=", "!=") and not isinstance(datum, str):
        return False
    return compare(_as_text(datum), field.text)


def _as_number(datum: Any) -> Decimal | int | None:
    if isinstance(datum, bool):
        return None
    if isinstance(datum, int | Decimal):
        return datum
    # Decimals and 64-bit numbers of Protobuf are texts.
    return number_of(datum) if isinstance(datum, str) else None


def _as_text(datum: Any) -> str:
    if isinstance(datum, str):
        return datum
    return str(datum) if isinstance(datum, Decimal) else msgspec.json.encode(datum).decode()
