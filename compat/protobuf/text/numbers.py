"""The grammar of enums, reserved numbers and extension ranges."""

from __future__ import annotations

from compat.protobuf.text.cursor import Cursor
from compat.protobuf.text.nodes import (
    MAX_ENUM_NUMBER,
    MAX_FIELD_NUMBER,
    Constant,
    Enum,
    Extensions,
    Option,
    Range,
    Reserved,
)
from compat.protobuf.text.values import bracketed_options, option_statement


def read_enum(cursor: Cursor, syntax: str) -> Enum:
    """Read an enum with its values."""
    tokens = cursor.tokens
    at = cursor.i
    cursor.i += 1
    name = cursor.name("the name of the enum")
    cursor.expect("{")
    constants: list[Constant] = []
    reserved: list[Reserved] = []
    options: list[Option] = []
    while (lexeme := tokens[cursor.i]) != "}":
        match lexeme:
            case "option":
                options.append(option_statement(cursor))
            case "reserved":
                reserved.append(read_reserved(cursor, syntax, MAX_ENUM_NUMBER, signed=True))
            case ";":
                cursor.i += 1
            case _:
                constants.append(_constant(cursor))
    cursor.i += 1
    return Enum(name, tuple(constants), tuple(reserved), tuple(options), at)


def _constant(cursor: Cursor) -> Constant:
    at = cursor.i
    name = cursor.name("the name of an enum value")
    cursor.expect("=")
    number = _signed(cursor, "the number of the enum value")
    options = bracketed_options(cursor)
    cursor.expect(";")
    return Constant(name, number, options, at)


def _signed(cursor: Cursor, noun: str) -> int:
    """Read a 32-bit integer that may have a minus sign."""
    at = cursor.i
    sign = -1 if cursor.take("-") else 1
    value = sign * cursor.integer(noun)
    if not -MAX_ENUM_NUMBER - 1 <= value <= MAX_ENUM_NUMBER:
        cursor.fail(f"{noun} is out of the range of 32 bits", at)
    return value


def read_reserved(cursor: Cursor, syntax: str, maximum: int = MAX_FIELD_NUMBER, *, signed: bool = False) -> Reserved:
    """Read a `reserved` statement: numbers and ranges, or names."""
    at = cursor.i
    cursor.i += 1
    first = cursor.tokens[cursor.i]
    values: list[int | Range | str] = []
    if first[:1] in {'"', "'"}:
        if syntax == "editions":
            cursor.fail("in editions reserved names are identifiers, not strings")
        values.append(cursor.text_string("a name as a string"))
        while cursor.take(","):
            values.append(cursor.text_string("a name as a string"))
    elif first.isidentifier():
        if syntax != "editions":
            cursor.fail("reserved names are strings before editions")
        values.append(cursor.name("a name"))
        while cursor.take(","):
            values.append(cursor.name("a name"))
    else:
        values.extend(_ranges(cursor, maximum, signed=signed))
    cursor.expect(";")
    return Reserved(tuple(values), at, quoted=syntax != "editions")


def _ranges(cursor: Cursor, maximum: int, *, signed: bool) -> list[int | Range]:
    """Read numbers and ranges of numbers, separated by commas."""
    values: list[int | Range] = []
    while True:
        start = _signed(cursor, "a number") if signed else cursor.integer("a number")
        if cursor.take("to"):
            if cursor.take("max"):
                end = maximum
            else:
                end = _signed(cursor, "a number or max") if signed else cursor.integer("a number or max")
            values.append(Range(start, end))
        else:
            values.append(start)
        if not cursor.take(","):
            return values


def read_extensions(cursor: Cursor, syntax: str) -> Extensions:
    """Read an `extensions` statement."""
    at = cursor.i
    cursor.i += 1
    if syntax == "proto3":
        cursor.fail("extension ranges do not exist in proto3", at)
    ranges = _ranges(cursor, MAX_FIELD_NUMBER, signed=False)
    options = bracketed_options(cursor)
    cursor.expect(";")
    return Extensions(tuple(ranges), options, at)
