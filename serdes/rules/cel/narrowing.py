"""Results of expressions in the type of the field that they are for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from serdes.rules.error import ValueRejected

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_INT = 2**31
_LONG = 2**63
_LARGEST_FLOAT = 3.4028235677973366e38
#: Times of day are ints of milliseconds, and longs of microseconds.
_UNITS = {"INT": 1_000, "LONG": 1_000_000}


def narrowed(type_name: str, old: Any, result: Any) -> Any:
    """The result of an expression in the type of its field.

    Args:
        type_name: The type in upper case; NULL and types that are not primitive take any result.
        old: The field's value before, whose Python type the result gets if it is a date, a time or a UUID.
        result: The result.

    Raises:
        ValueRejected: The result is of another type, or too large.
    """
    narrow = _BY_TYPE.get(type_name)
    if narrow is None or result is None:
        return result
    fit = narrow(old, result)
    if fit is None:
        raise ValueRejected(f"the result is {_described(result)}, and the field is of type {type_name}", value=old)
    return fit


def _described(result: Any) -> str:
    return (
        f"{type(result).__name__}" if not isinstance(result, int | float) else f"{type(result).__name__} or too large"
    )


def _integer(limit: int, type_name: str) -> Callable[[Any, Any], Any]:
    def narrow(old: Any, result: Any) -> Any:
        if isinstance(result, datetime):
            return _as_aware_as(old, result)
        if type(result) is not int or not -limit <= result < limit:
            return None
        if type(old) is date:
            return _date(result)
        return _time(result, _UNITS[type_name]) if type(old) is time else result

    return narrow


def _date(days: int) -> date | None:
    try:
        return date.fromordinal(days + _EPOCH_DAY)
    except (ValueError, OverflowError):
        return None


def _time(units: int, per_second: int) -> time | None:
    if not 0 <= units < 86_400 * per_second:
        return None
    seconds, rest = divmod(units, per_second)
    return time(seconds // 3600, seconds // 60 % 60, seconds % 60, rest * (1_000_000 // per_second))


def _as_aware_as(old: Any, result: datetime) -> datetime:
    if isinstance(old, datetime) and old.tzinfo is None:
        return result.astimezone(UTC).replace(tzinfo=None) if result.tzinfo else result
    return result if result.tzinfo else result.replace(tzinfo=UTC)


def _float(old: Any, result: Any) -> Any:  # noqa: ARG001  # the signature of all types
    real = _double(None, result)
    return real if real is None or abs(real) <= _LARGEST_FLOAT or real in _INFINITE or real != real else None  # noqa: PLR0124


def _double(old: Any, result: Any) -> Any:  # noqa: ARG001  # the signature of all types
    return float(result) if type(result) in (int, float) else None


def _text(old: Any, result: Any) -> Any:
    if not isinstance(result, str):
        return None
    if not isinstance(old, UUID):
        return result
    try:
        return UUID(result)
    except ValueError:
        return None


def _bytes(old: Any, result: Any) -> Any:
    if isinstance(result, Decimal):
        return result if isinstance(old, Decimal) else None
    return bytes(result) if isinstance(result, bytes | bytearray) and not isinstance(old, Decimal) else None


_INFINITE = (float("inf"), float("-inf"))
_BY_TYPE: Mapping[str, Callable[[Any, Any], Any]] = {
    "INT": _integer(_INT, "INT"),
    "LONG": _integer(_LONG, "LONG"),
    "FLOAT": _float,
    "DOUBLE": _double,
    "STRING": _text,
    "BYTES": _bytes,
    "BOOLEAN": lambda _, result: result if isinstance(result, bool) else None,
}
