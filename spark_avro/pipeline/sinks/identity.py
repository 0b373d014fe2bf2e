"""Comparing a batch with the last one that a target's marker names, and the errors if they contradict each other."""

from __future__ import annotations

from spark_avro.pipeline.ports import BatchIdentity, ForeignCheckpoint, SinkRefused

#: The prefix of a backfill's query id: a job beside the stream, which has markers of its own.
BACKFILL = "bf-"

#: Topic, partition, start and end of a source range, as JSON has them.
Ranges = list[list[str | int]]


def is_backfill(batch: BatchIdentity) -> bool:
    """Whether a batch belongs to a backfill, not to the stream."""
    return batch.query_id.startswith(BACKFILL)


def source_ranges(batch: BatchIdentity) -> Ranges:
    """The source offsets of a batch for a marker."""
    return [[source.topic, source.partition, source.start, source.end] for source in batch.ranges]


def was_written(number: int, ranges: Ranges, batch: BatchIdentity, target: str) -> bool:
    """Whether a batch was written before.

    Args:
        number: The number of the last batch of its query in the target.
        ranges: The source offsets of that batch.
        batch: The batch.
        target: The target's name in errors.

    Raises:
        SinkRefused: The last batch has this number but other offsets.
    """
    if number == batch.number and ranges != source_ranges(batch):
        raise SinkRefused(
            f"{target}: batch {batch} was written from other offsets; the checkpoint was changed: start with a new one"
        )
    return batch.number <= number


def foreign_checkpoint(target: str, query: str, batch: BatchIdentity) -> ForeignCheckpoint:
    """The error for a target that another query of the pipeline has written to."""
    return ForeignCheckpoint(
        f"{target} was written by query {query} of pipeline {batch.pipeline}, and this checkpoint is that of query"
        f" {batch.query_id}: rows that both read would be there twice. Restore the checkpoint, or run once with --adopt"
    )
