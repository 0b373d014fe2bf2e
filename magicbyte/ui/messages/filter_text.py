"""The text of a filter as conditions: words, and `name:value` or `value.path = literal` for one property.

All conditions must hold. docs/page.md has the grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

Side = Literal["key", "value"]

#: The operators of fields; `~` means that the field's text contains the literal.
OPERATORS = ("!=", ">=", "<=", "=", ">", "<", "~")
_MOST_CONDITIONS = 20
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_STEP = rf"\.(?:{_QUOTED}|[^\s.=<>!~\"]+)"
#: A literal without quotation marks; it does not begin like an operator.
_BARE = r"[^\s\"=<>!~][^\s\"]*"
_FIELD = re.compile(
    rf"(?P<side>key|value)(?P<path>(?:{_STEP})*)\s*(?P<operator>{'|'.join(OPERATORS)})\s*(?P<literal>{_QUOTED}|{_BARE})"
)
_NAMED = re.compile(
    rf"(?P<name>key|value|header|id|text):(?P<text>(?:{_QUOTED}|[^\s\"=]+)(?:=(?:{_QUOTED}|[^\s\"]+))?)"
)
_WORD = re.compile(rf"{_QUOTED}|[^\s\"]+")
_LONGEST = 40
_MOST_ID = 2**31 - 1


class BadFilter(ValueError):
    """A text that is no filter; the message says why."""


@dataclass(frozen=True, slots=True)
class Contains:
    """The text is in the key, the value or a header, whatever the case of its letters.

    Attributes:
        text: The text, in lower case.
        side: The only part to look at; None for all.
    """

    text: str
    side: Side | None = None


@dataclass(frozen=True, slots=True)
class HasHeader:
    """A header has a name, and perhaps a value that contains a text.

    Attributes:
        name: The header's name.
        text: The text in lower case; None for any value.
    """

    name: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class HasSchema:
    """The key or the value has a schema id.

    Attributes:
        schema_id: The id.
    """

    schema_id: int


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the key or value compares with a literal.

    Attributes:
        side: The part that has the field.
        path: The names on the way to it; empty for the whole key or value.
        operator: One of `OPERATORS`.
        text: The literal.
        number: The literal as a number; None if it is quoted or no number.
        is_quoted: Whether the literal is a text, whatever it looks like.
    """

    side: Side
    path: tuple[str, ...]
    operator: str
    text: str
    number: Decimal | None = None
    is_quoted: bool = False


Condition = Contains | HasHeader | HasSchema | Field


def read_filter(text: str) -> tuple[Condition, ...]:
    """The conditions in a text.

    Raises:
        BadFilter: The text is no filter, or has too many conditions.
    """
    conditions: list[Condition] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        for pattern, make in ((_FIELD, _field), (_NAMED, _named), (_WORD, _word)):
            match = pattern.match(text, at)
            if match is not None and (match.end() == len(text) or text[match.end()].isspace()):
                conditions.append(make(match))
                at = match.end()
                break
        else:
            raise BadFilter(f"it cannot be read from {text[at : at + _LONGEST]!r} on: a quotation mark is not closed")
    if len(conditions) > _MOST_CONDITIONS:
        raise BadFilter(f"it has {len(conditions)} conditions; at most {_MOST_CONDITIONS} are read")
    return tuple(conditions)


def _field(match: re.Match[str]) -> Condition:
    side: Side = "key" if match["side"] == "key" else "value"
    path = tuple(_unquoted(step[0][1:]) for step in re.finditer(_STEP, match["path"]))
    literal = match["literal"]
    is_quoted = literal.startswith('"')
    return Field(
        side, path, match["operator"], _unquoted(literal), None if is_quoted else number_of(literal), is_quoted
    )


def _named(match: re.Match[str]) -> Condition:
    name, text = match["name"], match["text"]
    if name == "header":
        header = re.fullmatch(rf"({_QUOTED}|[^\s\"=]+)(?:=(.*))?", text, re.DOTALL)
        assert header is not None, "the pattern of names is wider than that of headers"
        return HasHeader(_unquoted(header[1]), None if header[2] is None else _unquoted(header[2]).lower())
    if name == "id":
        if not (text.isascii() and text.isdigit() and int(text[:20]) <= _MOST_ID):
            raise BadFilter(f"id:{text[:_LONGEST]} must have a number between 0 and {_MOST_ID}")
        return HasSchema(int(text))
    side: Side | None = "key" if name == "key" else "value" if name == "value" else None
    return Contains(_unquoted(text).lower(), side)


def _word(match: re.Match[str]) -> Condition:
    if match[0] in OPERATORS:
        raise BadFilter(f"{match[0]} needs a field before it and a value behind it, such as value.id {match[0]} 7")
    return Contains(_unquoted(match[0]).lower())


def _unquoted(text: str) -> str:
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)
    return text


def number_of(text: str) -> Decimal | None:
    """The number that a text is; None if it is none."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
