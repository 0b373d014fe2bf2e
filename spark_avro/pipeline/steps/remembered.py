"""The steps deduplicate and window: the rows that they remember between batches are in the checkpoint.

Each batch writes its state under its number and reads that of the batch before. So a batch that is repeated after a
crash finds the same state, and has the same result.
"""

from __future__ import annotations

from typing import Protocol

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as SqlWindow
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.steps import Deduplicate, Window
from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.sources.position import position
from spark_avro.pipeline.steps.fields_at import column_at
from spark_avro.pipeline.steps.sql import expression
from spark_avro.pipeline.steps.step import StepContext

_TIME, _KEY, _WINDOW, _RANK = "time_", "key_", "window_", "rank_"


class State(Protocol):
    """The rows that a step remembers."""

    def before(self, step: str) -> DataFrame | None:
        """The rows that the batch before left; None if there are none."""

    def leave(self, step: str, rows: DataFrame) -> None:
        """Keep rows for the next batch; called when the batch's results are written."""


def deduplicate(rows: DataFrame, step: Deduplicate, context: StepContext) -> DataFrame:
    """The first row of each key, by position, unless the key came before within the time."""
    columns = [column_at(path, rows.schema).alias(path.parts[-1]) for path in step.by]
    keyed = rows.select("*", F.struct(*columns).alias(_KEY), column_at(step.time, rows.schema).alias(_TIME))
    order = [F.col(f"{POSITION}.{name}") for name in ("topic", "partition", "offset")]
    ranked = keyed.select("*", F.row_number().over(SqlWindow.partitionBy(_KEY).orderBy(_TIME, *order)).alias(_RANK))
    first = ranked.where(F.col(_RANK) == 1).drop(_RANK)
    if context.state is None:
        return first.drop(_KEY, _TIME)
    name = step.origin.setting
    before = context.state.before(name)
    new = first
    if before is not None:
        seen = before.select(F.col(_KEY).alias("seen_"), F.col(_TIME).alias("seen_at_"))
        within = F.expr(f"INTERVAL {int(step.within.total_seconds())} SECONDS")
        repeated = F.col(_KEY).eqNullSafe(F.col("seen_")) & (F.col(_TIME) <= F.col("seen_at_") + within)
        new = first.join(seen, on=repeated, how="left_anti")
    left = first.select(_KEY, _TIME) if before is None else before.unionByName(first.select(_KEY, _TIME))
    context.state.leave(name, _recent(left.groupBy(_KEY).agg(F.max(_TIME).alias(_TIME)), step))
    return new.drop(_KEY, _TIME)


def _recent(keys: DataFrame, step: Deduplicate) -> DataFrame:
    newest = keys.agg(F.max(_TIME).alias("newest_"))
    within = F.expr(f"INTERVAL {int(step.within.total_seconds())} SECONDS")
    return keys.crossJoin(F.broadcast(newest)).where(F.col(_TIME) >= F.col("newest_") - within).drop("newest_")


def window(rows: DataFrame, step: Window, context: StepContext) -> DataFrame:
    """The aggregates of the windows that are over: the newest time minus `late` is at or after their end.

    Rows of open windows are kept until then. A row of a window that is over is dropped.
    """
    size, slide = (f"{int(span.total_seconds())} seconds" for span in (step.size, step.slide or step.size))
    time = column_at(step.time, rows.schema)
    placed = rows.select("*", time.alias(_TIME), F.window(time, size, slide).alias(_WINDOW))
    if context.state is None:
        return _aggregated(placed, step)
    name = step.origin.setting
    before = context.state.before(name)
    over = F.lit(None).cast("timestamp")
    if before is not None:
        over = F.lit(before.agg(F.max("over_")).collect()[0][0]).cast("timestamp")
        placed = placed.where(F.coalesce(F.col(f"{_WINDOW}.end") > over, F.lit(True)))
        remembered = before.where(F.col(_WINDOW).isNotNull()).drop("over_")
        placed = placed.unionByName(remembered, allowMissingColumns=True)
    newest = placed.agg(F.max(_TIME)).collect()[0][0]
    late = F.expr(f"INTERVAL {int(step.late.total_seconds())} SECONDS")
    now_over = F.greatest(over, F.lit(newest).cast("timestamp") - late)
    is_over = F.coalesce(F.col(f"{_WINDOW}.end") <= now_over, F.lit(False))
    still_open = placed.where(~is_over)
    mark = rows.sparkSession.range(1).select(now_over.alias("over_"))
    context.state.leave(name, still_open.unionByName(mark, allowMissingColumns=True))
    return _aggregated(placed.where(is_over), step)


def _aggregated(placed: DataFrame, step: Window) -> DataFrame:
    groups: list[Column] = [expression(item, placed) for item in step.group]
    aggregates = [F.expr(item.text) for item in step.aggregate]
    result = placed.groupBy(F.col(_WINDOW), *groups).agg(*aggregates)
    others = [F.col(f"`{name}`") for name in result.columns if name != _WINDOW]
    start, end = (F.col(f"{_WINDOW}.{side}").alias(f"window_{side}") for side in ("start", "end"))
    return result.select(start, end, *others, position({}))
