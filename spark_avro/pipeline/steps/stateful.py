"""The steps that remember rows between batches: deduplicate, window, aggregate, and join with a stream.

Spark keeps what they remember. Each step is a plan of Spark's operators, with a watermark on the step's time. In a
batch Spark ignores watermarks, so the same plan serves streams and batches. `deduplicate` alone needs a second one.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import TimestampType

from spark_avro.pipeline.file.field_path import FieldPath, quoted
from spark_avro.pipeline.file.place import error_at
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.file.steps import Aggregate, Deduplicate, Join, Window
from spark_avro.pipeline.ports import EVENT_TIME, POSITION
from spark_avro.pipeline.sources.position import position
from spark_avro.pipeline.steps.fields_at import column_at, type_at
from spark_avro.pipeline.steps.sql import errors_of_file_at, expression
from spark_avro.pipeline.steps.step import PASSED_ON, Key, StepContext
from spark_avro.pipeline.steps.times import KEEPS_STREAM, KEEPS_THIS, with_time

_OTHER_TIME, _WINDOW = "other_time_", "window_"
_KEY, _LIST, _KEPT = "_key_of_rows_", "rows_", "kept_"

#: `how` in the file -> the join's name in Spark.
_HOW = {"inner": "inner", "left": "left_outer", "right": "right_outer", "full": "full_outer", "semi": "left_semi"}


def deduplicate_stream(rows: DataFrame, step: Deduplicate, context: StepContext) -> DataFrame:
    """The first row of each key; which one of a batch is not specified."""
    keys = dedupe_keys(rows, step, context.key)
    names = [f"{_KEY}{number}" for number in range(len(keys))]
    keyed = _timed(rows.select("*", *keys), step.time, context.delay, step.origin.setting, context.time_needed)
    return keyed.dropDuplicatesWithinWatermark(names).drop(*names)


def dedupe_keys(rows: DataFrame, step: Deduplicate, key: Key) -> list[Column]:
    """The columns that tell rows apart, in the types that the state has."""
    return [
        key(step.origin.setting, f"{_KEY}{number}", column_at(path, rows.schema), type_at(path, rows.schema)).alias(
            f"{_KEY}{number}"
        )
        for number, path in enumerate(step.by)
    ]


def deduplicate_batch(rows: DataFrame, step: Deduplicate, _context: StepContext) -> DataFrame:
    """The rows that a stream of small batches keeps: the first of a key, and then the next one after `within`."""
    _check_time(step.time, rows)
    keys = F.struct(*(column_at(path, rows.schema).alias(f"k{number}") for number, path in enumerate(step.by)))
    place = F.struct(
        column_at(step.time, rows.schema).alias("time"),
        *(F.col(f"{POSITION}.{name}").alias(name) for name in ("topic", "partition", "offset")),
    )
    item = F.struct(place.alias("place"), F.struct("*").alias("row"))
    of_key = rows.groupBy(keys.alias(_KEY)).agg(F.collect_list(item).alias(_LIST))
    # A map in the row has no order, so the rows are compared by their places alone.
    in_order = (
        "array_sort(rows_, (l, r) -> CASE WHEN l.place < r.place THEN -1 WHEN l.place > r.place THEN 1 ELSE 0 END)"
    )
    is_new = f"acc.last IS NULL OR x.place.time IS NULL OR x.place.time > acc.last + {_interval(step.within)}"
    kept = of_key.select(
        F.expr(
            f"aggregate({in_order}, named_struct('last', CAST(NULL AS TIMESTAMP), 'kept', slice(rows_, 1, 0)),"
            f" (acc, x) -> IF({is_new}, named_struct('last', coalesce(x.place.time, acc.last), 'kept',"
            " concat(acc.kept, array(x))), acc), acc -> acc.kept)"
        ).alias(_KEPT)
    )
    return kept.select(F.explode(_KEPT).alias(_KEPT)).select(f"{_KEPT}.row.*")


def window(rows: DataFrame, step: Window, context: StepContext) -> DataFrame:
    """The aggregates of windows of time; a row without a time is in none."""
    timed = _timed(rows, step.time, context.delay, step.origin.setting)
    if step.session is not None:
        place = F.session_window(F.col(EVENT_TIME), _words(step.session))
    else:
        assert step.size is not None
        place = F.window(F.col(EVENT_TIME), _words(step.size), _words(step.slide or step.size))
    groups = [expression(item, timed) for item in step.group]
    result = timed.groupBy(place.alias(_WINDOW), *groups).agg(*_aggregates(step.aggregate, timed))
    others = [F.col(f"`{name}`") for name in result.columns if name != _WINDOW]
    start, end = (F.col(f"{_WINDOW}.{side}").alias(f"window_{side}") for side in ("start", "end"))
    # The time of a group is just before its end, and has the watermark of its rows.
    return result.select(start, end, *others, position({}), F.window_time(_WINDOW).alias(EVENT_TIME))


def aggregate(rows: DataFrame, step: Aggregate, _context: StepContext) -> DataFrame:
    """The aggregates of groups."""
    groups = [expression(item, rows) for item in step.group]
    return rows.groupBy(*groups).agg(*_aggregates(step.aggregate, rows)).select("*", position({}))


def join_stream(rows: DataFrame, step: Join, context: StepContext) -> DataFrame:
    """The rows with those of a stream that match and are not too far away in time."""
    assert step.stream is not None
    assert step.within is not None
    name = step.stream
    stream = context.stream(step)
    this = _timed(rows, step.time, context.delay, step.origin.setting, context.time_needed)
    timed = _timed(stream, step.stream_time, step.late, f"{step.origin.setting} {name}")
    # All columns get new names inside Spark: the two sides may come from the same records.
    names = {column: _OTHER_TIME if column == EVENT_TIME else column for column in timed.columns}
    other = timed.select(*(F.col(quoted((column,))).alias(new) for column, new in names.items())).alias(name)
    # A row without a time has no match. If the join does not write it either, the state need not keep it.
    if step.how not in KEEPS_THIS:
        this = this.where(F.col(EVENT_TIME).isNotNull())
    if step.how not in KEEPS_STREAM:
        other = other.where(F.col(_OTHER_TIME).isNotNull())
    this = this.alias("this")
    near = F.expr(
        f"{_OTHER_TIME} BETWEEN this.{EVENT_TIME} - {_interval(step.within)}"
        f" AND this.{EVENT_TIME} + {_interval(step.within)}"
    )
    if isinstance(step.condition, Sql):
        with errors_of_file_at(step.condition, rows):
            joined = this.join(other, F.expr(step.condition.text) & near, _HOW[step.how])
        same: frozenset[str] = frozenset()
    else:
        for path in step.condition:
            type_at(path, rows.schema)
            type_at(path, stream.schema)
        paths = [quoted(path.parts) for path in step.condition]
        equal = F.expr(" AND ".join(f"this.{path} = {quoted((name,))}.{path}" for path in paths))
        joined = this.join(other, equal & near, _HOW[step.how])
        same = frozenset(path.parts[0] for path in step.condition if len(path.parts) == 1)
    if step.how == "semi":
        return joined
    columns = [column for column in rows.columns if column != EVENT_TIME]
    shared: set[str] = set()
    if step.how in {"right", "full"}:
        types = [{item.name: item.dataType for item in frame.schema.fields} for frame in (rows, stream)]
        shared = {column for column in (*same, *PASSED_ON) if types[0].get(column) == types[1].get(column) is not None}
    return joined.select(*_joined_columns(columns, stream.columns, name, shared), f"this.{EVENT_TIME}")


def _joined_columns(this: list[str], other: list[str], name: str, shared: Collection[str]) -> list[Column]:
    """The columns of this side, then those that only the other has; shared ones come from the side that has a row."""
    of_this = {column: F.col(f"this.{quoted((column,))}") for column in this}
    of_other = {column: F.col(f"{quoted((name,))}.{quoted((column,))}") for column in other}
    first = [
        F.coalesce(of_this[column], of_other[column]).alias(column) if column in shared else of_this[column]
        for column in this
    ]
    return [*first, *(of_other[column] for column in other if column not in of_this)]


def _timed(rows: DataFrame, time: FieldPath, late: timedelta, name: str, needed: str = "") -> DataFrame:
    """The rows with their time in EVENT_TIME, with a watermark, unless a step before has made it.

    Args:
        rows: The rows.
        time: The path of their time.
        late: How late a row may come.
        name: The name of their newest time in Spark's progress.
        needed: Why each row needs a time; empty if none does.
    """
    if EVENT_TIME in rows.columns:
        return rows
    _check_time(time, rows)
    timed = rows.select("*", with_time(column_at(time, rows.schema), needed).alias(EVENT_TIME))
    if rows.isStreaming:
        newest = F.date_format(F.max(EVENT_TIME), "yyyy-MM-dd'T'HH:mm:ss.SSSXXX").alias("newest")
        timed = timed.observe(name, newest)
    return timed.withWatermark(EVENT_TIME, _words(late))


def _check_time(time: FieldPath, rows: DataFrame) -> None:
    kind = type_at(time, rows.schema)
    if not isinstance(kind, TimestampType):
        raise error_at(
            time.place,
            time.setting,
            f"{time} is {kind.simpleString()}; a time is a timestamp, so cast it in a step before",
        )


def _aggregates(items: tuple[Sql, ...], rows: DataFrame) -> list[Column]:
    for item in items:
        with errors_of_file_at(item, rows):
            rows.groupBy().agg(F.expr(item.text))
    return [F.expr(item.text) for item in items]


def _words(span: timedelta) -> str:
    return f"{round(span.total_seconds() * 1000)} milliseconds"


def _interval(span: timedelta) -> str:
    return f"INTERVAL '{span.total_seconds():.3f}' SECOND"
