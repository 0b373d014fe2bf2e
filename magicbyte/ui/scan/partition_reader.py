"""The records of one partition, from the newest or from the oldest on, in blocks of bounded size."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from magicbyte.ui.messages.scan_request import ScannedRecord
from magicbyte.ui.scan.source import Bounds, TopicSource

#: The most records of a block.
_MOST_RECORDS = 4_000
#: The bytes of the blocks of all partitions, and the largest and smallest block.
_BLOCKS_BYTES, _LARGEST_BLOCK, _SMALLEST_BLOCK = 16 << 20, 1 << 20, 64 << 10


def block_bytes(partitions: int) -> int:
    """The most bytes of a block, if so many partitions are read at once."""
    return min(_LARGEST_BLOCK, max(_SMALLEST_BLOCK, _BLOCKS_BYTES // max(1, partitions)))


@dataclass(frozen=True, slots=True)
class BlockSize:
    """The limits of a partition's blocks.

    Attributes:
        records: How many records the first block has at most.
        size: The most bytes of a block; one record may have more.
    """

    records: int
    size: int


class PartitionReader:
    """Reads a partition in one direction."""

    def __init__(
        self, source: TopicSource, partition: int, bounds: Bounds, block: BlockSize, *, is_newest_first: bool
    ) -> None:
        """Begin at one end of the bounds; nothing is read yet.

        Args:
            source: The topic.
            partition: The partition.
            bounds: The offsets to read.
            block: The size of a block.
            is_newest_first: Whether to begin at the end.
        """
        self.partition = partition
        self.buffer: deque[ScannedRecord] = deque()
        self._source = source
        self._first, self._end = bounds.first, max(bounds.first, bounds.end)
        self._size = block.size
        self._records = block.records
        self._is_newest_first = is_newest_first

    @property
    def is_finished(self) -> bool:
        """Whether all records have been taken from the buffer."""
        return not self.buffer and self._first >= self._end

    async def fill(self) -> None:
        """Read the next block into the empty buffer; it stays empty if there are no more records.

        Raises:
            ApiError: The proxy refuses or does not answer.
        """
        while not self.buffer and self._first < self._end:
            if self._is_newest_first:
                await self._read_back()
            else:
                await self._read_on()

    async def _read_on(self) -> None:
        page = await self._source.read(
            self.partition, self._first, records=min(self._records, self._end - self._first), size=self._size
        )
        self.buffer.extend(record for record in page.records if self._first <= record.offset < self._end)
        self._first = page.next_offset if page.next_offset > self._first else self._end
        self._grow(sum(record.size for record in self.buffer))

    async def _read_back(self) -> None:
        """Read the block before the end; if it is too large, only make the next block smaller."""
        start = max(self._first, self._end - self._records)
        at, size, block = start, 0, list[ScannedRecord]()
        while at < self._end:
            page = await self._source.read(self.partition, at, records=self._end - at, size=self._size)
            block += [record for record in page.records if at <= record.offset < self._end]
            if page.next_offset <= at:
                break
            at = page.next_offset
            size = sum(record.size for record in block)
            if size >= self._size and at < self._end and self._records > 1:
                # The records behind these come first, so these would have to wait in memory.
                self._records = max(1, min((at - start) // 2, self._records // 2))
                return
        self.buffer.extend(reversed(block))
        self._end = start
        self._grow(size)

    def _grow(self, size: int) -> None:
        if size * 2 <= self._size:
            self._records = min(self._records * 2, _MOST_RECORDS)
