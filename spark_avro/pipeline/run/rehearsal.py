"""A pipeline over some records without writing anything: for `dry-run`, `explain` and `test`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.batch.prepared import Opened, Prepared, passed, record_columns, tagged
from spark_avro.pipeline.file.steps import Mask
from spark_avro.pipeline.ports import FAILED, POSITION, BatchIdentity, SourceRange
from spark_avro.pipeline.sources.kafka import KafkaRecords
from spark_avro.pipeline.steps.step import StepContext

_PLACE = ("topic", "partition", "offset")


@dataclass(frozen=True, slots=True)
class DeadRow:
    """A record that would become a dead letter; `offset` is None for a group of records."""

    place: str
    stage: str
    reason: str
    offset: int | None


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The result that a pipeline would have for some records.

    Attributes:
        read: The number of records.
        rows: The rows for the sink, without `_kafka`.
        dead: The records that would become dead letters.
        failed: The number of failed rows by check name.
    """

    read: int
    rows: list[dict[str, Any]] = field(default_factory=list)
    dead: list[DeadRow] = field(default_factory=list)
    failed: Mapping[str, int] = field(default_factory=dict)


def rehearse(prepared: Prepared, count: int) -> Rehearsal:
    """The result that the pipeline would have for the newest records of its source.

    Args:
        prepared: The pipeline.
        count: How many records.
    """
    source = prepared.opened.source
    ranges = _newest(source, count) if isinstance(source, KafkaRecords) else ()
    if isinstance(source, KafkaRecords) and not ranges:
        return Rehearsal(0)
    return rehearse_records(prepared.opened, source.batch(ranges).limit(count))


def rehearse_records(opened: Opened, records: DataFrame) -> Rehearsal:
    """The result that the pipeline would have for records; steps remember nothing."""
    return rehearse_decoded(opened, opened.decoded(records), opened.context(records, whole_topics=True))


def rehearse_decoded(opened: Opened, decoded: DataFrame, context: StepContext) -> Rehearsal:
    """The result that the pipeline would have for decoded records.

    Args:
        opened: The pipeline.
        decoded: The records of its rows.
        context: The resources of its steps, such as the records of streams.
    """
    decoded = decoded.persist()
    try:
        read = decoded.count()
        has_errors = "error" in decoded.columns
        good = decoded.where(F.col("error").isNull()) if has_errors else decoded
        rows = tagged(opened, context)(record_columns(good, opened.source)).persist()
        dead = _broken(decoded) if has_errors else []
        failed: Mapping[str, int] = {}
        if opened.gate is not None:
            measured = rows.agg(*(column.alias(name) for name, column in opened.gate.measures().items())).collect()
            failed = opened.gate.judge(measured[0].asDict(), BatchIdentity(opened.pipeline.name, "dry-run", 0)).failed
            dead += _refused(opened.gate.dead(rows))
        kept = passed(opened, rows)
        kept = kept.drop(*(name for name in kept.columns if name == POSITION))
        return Rehearsal(read, [row.asDict(recursive=True) for row in kept.collect()], dead, failed)
    finally:
        decoded.unpersist()


def plan_text(prepared: Prepared) -> str:
    """Spark's plan of the steps, without the keys of masks."""
    opened = prepared.opened
    records = opened.source.empty()
    rows = record_columns(opened.decoded(records), opened.source)
    frame = tagged(opened, opened.context(records))(rows)
    text: str = frame._sc._jvm.PythonSQLUtils.explainString(frame._jdf.queryExecution(), "formatted")  # noqa: SLF001
    if any(isinstance(step, Mask) for step in opened.pipeline.steps):
        # The two keys of an HMAC are literals of 64 bytes.
        text = re.sub(r"\b0x[0-9A-Fa-f]{128}\b|\b[0-9A-F]{128}\b", "[hidden]", text)
    return text


def _newest(source: KafkaRecords, count: int) -> tuple[SourceRange, ...]:
    """The newest records of all partitions, up to a number."""
    starts, ends = source.offsets_for(None, end=False), source.offsets_for(None, end=True)
    ends = {place: end for place, end in ends.items() if place[0] not in source.table_topics}
    share = max(1, count // max(1, len(ends)))
    ranges = (
        SourceRange(topic, partition, max(starts[topic, partition], end - share), end)
        for (topic, partition), end in sorted(ends.items())
    )
    return tuple(part for part in ranges if part.start < part.end)


def _broken(decoded: DataFrame) -> list[DeadRow]:
    stage = F.when(F.col("error_column") == "key", "KEY_CONVERTER").otherwise("VALUE_CONVERTER")
    failed = decoded.where(F.col("error").isNotNull())
    rows = failed.select(*(f"{POSITION}.{name}" for name in _PLACE), stage.alias("stage"), "error.reason").collect()
    return [DeadRow(_place(row), row["stage"], row["reason"], row["offset"]) for row in rows]


def _refused(rows: DataFrame) -> list[DeadRow]:
    failed = rows.select(*(f"{POSITION}.{name}" for name in _PLACE), FAILED).collect()
    return [
        DeadRow(_place(row), "quality", f"failed the checks: {'; '.join(row[FAILED])}", row["offset"]) for row in failed
    ]


def _place(row: Any) -> str:
    if row["offset"] is None:
        return str(row["topic"])
    return f"topic {row['topic']}, partition {row['partition']}, offset {row['offset']}"
