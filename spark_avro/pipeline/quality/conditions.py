"""The conditions of checks: each kind of check becomes a column that is true for rows that pass.

NULL counts as failed: a condition that cannot be evaluated does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.policies import Check
from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.steps.fields_at import column_at
from spark_avro.pipeline.steps.sql import expression

#: The order of rows with the same key: the first one passes.
_ORDER = [f"{POSITION}.topic", f"{POSITION}.partition", f"{POSITION}.offset"]


def condition(check: Check, rows: DataFrame) -> Column | None:
    """Whether a row passes a check; None for a check that concerns the batch and no single row.

    Raises:
        PipelineError: the rows have no such field, or Spark refuses the SQL; names the place in the file.
    """
    made = next((made for make in _KINDS.values() if (made := make(check, rows)) is not None), None)
    return None if made is None else F.coalesce(made, F.lit(False))


def columns(paths: Iterable[FieldPath], rows: DataFrame) -> list[Column]:
    """The columns of paths."""
    return [column_at(path, rows.schema) for path in paths]


def _no_nulls(paths: Iterable[FieldPath], rows: DataFrame) -> Column:
    return _all(column.isNotNull() for column in columns(paths, rows))


def _all(conditions: Iterable[Column]) -> Column:
    return reduce(Column.__and__, conditions)


def _expect(check: Check, rows: DataFrame) -> Column | None:
    return None if check.expect is None else expression(check.expect, rows).cast("boolean")


def _not_null(check: Check, rows: DataFrame) -> Column | None:
    return None if check.not_null is None else _no_nulls(check.not_null, rows)


def _unique(check: Check, rows: DataFrame) -> Column | None:
    """The first row of each key passes. Rows with a NULL in the key fail, as for a primary key."""
    if check.unique is None:
        return None
    same = Window.partitionBy(*columns(check.unique.key, rows)).orderBy(*_ORDER)
    return _no_nulls(check.unique.key, rows) & (F.row_number().over(same) == 1)


def _in(check: Check, rows: DataFrame) -> Column | None:
    if check.values is None:
        return None
    return _all(column_at(path, rows.schema).isin(*values) for path, values in check.values.items())


def _range(check: Check, rows: DataFrame) -> Column | None:
    if check.range is None:
        return None
    return _all(column_at(path, rows.schema).between(*bounds) for path, bounds in check.range.items())


def _fresh(check: Check, rows: DataFrame) -> Column | None:
    if check.fresh is None:
        return None
    seconds = check.fresh.within.total_seconds()
    oldest = F.current_timestamp() - F.make_dt_interval(secs=F.lit(seconds))
    return column_at(check.fresh.time, rows.schema) >= oldest


def _schema_only(check: Check, rows: DataFrame) -> Column | None:
    del rows
    return None if check.schema_only is None else F.col(f"{POSITION}.schema_id").isin(*check.schema_only.ids)


#: The conditions by the setting of a check; `volume` does not concern single rows.
_KINDS: Mapping[str, Callable[[Check, DataFrame], Column | None]] = {
    "expect": _expect,
    "not-null": _not_null,
    "unique": _unique,
    "in": _in,
    "range": _range,
    "fresh": _fresh,
    "schema-only": _schema_only,
}
