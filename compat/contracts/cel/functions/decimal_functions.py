"""The functions of decimals.

Addition, subtraction, multiplication and remainders are exact. Quotients and roots have 38 digits, rounded half up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import Any

from compat.contracts.cel.data.decimals import DIGITS, EXACT, SCALE, decimal_message, decimal_of, is_decimal

_ROUNDED = Context(prec=38, rounding=ROUND_HALF_UP, Emax=MAX_EMAX, Emin=MIN_EMIN)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")


class NotADecimal(ValueError):
    """A value from which no decimal can be made; its text does not show the value."""


def to_decimal(value: Any) -> Decimal:
    """The decimal of a number, of a text such as `-1.50`, or of a decimal.

    Raises:
        NotADecimal: The value is something else.
    """
    if is_decimal(value):
        return decimal_of(value)
    if isinstance(value, bytes | bytearray):
        raise NotADecimal("decimal: bytes need a scale: decimal(bytes, scale)")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise NotADecimal(f"decimal: no decimal can be made from a {type(value).__name__}")
    text = str(value)
    if len(text) > 2 * DIGITS or _NUMBER.fullmatch(text) is None:
        raise NotADecimal("decimal: the text or number is no decimal")
    return Decimal(text)


def from_bytes(value: Any, scale: int) -> Any:
    """The decimal of an unscaled integer, in big-endian two's complement as Avro writes it, and a scale."""
    if abs(scale) > SCALE or len(value) > DIGITS:
        raise NotADecimal("decimal: the scale or the number of bytes is too large")
    return decimal_message(Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-scale, EXACT))


def plain_text(value: Any) -> str:
    """A decimal as text without an exponent; its scale is kept."""
    return format(to_decimal(value), "f")


def are_equal(left: Any, right: Any) -> bool:
    """Whether two values are decimals that are equal as numbers, whatever their scales."""
    return is_decimal(left) and is_decimal(right) and decimal_of(left) == decimal_of(right)


def _divide(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise NotADecimal("decimals.div: division by zero")
    return _ROUNDED.divide(left, right)


def _remainder(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise NotADecimal("decimals.mod: division by zero")
    return EXACT.remainder(left, right)


def _root(value: Decimal) -> Decimal:
    if value < 0:
        raise NotADecimal("decimals.sqrt: square root of a negative number")
    return _ROUNDED.sqrt(value)


def rounded(rounding: str) -> Callable[..., Any]:
    """A function that rounds a decimal to a scale, 0 if none is given."""

    def round_to(value: Any, scale: int = 0) -> Any:
        if abs(scale) > SCALE:
            raise NotADecimal("decimals: the scale is too large")
        return decimal_message(to_decimal(value).quantize(Decimal(1).scaleb(-scale, EXACT), rounding, EXACT))

    return round_to


def truncated(value: Any, scale: int = 0) -> Any:
    """A decimal without the digits beyond a scale; one that has no such digits keeps its own scale."""
    number = to_decimal(value)
    exponent = number.as_tuple().exponent
    return decimal_message(number) if scale >= -int(exponent) else rounded(ROUND_DOWN)(value, scale)


def _unary(compute: Callable[[Decimal], Decimal]) -> Callable[[Any], Any]:
    return lambda value: decimal_message(compute(to_decimal(value)))


def _binary(compute: Callable[[Decimal, Decimal], Decimal]) -> Callable[[Any, Any], Any]:
    return lambda left, right: decimal_message(compute(to_decimal(left), to_decimal(right)))


def _comparison(compare: Callable[[Decimal, Decimal], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: compare(to_decimal(left), to_decimal(right))


#: The functions of `decimals.` from two decimals to a bool.
COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": _comparison(lambda left, right: left == right),
    "lt": _comparison(lambda left, right: left < right),
    "le": _comparison(lambda left, right: left <= right),
    "gt": _comparison(lambda left, right: left > right),
    "ge": _comparison(lambda left, right: left >= right),
}
#: The functions of `decimals.` from two decimals to one.
OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": _binary(EXACT.add),
    "sub": _binary(EXACT.subtract),
    "mul": _binary(EXACT.multiply),
    "div": _binary(_divide),
    "mod": _binary(_remainder),
    "greatest": _binary(max),
    "least": _binary(min),
}
#: The functions of `decimals.` from a decimal to another.
CHANGES: Mapping[str, Callable[[Any], Any]] = {
    "sqrt": _unary(_root),
    "neg": _unary(lambda value: value.copy_negate()),
    "abs": _unary(lambda value: value.copy_abs()),
    "round": rounded(ROUND_HALF_UP),
    "trunc": truncated,
    "floor": rounded(ROUND_FLOOR),
    "ceil": rounded(ROUND_CEILING),
}


def sign(value: Any) -> int:
    """-1, 0 or 1."""
    number = to_decimal(value)
    return (number > 0) - (number < 0)
