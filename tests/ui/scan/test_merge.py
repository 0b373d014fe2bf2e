"""Partitions read in blocks, and merged by time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from magicbyte.ui.messages.scan_request import ScannedRecord
from magicbyte.ui.scan.merge import Merge, read_cursor, write_cursor
from magicbyte.ui.scan.partition_reader import BlockSize, PartitionReader
from magicbyte.ui.scan.source import Bounds, Page, TopicSource


class Log(TopicSource):
    """Partitions in memory: offset, time and size of each record; a page has few records and bytes.

    Attributes:
        held: The bytes of the largest page.
        asked: How many pages were read.
    """

    def __init__(self, partitions: Mapping[int, Sequence[tuple[int, int, int]]], *, page: int = 1_000) -> None:
        self._partitions = partitions
        self._page = page
        self.asked = 0

    async def read(self, partition: int, offset: int, *, records: int, size: int) -> Page:
        self.asked += 1
        await asyncio.sleep(0)
        page, held = list[ScannedRecord](), 0
        rows = [row for row in self._partitions[partition] if row[0] >= offset]
        for at, time, length in rows[: min(records, self._page)]:
            if page and held + length > size:
                break
            held += length
            page.append(ScannedRecord(partition, at, time, None, "x" * length))
        return Page(page, page[-1].offset + 1 if page else offset + 1)


def merged(log: Log, bounds: Mapping[int, Bounds], *, newest: bool, block: BlockSize, take: int = 2) -> list[str]:
    """The places of all records, taken a few at a time."""

    async def run() -> list[str]:
        readers = [PartitionReader(log, at, bounds[at], block, is_newest_first=newest) for at in bounds]
        merge = Merge(readers, is_newest_first=newest)
        places = list[str]()
        while records := await merge.take(take, 1 << 20):
            places += [f"{record.partition}:{record.offset}" for record in records]
        assert merge.is_finished
        return places

    return asyncio.run(run())


#: Partition 0 has gaps, as after compaction; the times of partition 1 do not increase; partition 2 is empty.
PARTITIONS = {0: [(0, 10, 5), (3, 30, 5), (9, 50, 5)], 1: [(5, 20, 5), (6, 60, 5), (7, 40, 5)], 2: []}
BOUNDS = {0: Bounds(0, 12), 1: Bounds(5, 8), 2: Bounds(4, 4)}


@pytest.mark.parametrize("block", [BlockSize(1, 1), BlockSize(2, 11), BlockSize(100, 1_000)])
@pytest.mark.parametrize("page", [1, 2, 1_000])
@pytest.mark.parametrize(
    ("newest", "places"),
    [
        (True, ["0:9", "1:7", "1:6", "0:3", "1:5", "0:0"]),
        (False, ["0:0", "1:5", "0:3", "0:9", "1:6", "1:7"]),
    ],
    ids=["newest", "oldest"],
)
def test_partitions_keep_their_order(block: BlockSize, page: int, places: list[str], *, newest: bool) -> None:
    assert merged(Log(PARTITIONS, page=page), BOUNDS, newest=newest, block=block) == places


@pytest.mark.parametrize("newest", [True, False])
def test_bounds_hold(*, newest: bool) -> None:
    bounds = {0: Bounds(1, 9), 1: Bounds(6, 7)}
    places = merged(Log(PARTITIONS), bounds, newest=newest, block=BlockSize(100, 1_000))
    assert places == (["1:6", "0:3"] if newest else ["0:3", "1:6"])


@pytest.mark.parametrize("newest", [True, False])
def test_large_records_come_in_small_blocks(*, newest: bool) -> None:
    log = Log({0: [(at, at, 1_000) for at in range(40)]})

    async def run() -> tuple[list[int], int]:
        reader = PartitionReader(log, 0, Bounds(0, 40), BlockSize(50, 2_000), is_newest_first=newest)
        offsets, most = list[int](), 0
        while not reader.is_finished:
            await reader.fill()
            most = max(most, len(reader.buffer))
            offsets += [record.offset for record in reader.buffer]
            reader.buffer.clear()
        return offsets, most

    offsets, most = asyncio.run(run())
    assert offsets == (list(range(39, -1, -1)) if newest else list(range(40)))
    assert most <= 2
    assert log.asked < 60


@pytest.mark.parametrize(
    ("positions", "text"), [({}, ""), ({1: 17, 0: 42}, "0:42,1:17"), ({7: 2**63 - 1}, "7:9223372036854775807")]
)
def test_cursors(positions: dict[int, int], text: str) -> None:
    assert write_cursor(positions) == text
    if text:
        assert read_cursor(text) == positions
