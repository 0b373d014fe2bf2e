"""`unique` with `within`: a key that an earlier batch had is a repeat. The keys are kept in the checkpoint."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.policies import Check, Unique
from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.quality.conditions import columns
from spark_avro.pipeline.steps.remembered import State

_KEY, _TIME, _SEEN, _SEEN_AT = "key_", "time_", "seen_", "seen_at_"


def mark_repeats(rows: DataFrame, check: Check, state: State, mark: str) -> DataFrame:
    """The rows with a column that is true if an earlier batch had the key within the time.

    Args:
        rows: The rows.
        check: A check with `unique.within`.
        state: Keeps the keys of earlier batches; those of this one are added.
        mark: The column's name.
    """
    unique = check.unique
    assert unique is not None
    assert unique.within is not None
    name = check.origin.setting or check.name
    key = F.struct(*(F.col(str(path)).alias(path.parts[-1]) for path in unique.key))
    columns(unique.key, rows)  # an unknown path is reported with its place
    time = F.col(f"{POSITION}.timestamp")
    before = state.before(name)
    met = rows.select(key.alias(_KEY), time.alias(_TIME))
    state.leave(name, _recent(met if before is None else before.unionByName(met), unique))
    if before is None:
        return rows.withColumn(mark, F.lit(False))
    seen = before.select(F.col(_KEY).alias(_SEEN), F.col(_TIME).alias(_SEEN_AT))
    is_repeat = key.eqNullSafe(F.col(_SEEN)) & (time <= F.col(_SEEN_AT) + _interval(unique))
    return rows.join(seen, is_repeat, "left").withColumn(mark, F.col(_SEEN).isNotNull()).drop(_SEEN, _SEEN_AT)


def _recent(keys: DataFrame, unique: Unique) -> DataFrame:
    """The last time of each key, without keys that are too old to matter for a later row."""
    last = keys.groupBy(_KEY).agg(F.max(_TIME).alias(_TIME))
    newest = last.agg(F.max(_TIME).alias("newest_"))
    recent = F.col(_TIME) >= F.col("newest_") - _interval(unique)
    return last.crossJoin(F.broadcast(newest)).where(recent).drop("newest_")


def _interval(unique: Unique) -> Column:
    assert unique.within is not None
    return F.make_dt_interval(secs=F.lit(unique.within.total_seconds()))
