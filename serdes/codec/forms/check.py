"""Checks of values to be stored as a primitive, an enum or a fixed: one function per type, for data and JSON.

A check returns the value to store, or raises Unfit with a reason if the types alone do not explain it. Generated code
handles the usual types itself and calls a check for all others, such as subclasses and numpy's numbers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from serdes.codec.schema import Node
from serdes.codec.varint import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN

Check = Callable[[Node, Any], Any]

#: The texts for values that JSON has no numbers for; Java's Avro reads both spellings of infinity.
NOT_NUMBERS = MappingProxyType(
    {
        "NaN": float("nan"),
        "Infinity": float("inf"),
        "INF": float("inf"),
        "-Infinity": float("-inf"),
        "-INF": float("-inf"),
    },
)


class Unfit(ValueError):
    """A value that a type cannot store; the text is empty if the two types already tell the reason."""


def is_integer(value: Any) -> bool:
    """Whether the value's type is an integer type, numpy's included, and not a boolean."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return True
    from numbers import Integral  # noqa: PLC0415  (rare, and its import is slow)

    return isinstance(value, Integral)


def is_number(value: Any) -> bool:
    """Whether the value's type is a type of real numbers, numpy's included, and not a boolean."""
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return True
    from numbers import Real  # noqa: PLC0415  (rare, and its import is slow)

    return isinstance(value, Real)


def _null(_: Node, value: Any) -> None:
    if value is not None:
        raise Unfit


def _boolean(_: Node, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy" and type(value).__name__ in {"bool", "bool_"}:
        return bool(value)
    raise Unfit


def _within(value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise Unfit("out of range")
    return value


def _int(_: Node, value: Any) -> int:
    if not is_integer(value):
        raise Unfit
    return _within(int(value), INT_MIN, INT_MAX)


def _long(_: Node, value: Any) -> int:
    if not is_integer(value):
        raise Unfit
    return _within(int(value), LONG_MIN, LONG_MAX)


def _real(_: Node, value: Any) -> float:
    if not is_number(value):
        raise Unfit
    try:
        return float(value)
    except OverflowError:
        raise Unfit("out of range") from None


def _string(_: Node, value: Any) -> str:
    if not isinstance(value, str):
        raise Unfit
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Unfit(f"no Unicode text: {error.reason} at {error.start}") from None
    return value


def _bytes(_: Node, value: Any) -> bytes:
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise Unfit
    return bytes(value)


def _fixed(node: Node, value: Any) -> bytes:
    return _sized(node, _bytes(node, value))


def _sized(node: Node, value: bytes) -> bytes:
    if len(value) != node.size:
        raise Unfit(f"{len(value)} bytes, not {node.size}")
    return value


def _enum(node: Node, value: Any) -> str:
    if not isinstance(value, str):
        raise Unfit
    if value not in node.symbols:
        raise Unfit(f"{value!r:.80} is no symbol of it")
    return str(value)


def _whole(value: Any) -> Any:
    """A number without a fraction as an integer; any other value as it is."""
    if not isinstance(value, float) or not value.is_integer():
        return value
    text = getattr(value, "text", None)
    if text is None:
        return int(value)
    # A float has no fraction beyond 2**53, but the number that was written may have one.
    written = Decimal(text)
    return int(written) if written == int(written) else value


def _json_int(node: Node, value: Any) -> int:
    return _int(node, _whole(value))


def _json_long(node: Node, value: Any) -> int:
    return _long(node, _whole(value))


def _json_real(node: Node, value: Any) -> float:
    if isinstance(value, str):
        if value not in NOT_NUMBERS:
            raise Unfit
        return NOT_NUMBERS[value]
    return _real(node, value)


def _json_bytes(_: Node, value: Any) -> bytes:
    if not isinstance(value, str):
        raise Unfit
    try:
        return value.encode("iso-8859-1")
    except UnicodeEncodeError as error:
        raise Unfit(f"character {error.start} is beyond U+00FF") from None


def _json_fixed(node: Node, value: Any) -> bytes:
    return _sized(node, _json_bytes(node, value))


#: The checks of Python data, as in fastavro.
DATUM: Mapping[str, Check] = MappingProxyType(
    {
        "null": _null,
        "boolean": _boolean,
        "int": _int,
        "long": _long,
        "float": _real,
        "double": _real,
        "string": _string,
        "bytes": _bytes,
        "fixed": _fixed,
        "enum": _enum,
    },
)

#: The checks of parsed Avro JSON: bytes are texts of U+0000 to U+00FF.
JSON: Mapping[str, Check] = MappingProxyType(
    {
        **DATUM,
        "int": _json_int,
        "long": _json_long,
        "float": _json_real,
        "double": _json_real,
        "bytes": _json_bytes,
        "fixed": _json_fixed,
    },
)

_FLOAT = struct.Struct("<f").pack


def pack_float(value: float) -> bytes:
    """The four bytes of a float; a number beyond the largest float becomes infinite, as by a cast in C and Java."""
    try:
        return _FLOAT(value)
    except OverflowError:
        return _FLOAT(float("inf") if value > 0 else float("-inf"))
