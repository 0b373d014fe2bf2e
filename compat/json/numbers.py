"""Numbers of JSON texts: the limits for reading them, and the ways in which Java prints them.

The reference reads JSON Schemas with exact decimals and prints them as `BigDecimal.toString` does. The Avro library
reads and prints doubles.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import Any

#: The longest number that is read, in characters; Jackson has the same limit.
MAX_NUMBER_LENGTH = 1000
#: The largest power of ten of an exact number's first digit, and its negation the smallest. Written without an
#: exponent, such a number is about as long as the longest that is read; arithmetic with larger ones takes too long.
MAX_EXPONENT = 1000

#: Java's Double.toString prints plain decimals within this range and d.ddE±n outside.
_PLAIN_FROM, _PLAIN_BELOW = 1e-3, 1e7


class RefusedNumber(ValueError):
    """A number that is not read; its arguments are the number's text and the reason."""


def integer(number: str) -> int:
    """Read a number without a point or an exponent; raises RefusedNumber if it is too long."""
    _refuse_long(number)
    return int(number)


def double(number: str) -> float:
    """Read a number as a double; raises RefusedNumber if it is too long or too large."""
    _refuse_long(number)
    value = float(number)
    if not math.isfinite(value):
        raise RefusedNumber(number, "A number is too large for a double")
    return value


def exact(number: str) -> Decimal:
    """Read a number with all its digits; a negative zero loses its sign, as in Java's BigDecimal.

    Raises:
        RefusedNumber: It is too long, or its exponent is beyond MAX_EXPONENT.
    """
    _refuse_long(number)
    try:
        value = Decimal(number)
    except InvalidOperation:
        value = None
    if value is None or abs(value.adjusted()) > MAX_EXPONENT:
        raise RefusedNumber(number, f"A number's exponent is not between -{MAX_EXPONENT} and {MAX_EXPONENT}")
    return value or value.copy_abs()


def plain(value: Decimal) -> int | Decimal:
    """A number in the one form that equal numbers have: an integer if it is one, else without zeros at its end."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), "a JSON number is finite"
    if not value:
        return 0
    # Not with `normalize`, which rounds.
    count = len(digits)
    while not digits[count - 1]:
        count -= 1
    exponent += len(digits) - count
    return int(value) if exponent >= 0 else Decimal((sign, digits[:count], exponent))


def to_doubles(value: Any) -> Any:
    """A JSON value with doubles instead of exact numbers, for libraries that calculate with doubles.

    Numbers that are too large for a double become integers.
    """
    if isinstance(value, Decimal):
        return nearest if math.isfinite(nearest := float(value)) else int(value)
    if isinstance(value, list):
        return [to_doubles(element) for element in value]
    if isinstance(value, dict):
        return {key: to_doubles(member) for key, member in value.items()}
    return value


def number_text(value: float | Decimal) -> str:
    """A number as the reference prints it: an exact one as BigDecimal does, a double as Double does."""
    if isinstance(value, float):
        # Jackson quotes doubles that have no JSON number.
        return double_text(value) if math.isfinite(value) else f'"{double_text(value)}"'
    # Python and BigDecimal print decimals alike: both follow the General Decimal Arithmetic Specification.
    return str(value)


def double_text(value: float) -> str:
    """A double as Java's `Double.toString` prints it, such as `1.0`, `1.0E10` or `1.0E-5`."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    magnitude = abs(value)
    if value == 0 or _PLAIN_FROM <= magnitude < _PLAIN_BELOW:
        return repr(value)
    mantissa, _, exponent = repr(magnitude).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The repr is plain from 1e-4 to 1e16 and d.dde±n outside. In both cases this is the power of the first digit.
    power = int(exponent or 0) + len(whole) - 1 - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) == 1:
        # Java prints at least two digits, and the closest two: 4.9E-324, which Python shortens to 5e-324.
        mantissa, _, exponent = f"{magnitude:.1e}".partition("e")
        digits, power = mantissa[0] + mantissa[2:].rstrip("0"), int(exponent)
    return f"{'-' if value < 0 else ''}{digits[0]}.{digits[1:] or '0'}E{power}"


def _refuse_long(number: str) -> None:
    if len(number) > MAX_NUMBER_LENGTH:
        raise RefusedNumber(number, f"A number is longer than {MAX_NUMBER_LENGTH} characters")
