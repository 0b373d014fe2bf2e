"""The marker of the last batch in a target, and what it says about the next one: write it, skip it, or refuse it.

All sinks share the type and the decision. Each kind only reads and writes its marker, in the same commit as the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import orjson

from spark_avro.pipeline.ports import BatchIdentity, ForeignCheckpoint, SinkRefused, SinkResult, SourceRange

#: The prefix of a backfill's query id: a job beside the stream, which has markers of its own and owns no target.
BACKFILL = "bf-"

#: Next offset by topic and partition.
_Ends = Mapping[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class MarkerKey:
    """The key of a marker; the pipeline's name is no part of it, because a pipeline may be renamed after a crash.

    Attributes:
        query_id: Spark's id of the query.
        sink: The sink's name in its store of markers, made of its target, so that sinks can change places in the file.
            Empty if the target itself has the marker.
        writer: The number of the writer within the sink.
    """

    query_id: str
    sink: str = ""
    writer: int = 0

    def __str__(self) -> str:
        return "/".join(part for part in (self.query_id, str(self.writer), self.sink) if part)


@dataclass(frozen=True, slots=True)
class Marker:
    """The last batch of a query in a target.

    Attributes:
        batch: Its number.
        written: How many of its rows are in the target.
        refused: How many of its rows the target refused; they are dead letters.
        late: How many of the written rows are in the folder of late rows.
        ranges: Its source offsets; None if the target no longer has them.
        ends: The next offset of each partition of which some batch had records.
        topic_ids: The broker's ids of the source's topics.
        input_id: The identity of its input, if the source has no offsets; see `BatchIdentity`.
    """

    batch: int
    written: int
    refused: int = 0
    late: int = 0
    ranges: tuple[SourceRange, ...] | None = None
    ends: _Ends = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    input_id: str = ""

    def text(self) -> str:
        """The marker as JSON; `ends` has only the partitions that are not in `ranges`."""
        ranges = self.ranges or ()
        others = self.ends.keys() - _ends(ranges).keys()
        return orjson.dumps(
            {
                "batch": self.batch,
                "written": self.written,
                "refused": self.refused,
                "late": self.late,
                "ranges": [[part.topic, part.partition, part.start, part.end] for part in ranges],
                "ends": sorted([topic, partition, self.ends[topic, partition]] for topic, partition in others),
                "topic_ids": dict(self.topic_ids),
                "input_id": self.input_id,
            }
        ).decode()

    def result(self) -> SinkResult:
        """The result of the batch for an attempt that finds it written."""
        return SinkResult(self.written, repeated=True, late=self.late, refused=self.refused)


def marker_of(batch: BatchIdentity, before: Marker | None, *, written: int, refused: int = 0, late: int = 0) -> Marker:
    """The marker of a batch, which also has the offsets and topic ids of the marker before it."""
    ends = {**(_valid_ends(before, batch) if before else {}), **_ends(batch.ranges)}
    topic_ids = {**(before.topic_ids if before else {}), **batch.topic_ids}
    return Marker(batch.number, written, refused, late, batch.ranges, ends, topic_ids, batch.input_id)


def read_marker(text: str | bytes, place: str) -> Marker:
    """The marker of a JSON text.

    Args:
        text: The text.
        place: Where it is, for the error.

    Raises:
        SinkRefused: The text is not a marker.
    """
    try:
        record = orjson.loads(text)
        ranges = tuple(SourceRange(*part) for part in record["ranges"])
        ends = {(topic, partition): end for topic, partition, end in record["ends"]}
        number, written, refused, late = (int(record[name]) for name in ("batch", "written", "refused", "late"))
        ends |= _ends(ranges)
        topic_ids, input_id = dict(record["topic_ids"]), str(record["input_id"])
        return Marker(number, written, refused, late, ranges, ends, topic_ids, input_id)
    except (orjson.JSONDecodeError, LookupError, TypeError, ValueError) as error:
        raise SinkRefused(f"{place}: the marker cannot be read: {text[:200]!r}") from error


def is_backfill(batch: BatchIdentity) -> bool:
    """Whether a batch belongs to a backfill, not to the stream."""
    return batch.query_id.startswith(BACKFILL)


def is_written(marker: Marker | None, batch: BatchIdentity, target: str, *, adopt: bool = False) -> bool:
    """Whether a batch is in the target; if not, it is to be written.

    Only the last batch may come again, with its own offsets or input. A later batch begins where the marker ends. A
    partition that the marker does not have may begin anywhere.

    Args:
        marker: The last batch of the query in the target; None if there is none.
        batch: The batch.
        target: The target's name in errors.
        adopt: Whether a batch may begin behind the end of the marker.

    Raises:
        SinkRefused: Marker and batch contradict each other: the checkpoint, the target or the topic was changed.
    """
    if marker is None:
        return False
    if batch.number < marker.batch:
        raise _older(target, marker, f"the checkpoint runs batch {batch}, and the target has batch {marker.batch}")
    _check_topics(marker, batch, target)
    if batch.number == marker.batch:
        if marker.ranges is not None and marker.ranges != batch.ranges:
            raise _older(target, marker, f"batch {batch} was written from other offsets")
        if marker.input_id and marker.input_id != batch.input_id:
            raise _older(target, marker, f"batch {batch} was written from other input")
        return True
    ends = _valid_ends(marker, batch)
    for part in batch.ranges:
        end = ends.get((part.topic, part.partition), part.start)
        place = f"{part.topic} partition {part.partition}"
        if part.start < end:
            raise _older(target, marker, f"batch {batch} begins at offset {part.start} of {place}")
        if part.start > end and not adopt:
            raise SinkRefused(
                f"{target}: batch {batch} begins at offset {part.start} of {place}, and the target ends at {end}:"
                f" offsets {end} to {part.start - 1} are in no batch. Restore target and checkpoint of the same time,"
                " or run once with --adopt to leave these offsets out"
            )
    return False


def foreign_checkpoint(target: str, query: str, batch: BatchIdentity) -> ForeignCheckpoint:
    """The error for a target that another query of the pipeline has written to."""
    return ForeignCheckpoint(
        f"{target} was written by query {query} of pipeline {batch.pipeline}, and this checkpoint is that of query"
        f" {batch.query_id}: rows that both read would be there twice. Restore the checkpoint, or run once with --adopt"
    )


def _check_topics(marker: Marker, batch: BatchIdentity, target: str) -> None:
    for topic, topic_id in batch.topic_ids.items():
        before = marker.topic_ids.get(topic, topic_id)
        if before != topic_id and before not in batch.former_topic_ids.get(topic, ()):
            raise SinkRefused(
                f"{target}: topic {topic} was deleted and made again (its id was {before}, and is {topic_id}), so"
                " that offsets of the checkpoint mean other records. Start with a new checkpoint"
            )


def _valid_ends(marker: Marker, batch: BatchIdentity) -> _Ends:
    """The ends of a marker, without those of topics that were made again and are read from their beginning."""

    def is_former(topic: str) -> bool:
        former = batch.former_topic_ids.get(topic, ())
        # A marker that was written with a broker before 2.8 has no ids.
        return bool(former) and marker.topic_ids.get(topic, former[0]) in former

    return {place: end for place, end in marker.ends.items() if not is_former(place[0])}


def _older(target: str, marker: Marker, why: str) -> SinkRefused:
    """The error for a checkpoint that was restored from an older copy."""
    starts: dict[str, dict[int, int]] = {}
    for (topic, partition), end in sorted(marker.ends.items()):
        starts.setdefault(topic, {})[partition] = end
    behind = ", ".join(
        f"{topic}: {{{', '.join(f'{partition}: {end}' for partition, end in ends.items())}}}"
        for topic, ends in starts.items()
    )
    where = " behind the target's last row"
    if starts:
        where = f" with source.start: {{{behind}}}, where the target ends"
    elif marker.input_id:
        where = ", and a source of only the rows that the target does not have"
    return SinkRefused(
        f"{target}: {why}: the checkpoint was changed, or is an older copy. Restore its newest copy; or start with a"
        f" new checkpoint{where}, and run once with --adopt"
    )


def _ends(ranges: Iterable[SourceRange]) -> dict[tuple[str, int], int]:
    return {(part.topic, part.partition): part.end for part in ranges}
