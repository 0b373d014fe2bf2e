"""The functions that make timestamps."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

_BILLION = 1_000_000_000
#: The units of `timestamp.of`, with their number in a second.
_UNITS = {"seconds": 1, "millis": 1_000, "micros": 1_000_000, "nanos": _BILLION}
#: The units of `timestamp(int, int)`, by the decimal digits of a second.
_PRECISIONS = {0: 1, 3: 1_000, 6: 1_000_000, 9: _BILLION}
_FIRST, _LAST = -62_135_596_800, 253_402_300_799


def timestamp_of(value: Any) -> Any:
    """The timestamp of a timestamp, of a text of RFC 3339, or of seconds since 1970."""
    if isinstance(value, Timestamp):
        return value
    if isinstance(value, datetime):
        made = Timestamp()
        made.FromDatetime(value)
        return made
    if isinstance(value, int) and not isinstance(value, bool):
        return _since_1970(value, 1)
    if not isinstance(value, str):
        raise TypeError(f"timestamp.of: no timestamp can be made from a {type(value).__name__}")
    made = Timestamp()
    try:
        made.FromJsonString(value)
    except ValueError:
        raise ValueError("timestamp.of: the text is no timestamp with a time zone") from None
    return made


def timestamp_in(value: int, unit: str) -> Any:
    """The timestamp of a number of `seconds`, `millis`, `micros` or `nanos` since 1970."""
    if unit not in _UNITS:
        raise ValueError("timestamp.of: the unit is seconds, millis, micros or nanos")
    return _since_1970(value, _UNITS[unit])


def timestamp_at(value: int, precision: int) -> Any:
    """The timestamp of a number since 1970 whose last 0, 3, 6 or 9 digits are the fraction of a second."""
    if precision not in _PRECISIONS:
        raise ValueError("timestamp: the precision is the number of digits of seconds, millis, micros or nanos")
    return _since_1970(value, _PRECISIONS[precision])


def _since_1970(value: int, units: int) -> Any:
    seconds, fraction = divmod(value, units)
    if not _FIRST <= seconds <= _LAST:
        raise ValueError("timestamp: the year is not one of the first to the last with four digits")
    return Timestamp(seconds=seconds, nanos=fraction * (_BILLION // units))
