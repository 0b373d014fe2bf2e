"""The parser of options and of their values, including messages in text format."""

from __future__ import annotations

import re

from compat.protobuf.text.cursor import Cursor, parse_integer
from compat.protobuf.text.nodes import (
    Aggregate,
    ListLiteral,
    NamePart,
    NumberLiteral,
    Option,
    StringLiteral,
    Value,
    Word,
)

#: How deeply aggregate values may nest.
MAX_DEPTH = 64

_FLOAT = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?", re.ASCII)


def option_statement(cursor: Cursor) -> Option:
    """Read `option name = value;`."""
    cursor.i += 1
    option = _option(cursor)
    cursor.expect(";")
    return option


def bracketed_options(cursor: Cursor) -> tuple[Option, ...]:
    """Read `[name = value, ...]` if it is next."""
    if not cursor.take("["):
        return ()
    options = [_option(cursor)]
    while cursor.take(","):
        options.append(_option(cursor))
    if not cursor.take("]"):
        cursor.expected('"," or "]"')
    return tuple(options)


def _option(cursor: Cursor) -> Option:
    at = cursor.i
    name = _option_name(cursor)
    cursor.expect("=")
    return Option(name, _option_value(cursor), at)


def _option_name(cursor: Cursor) -> tuple[NamePart, ...]:
    parts: list[NamePart] = []
    while True:
        if cursor.take("("):
            parts.append(NamePart(cursor.dotted("the name of an extension"), extension=True))
            cursor.expect(")")
        else:
            lexeme = cursor.tokens[cursor.i]
            if parts and lexeme[:1] == ".":
                lexeme = lexeme[1:]  # after a closing parenthesis, the dot and the name are one token
            if not lexeme[:1].isidentifier():
                cursor.expected("the name of an option")
            cursor.i += 1
            parts.extend(NamePart(part, extension=False) for part in lexeme.split("."))
        follows = cursor.tokens[cursor.i]
        if follows == ".":
            cursor.i += 1
        elif follows[:1] != ".":
            return tuple(parts)


def _option_value(cursor: Cursor) -> Value:
    lexeme = cursor.tokens[cursor.i]
    if lexeme == "{":
        cursor.i += 1
        return _aggregate(cursor, "}")
    return _scalar(cursor)


def _scalar(cursor: Cursor) -> Value:
    lexeme = cursor.tokens[cursor.i]
    if lexeme[:1] in {'"', "'"}:
        return StringLiteral(cursor.string("a string"))
    if lexeme.isidentifier():
        cursor.i += 1
        return Word(lexeme)
    if not cursor.take("-"):
        if not is_number(lexeme):
            cursor.expected("a value")
        cursor.i += 1
        return NumberLiteral(lexeme)
    lexeme = cursor.tokens[cursor.i]
    if lexeme not in {"inf", "nan", "infinity"} and not is_number(lexeme):
        cursor.expected("a number after the sign")
    cursor.i += 1
    return NumberLiteral("-" + lexeme)


def is_number(lexeme: str) -> bool:
    """Whether a lexeme is an unsigned integer or floating point literal."""
    if parse_integer(lexeme) is not None or _FLOAT.fullmatch(lexeme) is not None:
        return True
    # a decimal integer of more than 64 bits is a floating point number
    return lexeme.isdecimal() and lexeme[0] != "0"


def _aggregate(cursor: Cursor, end: str) -> Aggregate:
    if cursor.depth >= MAX_DEPTH:
        cursor.fail(f"values nest deeper than {MAX_DEPTH} levels")
    cursor.depth += 1
    entries: dict[str, list[Value]] = {}
    lists: set[str] = set()
    while not cursor.take(end):
        if not cursor.tokens[cursor.i]:
            cursor.expected(f'"{end}"')
        key = _key(cursor)
        colon = cursor.take(":")
        opening = cursor.tokens[cursor.i]
        if not colon and opening not in {"{", "<", "["}:
            cursor.expected('":"')
        values = entries.setdefault(key, [])
        if values or opening == "[":
            lists.add(key)  # a repeated key is the same as a list
        value = _entry_value(cursor)
        values.extend(value.values if isinstance(value, ListLiteral) else (value,))
        if cursor.tokens[cursor.i] in {",", ";"}:
            cursor.i += 1
    cursor.depth -= 1
    return Aggregate(
        tuple((key, ListLiteral(tuple(values)) if key in lists else values[0]) for key, values in entries.items())
    )


def _key(cursor: Cursor) -> str:
    if not cursor.take("["):
        return cursor.name("the name of a field")
    name = cursor.dotted("the name of an extension")
    while cursor.take("/"):
        name += "/" + cursor.dotted("the name of a type")
    cursor.expect("]")
    return f"[{name}]"


def _entry_value(cursor: Cursor) -> Value:
    if not cursor.take("["):
        return _element(cursor)
    values: list[Value] = []
    if not cursor.take("]"):
        values.append(_element(cursor))
        while cursor.take(","):
            values.append(_element(cursor))
        if not cursor.take("]"):
            cursor.expected('"," or "]"')
    return ListLiteral(tuple(values))


def _element(cursor: Cursor) -> Value:
    if cursor.take("{"):
        return _aggregate(cursor, "}")
    if cursor.take("<"):
        return _aggregate(cursor, ">")
    return _scalar(cursor)
