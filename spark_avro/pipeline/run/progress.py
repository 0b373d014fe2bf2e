"""The progress of a pipeline: the offsets of its checkpoint beside the broker's end offsets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from spark_avro.pipeline.batch.changes import Change, read_changes
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.source import KafkaSource
from spark_avro.pipeline.folder import ReadableFolder
from spark_avro.pipeline.run.lease import FILE
from spark_avro.pipeline.sources.checkpoint_reader import CheckpointReader, Offsets
from spark_avro.pipeline.sources.log_ends import log_ends
from spark_avro.pipeline.state.progress import StateProgress

#: Seconds for the request to the broker.
_PATIENCE = 30.0


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
    """The progress of a pipeline.

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


def progress_of(folder: ReadableFolder, pipeline: Pipeline) -> Progress:
    """Read the progress of a pipeline without Spark.

    Args:
        folder: The checkpoint.
        pipeline: The file.

    Raises:
        KafkaException: the broker does not answer.
    """
    checkpoint = CheckpointReader(folder)
    batch = checkpoint.last_committed()
    text = folder.read(FILE)
    owner = json.loads(text) if text else None
    partitions: tuple[PartitionProgress, ...] = ()
    if batch is not None and isinstance(pipeline.source, KafkaSource):
        partitions = tuple(_partitions(pipeline, checkpoint.ends(batch)))
    shown = f"process {owner['pid']} on {owner['host']}" if owner else None
    changes = tuple(read_changes(pipeline.kafka, pipeline.name)) if pipeline.uses_kafka else ()
    state = StateProgress.read(folder)
    holders = tuple(state.holders(pipeline)) if state is not None else ()
    return Progress(checkpoint.query_id(), batch, shown, partitions, changes, state, holders)


def _partitions(pipeline: Pipeline, offsets: Offsets) -> Iterator[PartitionProgress]:
    places = [(topic, number) for topic, parts in sorted(offsets.items()) for number in sorted(parts)]
    ends = log_ends(pipeline, places, _PATIENCE) if places else {}
    for topic, number in places:
        offset, end = offsets[topic][number], ends[topic, number]
        if isinstance(end, KafkaError):
            if end.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise KafkaException(end)
            # The topic was deleted, and nothing is left to read.
            end = offset
        yield PartitionProgress(topic, number, offset, end)
