"""Timestamps and durations of CEL as columns: longs of microseconds, and parts of dates in UTC."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.cel.terms import DAY, Term, scalar
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.shapes import Kind, Scalar

_INSTANT_SHAPE = Scalar(Kind.TIMESTAMP, "TIMESTAMP")
_DURATION_SHAPE = Scalar(Kind.DURATION, "DURATION")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)
#: The instants of the years 1 to 9999, beyond which CEL fails.
_FIRST = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MICRO
_LAST = (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC) - _EPOCH) // _MICRO
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)")
_DURATION = re.compile(r"(-?)((?:\d+(?:\.\d+)?(?:h|ms|us|m|s))+)")
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|us|m|s)")
_UNITS = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1000, "us": 1}
#: The engine's durations are nanoseconds of 64 bits, some 292 years; longer ones are failures.
_LONGEST = (2**63 - 1) // 1000


def now() -> Term:
    """The time at which the query began; the same for all its rows."""
    return scalar(F.unix_micros(F.current_timestamp()), Kind.TIMESTAMP)


def timestamp(one: Term) -> Term:
    """`timestamp('…')` of a literal, or of a timestamp."""
    if one.kind is Kind.TIMESTAMP:
        return scalar(one.column, Kind.TIMESTAMP)
    if not isinstance(one.value, str) or not _INSTANT.fullmatch(one.value):
        raise Untranslatable("timestamp() of this value")
    try:
        instant = datetime.fromisoformat(one.value)
    except ValueError:
        raise Untranslatable("timestamp() of a text that is none") from None
    micros = (instant - _EPOCH) // _MICRO
    if not _FIRST <= micros <= _LAST:
        raise Untranslatable("a timestamp outside of the years 1 to 9999")
    return Term(F.lit(micros).cast("long"), _INSTANT_SHAPE, is_certain=True)


def duration(one: Term) -> Term:
    """`duration('…')` of a literal."""
    found = _DURATION.fullmatch(one.value) if isinstance(one.value, str) else None
    if found is None:
        raise Untranslatable("duration() of this value")
    micros = sum(Fraction(number) * _UNITS[unit] for number, unit in _PART.findall(found[2]))
    if micros.denominator != 1 or micros > _LONGEST:
        raise Untranslatable("a duration that microseconds do not hold")
    signed = -int(micros) if found[1] else int(micros)
    return Term(F.lit(signed).cast("long"), _DURATION_SHAPE, is_certain=True)


def added(one: Term, other: Term) -> Term:
    """`+` with a duration.

    Raises:
        Untranslatable: The values are none that can be added.
    """
    if other.kind is Kind.TIMESTAMP:
        one, other = other, one
    return _moved(one, other, F.try_add)


def taken(one: Term, other: Term) -> Term:
    """`-` of timestamps and durations.

    Raises:
        Untranslatable: The values are none that can be subtracted.
    """
    if one.kind is Kind.TIMESTAMP and other.kind is Kind.TIMESTAMP:
        micros = F.try_subtract(one.column, other.column)
        return scalar(F.when(micros.between(-_LONGEST, _LONGEST), micros), Kind.DURATION)
    return _moved(one, other, F.try_subtract)


def _moved(one: Term, other: Term, operation: Callable[[Column, Column], Column]) -> Term:
    """A timestamp moved by a duration; it fails outside of CEL's years."""
    if one.kind is not Kind.TIMESTAMP or other.kind is not Kind.DURATION:
        raise Untranslatable("a sum or difference of these types")
    micros = operation(one.column, other.column)
    return scalar(F.when(micros.between(_FIRST, _LAST), micros), Kind.TIMESTAMP)


def _date(micros: Column) -> Column:
    """The date in UTC; no function that reads the session's time zone."""
    days = F.call_function("div", micros - F.pmod(micros, F.lit(DAY)), F.lit(DAY))
    return F.date_from_unix_date(days.cast("int"))


def _of_date(part: Callable[[Column], Column], less: int = 0) -> Callable[[Term], Term]:
    def made(one: Term) -> Term:
        return scalar((part(_date(one.expect(Kind.TIMESTAMP))) - less).cast("long"), Kind.INT)

    return made


def _of_day(unit: int, count: int) -> Callable[[Term], Term]:
    """A part of the time of day: whole units, modulo their number in the next greater unit."""

    def made(one: Term) -> Term:
        within = F.pmod(one.expect(Kind.TIMESTAMP), F.lit(unit * count))
        return scalar(F.call_function("div", within, F.lit(unit)), Kind.INT)

    return made


#: The functions of times; those with a time zone as an argument are left to the engine.
TIMES: Mapping[str, Callable[..., Term]] = {
    "timestamp": timestamp,
    "duration": duration,
    "getFullYear": _of_date(F.year),
    "getMonth": _of_date(F.month, 1),
    "getDate": _of_date(F.dayofmonth),
    "getDayOfMonth": _of_date(F.dayofmonth, 1),
    "getDayOfYear": _of_date(F.dayofyear, 1),
    "getDayOfWeek": _of_date(F.dayofweek, 1),
    "getHours": _of_day(3_600_000_000, 24),
    "getMinutes": _of_day(60_000_000, 60),
    "getSeconds": _of_day(1_000_000, 60),
    "getMilliseconds": _of_day(1000, 1000),
}
