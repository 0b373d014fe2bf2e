"""Logical types: conversion between Python values and stored Avro values, as in fastavro.

There is a table of factories, one per logical type. A factory makes two functions for a node: one prepares a value for
writing (a stored value is passed through), and one presents a value that was read.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Context, Decimal
from typing import Any
from uuid import UUID

from serdes.codec.schema import Node

Convert = Callable[[Any], Any]

MILLIS_PER_DAY = 86_400_000
MICROS_PER_DAY = 86_400_000_000

#: The most digits of a decimal, as Python's limit for texts of integers: the time to convert a number to decimal digits
#: grows with the square of its length, and holds the interpreter's lock (100 KB take seconds).
MAX_DIGITS = 4300
#: The bytes of a number of so many digits.
MAX_DECIMAL_BYTES = 1786


def _timestamp(unit: int, *, local: bool) -> tuple[Convert, Convert]:
    """Instants in units of `unit` microseconds; a naive datetime is in the machine's zone, or zoneless if `local`."""
    epoch = datetime(1970, 1, 1) if local else datetime(1970, 1, 1, tzinfo=UTC)  # noqa: DTZ001
    step = timedelta(microseconds=unit)
    per_second = 1_000_000 // unit

    def prepare(value: Any) -> Any:
        if not isinstance(value, datetime):
            return value
        if local:
            return (value.replace(tzinfo=None) - epoch) // step
        if value.tzinfo is None:
            return int(time.mktime(value.timetuple())) * per_second + value.microsecond // unit
        return (value - epoch) // step

    def present(value: int) -> datetime:
        return epoch + timedelta(0, 0, value * unit)

    return prepare, present


def _date() -> tuple[Convert, Convert]:
    """Days since 1970-01-01; a text in ISO format is also accepted, as in fastavro."""
    shift = date(1970, 1, 1).toordinal()
    of_ordinal = date.fromordinal

    def prepare(value: Any) -> Any:
        if isinstance(value, str):
            value = date.fromisoformat(value)
        return value.toordinal() - shift if isinstance(value, date) else value

    def present(value: int) -> date:
        return of_ordinal(value + shift)

    return prepare, present


def _time(unit: int, per_day: int) -> tuple[Convert, Convert]:
    """Times of day in units of `unit` microseconds."""

    def prepare(value: Any) -> Any:
        if not isinstance(value, time_of_day):
            return value
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return (seconds * 1_000_000 + value.microsecond) // unit

    def present(value: int) -> time_of_day:
        if not 0 <= value < per_day:
            raise ValueError(f"{value} is no time of day")
        seconds, micros = divmod(value * unit, 1_000_000)
        return time_of_day(seconds // 3600, seconds // 60 % 60, seconds % 60, micros)

    return prepare, present


def _decimal(node: Node) -> tuple[Convert, Convert]:
    """Decimals as unscaled two's complement integers, of minimal width in bytes and of full width in fixed."""
    scale, precision, width = node.scale, node.precision, node.size if node.kind == "fixed" else None
    # A separate context: rounding and flags must not affect the caller's.
    context = Context(prec=MAX_DIGITS + 1)

    def prepare(value: Any) -> Any:
        if not isinstance(value, Decimal):
            return value
        sign, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int):
            raise ValueError(f"{value} is no number")  # noqa: TRY004
        shift = exponent + scale
        if shift < 0:
            raise ValueError(f"{-exponent} decimals exceed the scale {scale}")
        size = len(digits) + shift if any(digits) else 1
        if size > precision:
            raise ValueError(f"{size} digits exceed the precision {precision}{_scaled(shift, scale)}")
        if size > MAX_DIGITS:
            raise ValueError(f"{size} digits exceed the limit of {MAX_DIGITS} digits")
        unscaled = int("".join(map(str, digits))) * 10**shift if any(digits) else 0
        try:
            return _stored(-unscaled if sign else unscaled, width)
        except OverflowError:
            raise ValueError(f"{value} does not fit {width} bytes") from None

    def present(value: bytes) -> Decimal:
        if len(value) > MAX_DECIMAL_BYTES:
            raise _too_long(len(value))
        return Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-scale, context)

    return prepare, present


def _stored(unscaled: int, width: int | None) -> bytes:
    """A number in two's complement, in `width` bytes or in as few as possible."""
    # A negative number gets the width of its magnitude, as in fastavro, even if it is a power of two.
    size = (abs(unscaled).bit_length() + 8) // 8 if width is None else width
    if size > MAX_DECIMAL_BYTES:
        raise _too_long(size)
    return unscaled.to_bytes(size, "big", signed=True)


def _scaled(shift: int, scale: int) -> str:
    return f", {scale} of them behind the point" if shift else ""


def unscaled_digits(value: bytes) -> str:
    """The digits of a stored decimal without its point, with a minus sign if it is negative.

    Raises:
        ValueError: It has more bytes than MAX_DECIMAL_BYTES.
    """
    if len(value) > MAX_DECIMAL_BYTES:
        raise _too_long(len(value))
    # Not `str(int)`, which refuses more than 4300 digits.
    return format(Decimal(int.from_bytes(value, "big", signed=True)), "f")


def _too_long(size: int) -> ValueError:
    return ValueError(
        f"a decimal of {size} bytes; the limit is {MAX_DECIMAL_BYTES} bytes, which have {MAX_DIGITS} digits"
    )


def _uuid() -> tuple[Convert, Convert]:
    def prepare(value: Any) -> Any:
        return str(value) if isinstance(value, UUID) else value

    return prepare, UUID


_FACTORIES: dict[str, Callable[[Node], tuple[Convert, Convert]]] = {
    "date": lambda _: _date(),
    "time-millis": lambda _: _time(1000, MILLIS_PER_DAY),
    "time-micros": lambda _: _time(1, MICROS_PER_DAY),
    "timestamp-millis": lambda _: _timestamp(1000, local=False),
    "timestamp-micros": lambda _: _timestamp(1, local=False),
    "local-timestamp-millis": lambda _: _timestamp(1000, local=True),
    "local-timestamp-micros": lambda _: _timestamp(1, local=True),
    "decimal": _decimal,
    "uuid": lambda _: _uuid(),
}


def preparer(node: Node) -> Convert:
    """The function that converts a Python value to a stored value; it raises ValueError if that is impossible."""
    return _FACTORIES[str(node.logical)](node)[0]


def presenter(node: Node) -> Convert:
    """The function that converts a stored value to a Python value; out of range: ValueError or OverflowError."""
    return _FACTORIES[str(node.logical)](node)[1]


def python_types(node: Node) -> frozenset[type]:
    """The exact Python types that the node's logical type accepts, apart from the stored types."""
    if node.logical == "decimal":
        return frozenset({Decimal})
    if node.logical == "uuid":
        return frozenset({UUID})
    if node.logical == "date":
        return frozenset({date, datetime, str})
    return frozenset({time_of_day if str(node.logical).startswith("time-") else datetime})
