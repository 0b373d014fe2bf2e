"""Counts records by their schema frame, and keeps the positions of the first and last record of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from confluent_kafka import Message

from magicbyte.topic_ids.timed_position import TimedPosition
from serdes.message import wire

#: The most distinct frames per topic; records with further frames are counted together.
MOST_FRAMES = 100_000

#: The part of a message with the schema id or guid; b"" if there is neither, None for a tombstone.
_Head = bytes | None


@dataclass(frozen=True, slots=True)
class Usage:
    """The number of records of a group, their size without keys and headers, and the first and last of them.

    Within a partition, records are ordered by offset; across partitions, by timestamp.
    """

    records: int
    size: int
    first: TimedPosition
    last: TimedPosition

    def plus(self, other: Usage) -> Usage:
        """Merge two usages."""
        return Usage(
            self.records + other.records,
            self.size + other.size,
            min(self.first, other.first, key=_age),
            max(self.last, other.last, key=_age),
        )

    def to_json(self) -> dict[str, Any]:
        """The usage as JSON data."""
        return {
            "records": self.records,
            "bytes": self.size,
            "first": self.first.to_json(),
            "last": self.last.to_json(),
        }


def _age(place: TimedPosition) -> tuple[int, int, int]:
    return (-1 if place.timestamp is None else place.timestamp, place.partition, place.offset)


@dataclass(slots=True)
class _Run:
    """The records with one head in one partition."""

    records: int
    size: int
    first: TimedPosition
    last: TimedPosition


@dataclass(slots=True)
class Tally:
    """The counts of a topic.

    Attributes:
        is_key: Whether keys are counted instead of values.
        more_frames: The records whose frames are beyond the first MOST_FRAMES.
    """

    is_key: bool = False
    more_frames: int = 0
    _runs: dict[tuple[int, _Head], _Run] = field(default_factory=dict)

    def add(self, batch: Iterable[Message], ends: Mapping[int, int]) -> dict[int, int]:
        """Count records.

        Args:
            batch: Records in the offset order of their partitions, without errors.
            ends: By partition the offset at which counting ends; later records are ignored.

        Returns:
            By partition the offset after the last record of the batch, whether it was counted or not.
        """
        messages = list(batch)
        counted = _count(messages, is_key=self.is_key)
        reached: dict[int, int] = {}
        for (partition, _), (_, _, _, last) in counted.items():
            reached[partition] = max(reached.get(partition, 0), _offset(last) + 1)
        if any(offset > ends[partition] for partition, offset in reached.items()):
            within = [message for message in messages if _offset(message) < ends[_partition(message)]]
            counted = _count(within, is_key=self.is_key)
        for (partition, head), (records, size, first, last) in counted.items():
            self._fold(partition, head if head is None or _is_frame(head) else b"", records, size, first, last)
        return reached

    def _fold(self, partition: int, head: _Head, records: int, size: int, first: Message, last: Message) -> None:
        run = self._runs.get((partition, head))
        if run is not None:
            run.records += records
            run.size += size
            place = _place(last)
            # Heads that are not frames are counted as one; their order does not matter.
            if place.offset > run.last.offset:
                run.last = place
            elif (begin := _place(first)).offset < run.first.offset:
                run.first = begin
        elif len(self._runs) < MOST_FRAMES or not head:
            self._runs[partition, head] = _Run(records, size, _place(first), _place(last))
        else:
            self.more_frames += records

    @property
    def records(self) -> int:
        """The number of counted records."""
        return self.more_frames + sum(run.records for run in self._runs.values())

    @property
    def ids(self) -> dict[int, Usage]:
        """The usage of each schema id, ascending."""
        by_head = self._usages(wire.V0_SIZE)
        return {int.from_bytes(head[1:]): usage for head, usage in sorted(by_head.items())}

    @property
    def guids(self) -> dict[UUID, Usage]:
        """The usage of each guid (V1), in a header or before the payload."""
        return {UUID(bytes=head[1:]): usage for head, usage in sorted(self._usages(wire.V1_SIZE).items())}

    @property
    def unframed(self) -> Usage | None:
        """The usage of records without a schema id or guid; None if there are none."""
        return self._usages(0).get(b"")

    @property
    def tombstones(self) -> Usage | None:
        """The usage of records whose value, or key, is null."""
        usages = [_usage(run) for (_, head), run in self._runs.items() if head is None]
        return _sum(usages)

    def _usages(self, size: int) -> dict[bytes, Usage]:
        by_head: dict[bytes, list[Usage]] = {}
        for (_, head), run in self._runs.items():
            if head is not None and len(head) == size:
                by_head.setdefault(head, []).append(_usage(run))
        return {head: usage for head, usages in by_head.items() if (usage := _sum(usages)) is not None}


def _usage(run: _Run) -> Usage:
    return Usage(run.records, run.size, run.first, run.last)


def _sum(usages: list[Usage]) -> Usage | None:
    total: Usage | None = None
    for usage in usages:
        total = usage if total is None else total.plus(usage)
    return total


_Counted = dict[tuple[int, _Head], list[Any]]


def _count(messages: list[Message], *, is_key: bool) -> _Counted:
    """By partition and head: the count, the size, the first and the last message.

    This loop runs for all records, so it does only what the frame needs.
    """
    counted: _Counted = {}
    name = wire.header_name(is_key=is_key)
    datum_of = Message.key if is_key else Message.value
    columns = (map(Message.partition, messages), map(datum_of, messages), map(Message.headers, messages))
    for message, partition, datum, headers in zip(messages, *columns, strict=True):
        size = 0 if datum is None else len(datum)
        head: _Head
        if datum is None:
            head = None
        elif headers and (framed := wire.find_header(headers, name)) is not None:
            head = framed[: wire.V1_SIZE] if framed[:1] == b"\x01" else b""
        elif datum < b"\x01":
            # The value begins with 0, or is empty.
            head = datum[:5]
        elif datum < b"\x02":
            head = datum[:17]
        else:
            head = b""
        run = counted.get((partition, head))
        if run is None:
            counted[partition, head] = [1, size, message, message]
        else:
            run[0] += 1
            run[1] += size
            run[3] = message
    return counted


def _is_frame(head: bytes) -> bool:
    return len(head) == (wire.V0_SIZE if head[:1] == b"\x00" else wire.V1_SIZE)


def _offset(message: Message) -> int:
    return message.offset() or 0


def _partition(message: Message) -> int:
    return message.partition() or 0


def _place(message: Message) -> TimedPosition:
    kind, timestamp = message.timestamp()
    return TimedPosition(_partition(message), _offset(message), timestamp if kind else None)
