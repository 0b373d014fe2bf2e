"""One scan: it takes records from the merge, lets a worker select those that fit, and tells how far it is."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from magicbyte.ui.messages.scan_request import ScannedRecord, ScanRequest
from magicbyte.ui.scan.merge import Merge, write_cursor
from magicbyte.ui.scan.partition_reader import BlockSize, PartitionReader, block_bytes
from magicbyte.ui.scan.range import is_in_time
from magicbyte.ui.scan.selecting import Selecting
from magicbyte.ui.scan.source import Bounds, TopicSource

#: The records of the first block of a scan with a filter.
_FIRST_BLOCK = 1_000
#: The records that a worker gets at once: the fewest and the most, and their bytes.
_FEWEST, _MOST, _PART_BYTES = 100, 4_000, 4 << 20
#: The seconds that a worker should take for them: progress is told so often.
_QUICK, _SLOW = 0.2, 0.6


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a scan.

    Attributes:
        records: The most records that it looks at.
        size: The most bytes of these records.
        seconds: How long it takes at most.
        answer_size: The most bytes of the records that it returns.
    """

    records: int
    size: int
    seconds: float
    answer_size: int


class Scan:
    """A scan of a topic; `lines` may be used once."""

    def __init__(
        self,
        source: TopicSource,
        ranges: Mapping[int, Bounds],
        wanted: ScanRequest,
        selecting: Selecting,
        limits: Limits,
    ) -> None:
        """Begin; no record is read yet.

        Args:
            source: The topic.
            ranges: The offsets to read, by partition.
            wanted: What to look for.
            selecting: Selects the records that fit.
            limits: What bounds the scan.
        """
        self.scanned = 0
        self._ranges = ranges
        self._wanted = wanted
        self._selecting = selecting
        self._limits = limits
        self._bytes = self._matched = self._answered = 0
        is_newest_first = wanted.is_newest_first
        self._positions = {
            partition: bounds.end if is_newest_first else bounds.first for partition, bounds in ranges.items()
        }
        filled = {partition: bounds for partition, bounds in ranges.items() if bounds.first < bounds.end}
        size = block_bytes(len(filled))
        block = BlockSize(_FIRST_BLOCK if wanted.filter else wanted.limit, size)
        readers = [
            PartitionReader(source, partition, bounds, block, is_newest_first=is_newest_first)
            for partition, bounds in filled.items()
        ]
        self._merge = Merge(readers, is_newest_first=is_newest_first)

    def state(self) -> dict[str, Any]:
        """The progress of the scan."""
        return {
            "scanned": self.scanned,
            "bytes": self._bytes,
            "matched": self._matched,
            "cursor": write_cursor(self._positions),
        }

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines of the answer, as JSON.

        Raises:
            ApiError: The REST proxy, the registry or the workers refuse or do not answer.
        """
        partitions = {str(partition): [bounds.first, bounds.end] for partition, bounds in self._ranges.items()}
        total = sum(bounds.end - bounds.first for bounds in self._ranges.values())
        yield orjson.dumps({"begin": {"partitions": partitions, "total": total}})
        until = time.monotonic() + self._limits.seconds
        part = _FEWEST if self._wanted.filter else self._wanted.limit
        while True:
            if (reason := self._reason(until)) is not None:
                yield orjson.dumps({"end": {"reason": reason, **self.state()}})
                return
            taken = await self._merge.take(min(part, self._limits.records - self.scanned), _PART_BYTES)
            started, scanned = time.monotonic(), self.scanned
            async for line in self._select(taken):
                yield line
            if self.scanned == scanned + len(taken) and self._merge.is_finished:
                self._finish()
                yield orjson.dumps({"end": {"reason": "end", **self.state()}})
                return
            if self._reason(until) is None:
                yield orjson.dumps({"progress": self.state()})
            seconds = time.monotonic() - started
            part = min(part * 2, _MOST) if seconds < _QUICK else max(part // 2, _FEWEST) if seconds > _SLOW else part

    async def _select(self, taken: list[ScannedRecord]) -> AsyncIterator[bytes]:
        """The lines of the records that fit, until the limits are reached."""
        wanted, limits = self._wanted, self._limits
        while taken:
            most, size = wanted.limit - self._matched, limits.answer_size - self._answered
            if most <= 0 or size <= 0:
                return
            in_time = [record for record in taken if is_in_time(record, wanted.since, wanted.until)]
            if not in_time:
                self._count(taken)
                return
            selected = await self._selecting.select(in_time, most, size)
            for row in selected.records:
                self._matched += 1
                self._answered += len(bytes(row))
                yield b'{"record":%b}' % bytes(row)
            if selected.seen >= len(in_time):
                self._count(taken)
                return
            following = taken.index(in_time[selected.seen])
            self._count(taken[:following])
            taken = taken[following:]

    def _count(self, records: list[ScannedRecord]) -> None:
        """Note that the scan goes on behind some records."""
        step = 0 if self._wanted.is_newest_first else 1
        for record in records:
            self._positions[record.partition] = record.offset + step
            self._bytes += record.size
        self.scanned += len(records)

    def _finish(self) -> None:
        """Note that nothing is left: offsets at the end may have no records."""
        for partition, bounds in self._ranges.items():
            self._positions[partition] = bounds.first if self._wanted.is_newest_first else bounds.end

    def _reason(self, until: float) -> str | None:
        """The reason why the scan ends before the end of the topic; None if it goes on."""
        limits = self._limits
        if self._matched >= self._wanted.limit:
            return "limit"
        if self._answered >= limits.answer_size:
            return "answer"
        if self.scanned >= limits.records:
            return "records"
        if self._bytes >= limits.size:
            return "bytes"
        return "time" if time.monotonic() > until else None
