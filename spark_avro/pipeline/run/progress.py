"""The progress of a pipeline: the offsets of its checkpoint beside the broker's end offsets."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.source import KafkaSource
from spark_avro.pipeline.run.changes import Change, read_changes
from spark_avro.pipeline.run.lease import FILE
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.sources.kafka import KafkaRecords
from spark_avro.pipeline.state.progress import StateProgress


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """A partition: the next offset to read, the log's end, and the records between them."""

    topic: str
    partition: int
    offset: int
    end: int

    @property
    def lag(self) -> int:
        """The records that are not read."""
        return max(0, self.end - self.offset)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pipeline is.

    Attributes:
        query_id: The query's id; None before its first start.
        batch: The number of the last finished batch.
        owner: The process that runs it.
        partitions: The partitions of Kafka.
        changes: The changes of schemas and columns, oldest first.
        state: The state of the steps that remember rows; None without any.
        holders: The inputs of these steps with their newest times, the one that holds the watermark first.
    """

    query_id: str | None
    batch: int | None
    owner: str | None
    partitions: tuple[PartitionProgress, ...]
    changes: tuple[Change, ...] = ()
    state: StateProgress | None = None
    holders: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The progress for scripts."""
        parts = [{**asdict(part), "lag": part.lag} for part in self.partitions]
        return {
            "query_id": self.query_id,
            "batch": self.batch,
            "owner": self.owner,
            "partitions": parts,
            "changes": [asdict(change) for change in self.changes],
            "state": None if self.state is None else {**asdict(self.state), "holders": dict(self.holders)},
        }


def progress_of(spark: SparkSession, pipeline: Pipeline) -> Progress:
    """How far a pipeline is.

    Raises:
        KafkaException: the broker does not answer.
    """
    checkpoint = Checkpoint(spark, pipeline.checkpoint)
    batch = checkpoint.last_committed()
    text = checkpoint.folder.read(FILE)
    owner = json.loads(text) if text else None
    partitions: list[PartitionProgress] = []
    if batch is not None and isinstance(pipeline.source, KafkaSource):
        source = KafkaRecords(spark, pipeline, pipeline.source)
        try:
            ends = source.offsets_for(None, end=True)
        finally:
            source.close()
        for topic, offsets in sorted(checkpoint.ends(batch).items()):
            partitions += [
                PartitionProgress(topic, number, offset, ends.get((topic, number), offset))
                for number, offset in sorted(offsets.items())
            ]
    shown = f"process {owner['pid']} on {owner['host']}" if owner else None
    changes = tuple(read_changes(pipeline.kafka, pipeline.name)) if pipeline.uses_kafka else ()
    state = StateProgress.read(checkpoint.folder)
    holders = tuple(state.holders(pipeline)) if state is not None else ()
    return Progress(checkpoint.query_id(), batch, shown, tuple(partitions), changes, state, holders)
