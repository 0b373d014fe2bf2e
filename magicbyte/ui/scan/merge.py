"""The records of several partitions merged by time, and the cursor with which a scan goes on."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Mapping, Sequence

from magicbyte.ui.messages.scan_request import ScannedRecord
from magicbyte.ui.scan.partition_reader import PartitionReader

#: How many partitions are read at once.
_AT_ONCE = 4
#: The time of records without one.
_NO_TIME = -1


class Merge:
    """Takes the records of partitions in the order of their times.

    A partition's records keep the order of their offsets, even if their times do not increase. So what follows depends
    only on the offsets that have been reached, and a scan that goes on from there leaves nothing out.
    """

    def __init__(self, readers: Sequence[PartitionReader], *, is_newest_first: bool) -> None:
        """Begin; nothing is read yet.

        Args:
            readers: The partitions, which read in the same direction.
            is_newest_first: Whether the newest records come first.
        """
        self._sign = -1 if is_newest_first else 1
        #: The partitions without a record in the heap, and the others by the time of their next record.
        self._to_fill = list(readers)
        self._heap: list[tuple[int, int, PartitionReader]] = []

    async def take(self, records: int, size: int) -> list[ScannedRecord]:
        """The next records; none at the end.

        Args:
            records: The most records.
            size: The bytes after which no more are added.

        Raises:
            ApiError: The proxy refuses or does not answer.
        """
        taken: list[ScannedRecord] = []
        held = 0
        while len(taken) < records and held < size:
            await self._fill()
            if not self._heap:
                break
            reader = self._heap[0][2]
            record = reader.buffer.popleft()
            taken.append(record)
            held += record.size
            if reader.buffer:
                heapq.heapreplace(self._heap, self._entry(reader))
            else:
                heapq.heappop(self._heap)
                self._to_fill.append(reader)
        return taken

    @property
    def is_finished(self) -> bool:
        """Whether there are no more records; some partitions may have to be read to know it."""
        return not self._heap and all(reader.is_finished for reader in self._to_fill)

    async def _fill(self) -> None:
        while self._to_fill:
            some, self._to_fill = self._to_fill[:_AT_ONCE], self._to_fill[_AT_ONCE:]
            fills = [asyncio.ensure_future(reader.fill()) for reader in some]
            try:
                await asyncio.gather(*fills)
            finally:
                for fill in fills:
                    fill.cancel()
            for reader in some:
                if reader.buffer:
                    heapq.heappush(self._heap, self._entry(reader))

    def _entry(self, reader: PartitionReader) -> tuple[int, int, PartitionReader]:
        time = reader.buffer[0].timestamp
        return (self._sign * (_NO_TIME if time is None else time), reader.partition, reader)


def write_cursor(positions: Mapping[int, int]) -> str:
    """The positions of partitions as a text, such as `0:42,1:17`."""
    return ",".join(f"{partition}:{offset}" for partition, offset in sorted(positions.items()))


def read_cursor(text: str) -> dict[int, int]:
    """The positions in a text; the reverse of `write_cursor`."""
    pairs = (pair.split(":") for pair in text.split(","))
    return {int(partition): int(offset) for partition, offset in pairs}
