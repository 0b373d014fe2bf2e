"""The text of a field's default value in its descriptor."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from compat.protobuf.descriptor.scalars import float_value, to_integer
from compat.protobuf.text.nodes import NumberLiteral, StringLiteral, Value, Word

_WORDS = frozenset((FieldDescriptorProto.TYPE_BOOL, FieldDescriptorProto.TYPE_ENUM))
_FLOATS = frozenset((FieldDescriptorProto.TYPE_FLOAT, FieldDescriptorProto.TYPE_DOUBLE))
_BOUNDS: dict[int, tuple[int, int]] = {
    FieldDescriptorProto.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptorProto.TYPE_SINT32: (-(2**31), 2**31 - 1),
    FieldDescriptorProto.TYPE_SFIXED32: (-(2**31), 2**31 - 1),
    FieldDescriptorProto.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptorProto.TYPE_FIXED32: (0, 2**32 - 1),
    FieldDescriptorProto.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptorProto.TYPE_SINT64: (-(2**63), 2**63 - 1),
    FieldDescriptorProto.TYPE_SFIXED64: (-(2**63), 2**63 - 1),
    FieldDescriptorProto.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptorProto.TYPE_FIXED64: (0, 2**64 - 1),
}


def default_text(kind: int, value: Value) -> str | None:
    """The text for a value of a field of some type; None if the value does not have that type.

    Args:
        kind: The type's number in a field descriptor.
        value: The value as in the text.
    """
    if kind in _BOUNDS:
        number = to_integer(value.text) if isinstance(value, NumberLiteral) else None
        low, high = _BOUNDS[kind]
        return str(number) if number is not None and low <= number <= high else None
    if kind in _FLOATS:
        return _float_text(value, single=kind == FieldDescriptorProto.TYPE_FLOAT)
    if isinstance(value, StringLiteral):
        as_text = _STRINGS.get(kind)
        return None if as_text is None else as_text(value.value)
    if not isinstance(value, Word) or kind not in _WORDS:
        return None
    return value.text if value.text in {"true", "false"} or kind == FieldDescriptorProto.TYPE_ENUM else None


def _float_text(value: Value, *, single: bool) -> str | None:
    if isinstance(value, Word):
        return value.text if value.text in {"inf", "nan"} else None
    if isinstance(value, NumberLiteral) and value.text in {"-inf", "-nan"}:
        return value.text
    number = float_value(value)
    if number is None:
        return None
    # the fewest digits that give the same number again, as C++ prints it
    if not single:
        return _digits(number, 15, 17, float)
    return _digits(_to_single(number), 6, 9, _to_single)


def _digits(number: float, few: int, many: int, read: Callable[[float], float]) -> str:
    text = format(number, f".{few}g")
    return text if read(float(text)) == number else format(number, f".{many}g")


def _to_single(number: float) -> float:
    """The nearest single-precision number."""
    try:
        single: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return single


def _utf8(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


_C_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


def c_escape(value: bytes) -> str:
    """Bytes as ASCII text; bytes that are not printable become octal escapes."""
    return "".join(_C_ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in value)


_STRINGS: dict[int, Callable[[bytes], str | None]] = {
    FieldDescriptorProto.TYPE_BYTES: c_escape,
    FieldDescriptorProto.TYPE_STRING: _utf8,
}
