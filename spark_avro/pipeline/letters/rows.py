"""Failed rows as dead letters: their positions lead back to the records' original bytes."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.ports import FAILED, POSITION, REASON

#: The fields that identify a record.
PLACE = ["topic", "partition", "offset"]
#: `error_column` of a record that makes a step fail.
STEPS = "steps"
#: Columns of the source that a letter keeps.
_ORIGINAL = ["key", "value", "headers", "timestamp"]


def rejected(rows: DataFrame, stage: str, reason: Column | None = None) -> DataFrame:
    """The positions of rows that failed after decoding, with stage and reason; see `letters`.

    Args:
        rows: Rows with POSITION.
        stage: The stage that failed.
        reason: The reason; by default the column REASON.
    """
    position = [F.col(f"{POSITION}.{name}").alias(name) for name in PLACE]
    # Sinks identify rejected rows only by their places.
    has_id = "schema_id" in rows.schema[POSITION].dataType.names
    schema_id = F.col(f"{POSITION}.schema_id") if has_id else F.lit(None)
    said = {
        "schema_id": schema_id.cast("bigint"),
        "stage": F.lit(stage),
        "reason": F.col(REASON) if reason is None else reason,
    }
    failed = [F.col(FAILED)] if FAILED in rows.columns else []
    return rows.select(*position, *(column.alias(name) for name, column in said.items()), *failed)


def undecoded(rows: DataFrame) -> DataFrame:
    """The positions of records that could not be decoded, with stage and reason; see `letters`."""
    stage = F.when(F.col("error_column") == "key", F.lit("KEY_CONVERTER"))
    stage = stage.when(F.col("error_column") == STEPS, F.lit("TRANSFORMATION")).otherwise(F.lit("VALUE_CONVERTER"))
    place = [F.col(f"{POSITION}.{name}") for name in PLACE]
    failed = rows.where(F.col("error").isNotNull())
    return failed.select(
        *place, F.col("error.id").alias("schema_id"), stage.alias("stage"), F.col("error.reason").alias("reason")
    )


def failed_checks(rows: DataFrame) -> DataFrame:
    """The positions of rows that failed checks, with the checks' names as the reason; see `letters`."""
    reason = F.concat(F.lit("failed the checks: "), F.array_join(FAILED, "; "))
    return rejected(rows, "TRANSFORMATION", reason)


def letters(failures: DataFrame, records: DataFrame) -> DataFrame:
    """Dead letters with the original bytes of their records, one for each record.

    A step may have made several rows of a record, and more than one of them may have failed: the first is reported.

    Args:
        failures: Rows of PLACE, stage, reason and schema_id, perhaps with FAILED.
        records: The records of the batch as the source gave them: key, value, headers, timestamp, and PLACE.
    """
    names = [name for name in failures.columns if name not in PLACE]
    first = failures.groupBy(*PLACE).agg(F.min_by(F.struct(*names), F.coalesce("reason", F.lit(""))).alias("first_"))
    originals = records.select(*PLACE, *(name for name in _ORIGINAL if name in records.columns))
    # A group has a place of ours, with no partition of Kafka: its letter has none, so that nobody replays it.
    shown = [
        F.when(F.col("partition") >= 0, F.col(name)).alias(name) if name in PLACE else name
        for name in originals.columns
    ]
    # Failures are few, so the join broadcasts them to the records.
    return originals.join(F.broadcast(first), PLACE).select(*shown, "first_.*")
