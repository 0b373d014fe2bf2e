"""Rows that a database would take and change, or that have no JSON: they are rejected before they are sent.

The checks look at whole columns of a `pyarrow.Table`; each returns the numbers of rows, with reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

#: Returns the number and reason of each row whose value in a column the database would change.
Check = Callable[[pa.ChunkedArray, bool], Iterator[tuple[int, str]]]

_DAY_SECONDS = 86_400
#: Days from 1970-01-01 to 0001-01-01, and to 32768-01-01: `pyarrow.csv` writes later years wrong.
_FIRST_DAY, _END_DAY = -719_162, 11_248_738
_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def unfit_rows(rows: pa.Table, check: Check, nested: Collection[str]) -> dict[int, str]:
    """The numbers of rows that the database would change, with the reasons.

    Args:
        rows: The rows in the form in which they are sent.
        check: The database's check of a column.
        nested: The columns that are sent as JSON.
    """
    unfit: dict[int, str] = {}
    for name in rows.column_names:
        column, is_nested = rows[name], name in nested
        without_json = _without_json(column) if is_nested else ()
        for number, reason in (*without_json, *check(column, is_nested)):
            unfit.setdefault(number, f"column {name}: {reason}")
    return unfit


def _without_json(column: pa.ChunkedArray) -> Iterator[tuple[int, str]]:
    """The values that have no JSON; `Dialect.sent` has put the reason in their place."""
    for number in _numbers(pc.invert(pc.match_substring_regex(column, r"^[\[{]"))):
        yield number, column[number].as_py()


def sqlite_changes(column: pa.ChunkedArray, is_nested: bool) -> Iterator[tuple[int, str]]:  # noqa: FBT001, ARG001
    """SQLite has no NaN and no negative zero."""
    if not pa.types.is_floating(column.type):
        return
    for number in _numbers(pc.is_nan(column)):
        yield number, "SQLite would store NaN as NULL; give it another value in a step"
    sign = pc.divide(pa.scalar(1.0, column.type), column)
    for number in _numbers(pc.and_(pc.equal(column, 0.0), pc.less(sign, 0.0))):
        yield number, "SQLite would store -0.0 as 0.0; add 0.0 in a step if the sign does not matter"


def postgresql_changes(column: pa.ChunkedArray, is_nested: bool) -> Iterator[tuple[int, str]]:  # noqa: FBT001
    """COPY has no years before 1 or after 32767, and jsonb has no negative zero."""
    if pa.types.is_timestamp(column.type):
        yield from _outside(column.cast(pa.int64()), _UNITS[column.type.unit] * _DAY_SECONDS, column.type.unit)
    elif pa.types.is_date32(column.type):
        yield from _outside(column.cast(pa.int32()), 1, "days")
    elif is_nested:
        for number in _numbers(pc.match_substring(column, "-0.0")):
            if _has_negative_zero(orjson.loads(column[number].as_py())):
                yield number, "jsonb would store -0.0 as 0.0; add 0.0 in a step if the sign does not matter"


def _outside(values: pa.ChunkedArray, a_day: int, unit: str) -> Iterator[tuple[int, str]]:
    is_outside = pc.or_(pc.less(values, _FIRST_DAY * a_day), pc.greater_equal(values, _END_DAY * a_day))
    for number in _numbers(is_outside):
        yield number, f"{values[number]} {unit} from 1970-01-01 is outside of the years 1 to 32767"


def _numbers(mask: pa.ChunkedArray) -> list[int]:
    if not pc.any(mask).as_py():
        return []
    numbers: list[int] = pc.indices_nonzero(pc.fill_null(mask, fill_value=False)).to_pylist()
    return numbers


def _has_negative_zero(value: Any) -> bool:
    if isinstance(value, float):
        return value == 0 and str(value) == "-0.0"
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return False
    return any(map(_has_negative_zero, value))
