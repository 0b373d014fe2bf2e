"""Values on their way into the engine and out of it.

The engine cuts text and bytes at the first NUL character, quotes an int beyond 64 bits in its error, and knows
no datetimes, dates, decimals, UUIDs, tuples and sets. So each value is converted on its way in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.wrappers_pb2 import StringValue

from compat.contracts.cel.data.decimals import decimal_message, decimal_of, is_decimal
from compat.contracts.cel.data.references import count_nulls
from compat.contracts.cel.errors import EvaluationFailed

_MIN, _MAX = -(2**63), 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = _EPOCH.date().toordinal()
_MICROSECOND = timedelta(microseconds=1)
_MILLION = 1_000_000


def to_cel(value: Any) -> Any:
    """A value in the form in which the engine takes it.

    Dates are days since 1970, times of day are microseconds, and datetimes without a time zone are in UTC.

    Raises:
        EvaluationFailed: A value in it has no form in CEL.
    """
    convert = _BY_TYPE.get(type(value))
    if convert is None:
        return _other(value)
    return convert(value)


def from_cel(value: Any) -> Any:
    """A result of the engine as plain data: bytes for bytes, a Decimal for a decimal.

    Raises:
        EvaluationFailed: The result is a type, or has one in it.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if value is None:
        count_nulls(value)
        return None
    if kind is bytearray:
        return bytes(value)
    if kind is list:
        return [from_cel(item) for item in value]
    if kind is dict:
        return {key: from_cel(item) for key, item in value.items()}
    if isinstance(value, Message):
        return decimal_of(value) if is_decimal(value) else value
    raise EvaluationFailed("the result is a type, which is no data")


def time_of_day(value: time, units_per_second: int) -> int:
    """A time of day as an int.

    Args:
        value: The time.
        units_per_second: 1,000 for `time-millis`, 1,000,000 for `time-micros`.
    """
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return seconds * units_per_second + value.microsecond * units_per_second // _MILLION


def _same(value: Any) -> Any:
    return value


def _integer(value: int) -> int:
    if _MIN <= value <= _MAX:
        return value
    raise EvaluationFailed("an integer beyond 64 bits has no form in CEL")


def _text(value: str) -> Any:
    return StringValue(value=value) if "\0" in value else value


def _bytes(value: bytes) -> Any:
    return bytearray(value) if 0 in value else value


def _list(value: Any) -> list[Any]:
    return [to_cel(item) for item in value]


def _map(value: Mapping[Any, Any]) -> dict[Any, Any]:
    for key in value:
        if type(key) is not str:
            return {_key(key): to_cel(item) for key, item in value.items()}
        if "\0" in key:
            raise EvaluationFailed("a map key with a NUL character has no form in CEL")
    return {key: to_cel(item) for key, item in value.items()}


def _key(key: Any) -> Any:
    if isinstance(key, str):
        return _map({str(key): None}).popitem()[0]
    if isinstance(key, int):
        return _integer(key)
    raise EvaluationFailed(f"a map key of type {type(key).__name__} has no form in CEL")


def _datetime(value: datetime) -> Timestamp:
    aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    seconds, microseconds = divmod((aware - _EPOCH) // _MICROSECOND, _MILLION)
    return Timestamp(seconds=seconds, nanos=microseconds * 1000)


def _duration(value: timedelta) -> Duration:
    made = Duration()
    made.FromTimedelta(value)
    return made


def _date(value: date) -> int:
    return value.toordinal() - _EPOCH_DAY


def _time(value: time) -> int:
    return time_of_day(value, _MILLION)


_BY_TYPE: dict[type, Callable[[Any], Any]] = {
    bool: _same,
    float: _same,
    type(None): _same,
    timedelta: _duration,
    int: _integer,
    str: _text,
    bytes: _bytes,
    bytearray: lambda value: _bytes(bytes(value)),
    memoryview: lambda value: _bytes(value.tobytes()),
    list: _list,
    tuple: _list,
    dict: _map,
    datetime: _datetime,
    date: _date,
    time: _time,
    Decimal: decimal_message,
    UUID: str,
}


def _other(value: Any) -> Any:
    if isinstance(value, Message):
        return value
    if isinstance(value, Enum):
        return to_cel(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_cel(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return _map(value)
    if isinstance(value, AbstractSet) or (isinstance(value, Sequence) and not isinstance(value, str | bytes)):
        return _list(value)
    for kind in _BY_TYPE:
        if isinstance(value, kind):
            return _subclass(value, kind)
    raise EvaluationFailed(f"a value of type {type(value).__name__} has no form in CEL")


def _subclass(value: Any, kind: type) -> Any:
    plain = kind(value) if kind in _SCALARS else value
    return _BY_TYPE[kind](plain)


_SCALARS = frozenset({int, str, bytes, float})
_PLAIN = frozenset({bool, int, float, str, datetime, timedelta})
