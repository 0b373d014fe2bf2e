"""Reads records from the batches that brokers return; drops transaction markers and, if asked to, aborted records."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from aiokafka.record.control_record import ABORT_MARKER, ControlRecord
from aiokafka.record.memory_records import MemoryRecords

from rest_proxy.consume.stateless.unpacked import BatchTooLarge, unpacked_batches

#: The memory for a record besides its key and value, as counted in a page's bytes.
RECORD_OVERHEAD = 64


class FetchedRecord:
    """A record with its position; its length is the length of its value."""

    __slots__ = ("_partition", "_record", "_topic")

    def __init__(self, topic: str, partition: int, record: Any) -> None:
        self._topic = topic
        self._partition = partition
        self._record = record

    def topic(self) -> str:
        """The topic's name."""
        return self._topic

    def partition(self) -> int:
        """The partition's number."""
        return self._partition

    def offset(self) -> int:
        """The offset in the partition."""
        return self._record.offset  # type: ignore[no-any-return]

    def key(self) -> bytes | None:
        """The key's bytes."""
        return self._record.key  # type: ignore[no-any-return]

    def value(self) -> bytes | None:
        """The value's bytes."""
        return self._record.value  # type: ignore[no-any-return]

    def headers(self) -> Sequence[tuple[str, bytes | None]]:
        """The headers in order."""
        return self._record.headers or ()

    def timestamp(self) -> tuple[bool, int | None]:
        """Whether the broker set the timestamp, and the timestamp in ms since the epoch; None if there is none."""
        milliseconds = self._record.timestamp
        is_set = self._record.timestamp_type == 1
        return is_set, None if milliseconds is None or milliseconds < 0 else int(milliseconds)

    def __len__(self) -> int:
        value = self._record.value
        return 0 if value is None else len(value)

    @property
    def size(self) -> int:
        """The bytes of key and value, and the memory for the rest."""
        key = self._record.key
        return len(self) + (0 if key is None else len(key)) + RECORD_OVERHEAD


class Page(NamedTuple):
    """Part of a partition.

    Attributes:
        records: The records.
        next_offset: The first offset of the next page; even a page without records may advance it.
        earliest: The offset of the partition's first record; -1 if it is not known.
        latest: The offset after its last record, or of the first open transaction; -1 if it is not known.
    """

    records: Sequence[FetchedRecord]
    next_offset: int
    earliest: int = -1
    latest: int = -1


def unpack(
    topic: str,
    partition: int,
    start: int,
    batches: bytes,
    aborted: Sequence[tuple[int, int]] | None,
    max_records: int,
    max_bytes: int,
    *,
    max_unpacked: int,
) -> Page:
    """Read the records in batches.

    Args:
        topic: The topic.
        partition: The partition.
        start: The offset to begin at, which may be within the first batch.
        batches: The batches; the last one may be cut off.
        aborted: Producer and first offset of each aborted transaction whose records are left out; None to leave out
            none.
        max_records: The most records.
        max_bytes: The most bytes of records, unless the first alone is larger.
        max_unpacked: The most bytes of one unpacked batch.

    Raises:
        BatchTooLarge: The first batch has more; a later one ends the page.
        ValueError: A batch cannot be unpacked.
    """
    records: list[FetchedRecord] = []
    next_offset, size = start, 0
    for batch, is_visible in _up_to_too_large(_batches(batches, aborted, max_unpacked), records):
        for record in batch if is_visible else ():
            if record.offset < start:
                continue
            fetched = FetchedRecord(topic, partition, record)
            size += fetched.size
            if records and (len(records) >= max_records or size > max_bytes):
                return Page(records, next_offset)
            records.append(fetched)
            next_offset = record.offset + 1
        # Compaction may have removed the last records of the batch.
        next_offset = max(next_offset, batch.next_offset)
    return Page(records, next_offset)


def _up_to_too_large(
    batches: Iterator[tuple[Any, bool]], records: Sequence[FetchedRecord]
) -> Iterator[tuple[Any, bool]]:
    """The batches before one that is too large; raises BatchTooLarge if no record comes before it."""
    try:
        yield from batches
    except BatchTooLarge:
        if not records:
            raise


def _batches(
    batches: bytes, aborted: Sequence[tuple[int, int]] | None, max_unpacked: int
) -> Iterator[tuple[Any, bool]]:
    """The batches, each with a flag: whether readers get its records; they get no markers or aborted records."""
    to_come = deque(sorted(aborted or (), key=lambda transaction: transaction[1]))
    producers = set[int]()
    for data in unpacked_batches(batches, max_unpacked):
        batch = MemoryRecords(data).next_batch()
        assert batch is not None
        while to_come and to_come[0][1] < batch.next_offset:
            producers.add(to_come.popleft()[0])
        if batch.is_control_batch:
            marker = next(iter(batch), None)
            if marker is not None and ControlRecord.parse(marker.key) == ABORT_MARKER:
                producers.discard(batch.producer_id)
            yield batch, False
        else:
            yield batch, not (batch.is_transactional and batch.producer_id in producers)
