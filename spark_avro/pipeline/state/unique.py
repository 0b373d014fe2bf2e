"""The check `unique` with `within`: which keys of a batch no earlier batch had.

A check must not drop rows, and Spark's operator for repeats drops them. So the plan has a second branch with the keys
alone: what the operator lets through are the keys that are new, as rows of a column of their own.
"""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.policies import Check
from spark_avro.pipeline.ports import EVENT_TIME, POSITION
from spark_avro.pipeline.state.fixed_columns import KeptColumns
from spark_avro.pipeline.steps.fields_at import column_at, type_at


def column_of(number: int) -> str:
    """The column of the new keys of a check."""
    return f"_new_key_{number}_"


def new_keys(rows: DataFrame, check: Check, number: int, kept: KeptColumns, delay: timedelta) -> DataFrame:
    """The keys of rows that are not remembered: one row for each, whose only column is that of the check.

    Args:
        rows: The rows of a stream after all steps.
        check: A check with `unique.within`.
        number: Its number.
        kept: The types of the state's columns.
        delay: How late a row may come.
    """
    unique = check.unique
    assert unique is not None
    assert unique.within is not None
    keys = [
        kept.key(check.origin.setting, f"key{at}", column_at(path, rows.schema), type_at(path, rows.schema)).alias(
            f"key{at}"
        )
        for at, path in enumerate(unique.key)
    ]
    if EVENT_TIME in rows.columns:
        timed = rows.select(*keys, EVENT_TIME)
    else:
        time = F.col(f"{POSITION}.timestamp").alias(EVENT_TIME)
        timed = rows.select(*keys, time).withWatermark(
            EVENT_TIME, f"{round(delay.total_seconds() * 1000)} milliseconds"
        )
    names = [f"key{at}" for at in range(len(keys))]
    return timed.dropDuplicatesWithinWatermark(names).select(F.struct(*names).alias(column_of(number)))
