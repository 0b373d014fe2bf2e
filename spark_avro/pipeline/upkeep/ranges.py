"""The source offsets of a backfill, compared with those that the stream has written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from spark_avro.pipeline.ports import SinkRefused, SourceRange
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.sources.checkpoint_reader import Offsets

_OFFSETS = re.compile(
    r"(?:(?P<topic>[A-Za-z0-9._-]+):)?(?P<partition>\d+):(?P<start>\d+)-(?:(?P<other>\d+):)?(?P<end>\d+)"
)


def parse_range(text: str, topics: Sequence[str]) -> SourceRange:
    """The range of a text such as `0:100-0:999`, `0:100-999` or `flights:0:100-999`; both offsets are inclusive.

    Raises:
        ValueError: the text is not a range, or names no topic although the pipeline has several.
    """
    match = _OFFSETS.fullmatch(text)
    if match is None or match["other"] not in {None, match["partition"]}:
        raise ValueError(f"must be PARTITION:FIRST-LAST or TOPIC:PARTITION:FIRST-LAST, not {text!r}")
    topic = match["topic"] or (topics[0] if len(topics) == 1 else None)
    if topic is None:
        raise ValueError(f"must name its topic, as in {topics[0] if topics else 'TOPIC'}:{text}")
    start, last = int(match["start"]), int(match["end"])
    if start > last:
        raise ValueError(f"begins behind its end: {text!r}")
    return SourceRange(topic, int(match["partition"]), start, last + 1)


def covered(
    checkpoint: Checkpoint, ranges: Iterable[SourceRange], replaced: Collection[str]
) -> tuple[SourceRange, ...]:
    """The parts of ranges that the stream has written.

    Args:
        checkpoint: The stream's checkpoint.
        ranges: The ranges.
        replaced: Topics that were deleted and made again, which the stream reads from their beginning.

    Raises:
        SinkRefused: a batch that has such records is not finished.
    """
    number = checkpoint.last_committed()
    if number is None:
        return ()
    starts = {topic: offsets for topic, offsets in checkpoint.starts().items() if topic not in replaced}
    ends = checkpoint.ends(number)
    written = [within for part in ranges if (within := _within(part, starts, ends)) is not None]
    planned = checkpoint.last_planned()
    if planned is not None and planned > number:
        unfinished = {(part.topic, part.partition): part for part in checkpoint.ranges(planned)}
        for part in ranges:
            open_part = unfinished.get((part.topic, part.partition))
            if open_part is not None and overlap(part, open_part):
                raise SinkRefused(
                    f"batch {planned} of the pipeline is not finished, and has offsets {open_part.start} to"
                    f" {open_part.end - 1} of {part.topic} partition {part.partition}; let the pipeline finish it first"
                )
    return tuple(written)


def _within(part: SourceRange, starts: Offsets, ends: Offsets) -> SourceRange | None:
    start = max(part.start, starts.get(part.topic, {}).get(part.partition, 0))
    end = min(part.end, ends.get(part.topic, {}).get(part.partition, 0))
    return replace(part, start=start, end=end) if start < end else None


def overlap(one: SourceRange, other: SourceRange) -> bool:
    """Whether two ranges have an offset in common."""
    same = (one.topic, one.partition) == (other.topic, other.partition)
    return same and one.start < other.end and other.start < one.end


def union(ranges: Iterable[SourceRange]) -> tuple[SourceRange, ...]:
    """The ranges without overlaps, in the order of topics, partitions and offsets."""
    joined: list[SourceRange] = []
    for part in sorted(ranges, key=lambda part: (part.topic, part.partition, part.start)):
        last = joined[-1] if joined else None
        if last is not None and (last.topic, last.partition) == (part.topic, part.partition) and part.start <= last.end:
            joined[-1] = replace(last, end=max(last.end, part.end))
        else:
            joined.append(part)
    return tuple(joined)


def words(ranges: Iterable[SourceRange]) -> str:
    """Ranges as people read them: `flights 0:100-999, flights 1:0-50`."""
    return ", ".join(f"{part.topic} {part.partition}:{part.start}-{part.end - 1}" for part in ranges) or "no offsets"
