"""Records that a consumer has fetched and nobody has read yet, and where each partition continues after those read."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

Place = tuple[str, int]

#: What a buffered record costs besides its value.
RECORD_OVERHEAD = 256


class Position(NamedTuple):
    """An offset in a partition, with the text that a commit keeps beside it."""

    topic: str
    partition: int
    offset: int
    metadata: str = ""


class Fetched(Protocol):
    """A record as the Kafka client hands it out; its length is its value's."""

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
    """Filled by the polling thread, emptied on the event loop; `space` is set whenever something was taken."""

    def __init__(self, limit: int, loop: asyncio.AbstractEventLoop) -> None:
        self.limit = limit
        self.space = threading.Event()
        self._loop = loop
        self._lock = threading.Lock()
        self._records: deque[Fetched] = deque()
        self._bytes = 0
        self._epochs: dict[Place, int] = {}
        self._delivered: dict[Place, int] = {}
        self._fault: Exception | None = None
        self._waiter: asyncio.Event | None = None

    @property
    def size(self) -> int:
        """Bytes that are held."""
        return self._bytes

    def append(self, records: Sequence[Fetched]) -> None:
        """Hold more records and wake who waits."""
        with self._lock:
            self._records.extend(records)
            self._bytes += sum(map(len, records)) + RECORD_OVERHEAD * len(records)
            self._wake()

    def fail(self, fault: Exception | None) -> None:
        """Let the next reader that finds nothing have this; None takes it back."""
        with self._lock:
            self._fault = fault
            self._wake()

    def _wake(self) -> None:
        """Let who waits look again; under the lock, else a waiter that comes between could be forgotten."""
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(waiter.set)

    async def wait_for(self, min_bytes: int, seconds: float) -> None:
        """Return when that many bytes are held, when no more fit, or after that time.

        Raises:
            Exception: What the buffer was failed with, where it holds nothing.
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
            left = deadline - time.monotonic()
            if left <= 0:
                return
            try:
                await asyncio.wait_for(waiter.wait(), left)
            except TimeoutError:
                return

    def take(self, max_bytes: int) -> list[Fetched]:
        """Take records of at most that many bytes of keys and values together, and one at least."""
        taken: list[Fetched] = []
        size = 0
        with self._lock:
            records = self._records
            while records:
                record = records[0]
                size += len(record) + len(record.key() or b"")
                if taken and size > max_bytes:
                    break
                taken.append(records.popleft())
                self._bytes -= len(record) + RECORD_OVERHEAD
                self._delivered[record.topic(), record.partition()] = record.offset() + 1
        self.space.set()
        return taken

    def epochs(self) -> dict[Place, int]:
        """How often each partition was dropped; what was taken before is put back only where that is the same."""
        with self._lock:
            return dict(self._epochs)

    def put_back(self, records: Sequence[Fetched], epochs: dict[Place, int]) -> None:
        """Undo the taking of records that were not delivered."""
        with self._lock:
            for record in reversed(records):
                place = (record.topic(), record.partition())
                if self._epochs.get(place) == epochs.get(place):
                    self._records.appendleft(record)
                    self._bytes += len(record) + RECORD_OVERHEAD
                    self._delivered[place] = record.offset()

    def drop(self, places: Iterable[Place]) -> None:
        """Forget all of partitions that went elsewhere or are sought in."""
        gone = set(places)
        with self._lock:
            kept = [record for record in self._records if (record.topic(), record.partition()) not in gone]
            self._records = deque(kept)
            self._bytes = sum(map(len, kept)) + RECORD_OVERHEAD * len(kept)
            for place in gone:
                self._epochs[place] = self._epochs.get(place, 0) + 1
                self._delivered.pop(place, None)
        self.space.set()

    def continue_at(self, position: Position) -> None:
        """Note where a partition was sought to."""
        with self._lock:
            self._delivered[position.topic, position.partition] = position.offset

    def delivered(self) -> list[Position]:
        """Where each partition continues after what was taken of it, or where it was sought to."""
        with self._lock:
            return [Position(*place, offset) for place, offset in self._delivered.items()]
