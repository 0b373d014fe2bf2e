"""Converts literals to Python values for the fields of options and for default values."""

from __future__ import annotations

import re
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from compat.protobuf.text.cursor import parse_integer
from compat.protobuf.text.nodes import NumberLiteral, StringLiteral, Value, Word

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_NOT_DECIMAL = re.compile(r"-?0[xX0-7]")
_TRUE = frozenset(("true", "True", "t"))
_FALSE = frozenset(("false", "False", "f"))


def scalar(field: FieldDescriptor, value: Value, *, text_format: bool) -> Any:
    """The Python value of a literal for a field; None if the literal does not have the field's type.

    Args:
        field: The field.
        value: The literal.
        text_format: Whether the literal is in text format, which allows more spellings but fewer numbers.
    """
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return _bool(value, text_format=text_format)
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        return _enum(field, value, text_format=text_format)
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return _string(field, value)
    if kind in _INTEGERS:
        number = to_integer(value.text) if isinstance(value, NumberLiteral) else None
        low, high = _INTEGERS[kind]
        return number if number is not None and low <= number <= high else None
    octal_or_hexadecimal = isinstance(value, NumberLiteral) and _NOT_DECIMAL.match(value.text)
    return None if text_format and octal_or_hexadecimal else float_value(value)


def _bool(value: Value, *, text_format: bool) -> bool | None:
    if isinstance(value, Word):
        if value.text in _TRUE and (text_format or value.text == "true"):
            return True
        return False if value.text in _FALSE and (text_format or value.text == "false") else None
    if text_format and isinstance(value, NumberLiteral):
        number = to_integer(value.text)
        return bool(number) if number in {0, 1} else None
    return None


def _enum(field: FieldDescriptor, value: Value, *, text_format: bool) -> int | None:
    if field.enum_type is None:
        return None
    if isinstance(value, Word):
        named = field.enum_type.values_by_name.get(value.text)
        return None if named is None else int(named.number)
    if text_format and isinstance(value, NumberLiteral):
        number = to_integer(value.text)
        is_valid = number in field.enum_type.values_by_number or not field.enum_type.is_closed
        return number if is_valid and number is not None and -(2**31) <= number < 2**31 else None
    return None


def _string(field: FieldDescriptor, value: Value) -> str | bytes | None:
    if not isinstance(value, StringLiteral):
        return None
    if field.type == FieldDescriptor.TYPE_BYTES:
        return value.value
    try:
        return value.value.decode()
    except UnicodeDecodeError:
        return None


def float_value(value: Value) -> float | None:
    """The value of a literal for a floating point field; None if it is not a number."""
    if isinstance(value, Word):
        return float(value.text) if value.text in {"inf", "nan", "infinity"} else None
    if not isinstance(value, NumberLiteral):
        return None
    integer = to_integer(value.text)
    return float(value.text) if integer is None else float(integer)


def to_integer(text: str) -> int | None:
    """The value of an integer literal that may have a minus sign; None for any other literal."""
    value = parse_integer(text.removeprefix("-"))
    return -value if value is not None and text[0] == "-" else value
