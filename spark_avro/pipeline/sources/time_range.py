"""Ranges of offsets: between two times, and the identity of a batch that reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.source import KafkaSource
from spark_avro.pipeline.ports import SourceRange
from spark_avro.pipeline.sources.kafka import KafkaRecords


def ranges_between(
    spark: SparkSession, pipeline: Pipeline, since: datetime | None, until: datetime | None
) -> tuple[SourceRange, ...]:
    """The offsets of the source's partitions between two times, by the timestamps of records.

    Args:
        spark: The session.
        pipeline: The file.
        since: The start time, inclusive; None for the beginning of the log.
        until: The end time, exclusive; None for the end of the log.

    Raises:
        PipelineError: the source is not Kafka.
    """
    if not isinstance(pipeline.source, KafkaSource):
        raise pipeline.error("source", "has no offsets; a range of times is for Kafka")
    source = KafkaRecords(spark, pipeline, pipeline.source)
    try:
        starts = source.offsets_for(since, end=False)
        ends = source.offsets_for(until, end=True)
    finally:
        source.close()
    return tuple(
        SourceRange(topic, partition, start, ends[topic, partition])
        for (topic, partition), start in sorted(starts.items())
        if start < ends[topic, partition] and topic not in pipeline.table_topics
    )


def range_id(ranges: Sequence[SourceRange]) -> str:
    """The identity of a batch over some offsets: the same for the same offsets."""
    text = ",".join(f"{part.topic}:{part.partition}:{part.start}-{part.end}" for part in ranges)
    return f"bf-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
