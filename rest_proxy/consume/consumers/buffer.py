"""The buffer of fetched records that no client has read, and the position of each partition after those read."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

PartitionId = tuple[str, int]

#: The memory for a buffered record without its value.
RECORD_OVERHEAD = 256


class Position(NamedTuple):
    """An offset in a partition, with the metadata text of a commit."""

    topic: str
    partition: int
    offset: int
    metadata: str = ""


class Fetched(Protocol):
    """A record of the Kafka client; its length is the length of its value."""

    def topic(self) -> str:
        """The topic's name."""

    def partition(self) -> int:
        """The partition's number."""

    def offset(self) -> int:
        """The offset in the partition."""

    def key(self) -> bytes | None:
        """The key's bytes."""

    def value(self) -> bytes | None:
        """The value's bytes."""

    def headers(self) -> list[tuple[str, bytes]] | None:
        """The headers in order."""

    def __len__(self) -> int: ...


class Buffer:
    """A buffer filled by the polling thread and emptied on the event loop; `space` is set when records leave it."""

    def __init__(self, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        self.limit = limit
        self.space = threading.Event()
        self._loop = loop
        self._lock = threading.Lock()
        self._records: deque[Fetched] = deque()
        self._bytes = 0
        self._epochs: dict[PartitionId, int] = {}
        self._delivered: dict[PartitionId, int] = {}
        self._fault: Exception | None = None
        self._waiter: asyncio.Event | None = None

    @property
    def size(self) -> int:
        """The size of the buffered records, in bytes."""
        return self._bytes

    def append(self, records: Sequence[Fetched]) -> None:
        """Add records and wake the reader."""
        with self._lock:
            self._records.extend(records)
            self._bytes += sum(map(len, records)) + RECORD_OVERHEAD * len(records)
            self._wake()

    def fail(self, fault: Exception | None) -> None:
        """Set the error for the next reader that finds no records; None clears it."""
        with self._lock:
            self._fault = fault
            self._wake()

    def _wake(self) -> None:
        """Wake the waiting reader; needs the lock, or a waiter set meanwhile could be lost."""
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(waiter.set)

    async def wait_for(self, min_bytes: int, seconds: float) -> None:
        """Return when `min_bytes` are buffered, when the buffer is full, or after `seconds`.

        Raises:
            Exception: The buffer is empty and was given this error.
        """
        deadline = time.monotonic() + seconds
        while True:
            waiter = asyncio.Event()
            with self._lock:
                data = self._bytes - RECORD_OVERHEAD * len(self._records)
                if self._records and (data >= min_bytes or self._bytes >= self.limit):
                    return
                if self._fault is not None and not self._records:
                    fault, self._fault = self._fault, None
                    raise fault
                self._waiter = waiter
            seconds_left = deadline - time.monotonic()
            if seconds_left <= 0:
                return
            try:
                await asyncio.wait_for(waiter.wait(), seconds_left)
            except TimeoutError:
                return

    def take(self, max_bytes: int) -> list[Fetched]:
        """Take records with at most `max_bytes` of keys and values; at least one if there are any."""
        batch: list[Fetched] = []
        size = 0
        with self._lock:
            records = self._records
            while records:
                record = records[0]
                size += len(record) + len(record.key() or b"")
                if batch and size > max_bytes:
                    break
                batch.append(records.popleft())
                self._bytes -= len(record) + RECORD_OVERHEAD
                self._delivered[record.topic(), record.partition()] = record.offset() + 1
        self.space.set()
        return batch

    def epochs(self) -> dict[PartitionId, int]:
        """Return how often each partition was dropped, for `put_back`."""
        with self._lock:
            return dict(self._epochs)

    def put_back(self, records: Sequence[Fetched], epochs: dict[PartitionId, int]) -> None:
        """Put back records that were not delivered, except of partitions dropped since `epochs` were read."""
        with self._lock:
            for record in reversed(records):
                place = (record.topic(), record.partition())
                if self._epochs.get(place) == epochs.get(place):
                    self._records.appendleft(record)
                    self._bytes += len(record) + RECORD_OVERHEAD
                    self._delivered[place] = record.offset()

    def drop(self, places: Iterable[PartitionId]) -> None:
        """Remove the records and positions of partitions that are revoked or sought."""
        dropped = set(places)
        with self._lock:
            remaining = [record for record in self._records if (record.topic(), record.partition()) not in dropped]
            self._records = deque(remaining)
            self._bytes = sum(map(len, remaining)) + RECORD_OVERHEAD * len(remaining)
            for place in dropped:
                self._epochs[place] = self._epochs.get(place, 0) + 1
                self._delivered.pop(place, None)
        self.space.set()

    def continue_at(self, position: Position) -> None:
        """Note the position that a partition was sought to."""
        with self._lock:
            self._delivered[position.topic, position.partition] = position.offset

    def delivered(self) -> list[Position]:
        """The position of each partition, after the records taken from it or after a seek."""
        with self._lock:
            return [Position(*place, offset) for place, offset in self._delivered.items()]
