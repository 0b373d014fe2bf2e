"""Counts the letters of a topic by groups, and lists the newest of them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from magicbyte.dead_letters.groups import Grouped
from magicbyte.topic_ids.timed_position import TimedPosition
from magicbyte.ui.letters.notes import Notes
from magicbyte.ui.letters.sorting import Sorting
from magicbyte.ui.messages.letter_request import LetterKind, LettersRequest, SortedLetter
from magicbyte.ui.scan.merge import Merge
from magicbyte.ui.scan.partition_reader import BlockSize, PartitionReader, block_bytes
from magicbyte.ui.scan.range import is_in_time
from magicbyte.ui.scan.scan import Limits
from magicbyte.ui.scan.source import Bounds, TopicSource

#: The most groups of an answer, and of a line of progress.
_MOST_GROUPS, _GROUPS_SHOWN = 1_000, 50
#: The letters that a worker gets at once: at first and at most, and their bytes.
_FIRST, _MOST, _PART_BYTES = 500, 4_000, 4 << 20
#: How often groups are told, in seconds.
_TOLD_SECONDS = 0.5


@dataclass(slots=True)
class _Counts:
    scanned: int = 0
    size: int = 0
    matched: int = 0
    listed: int = 0


class Counting:
    """One count of a topic; `lines` may be used once."""

    def __init__(
        self,
        source: TopicSource,
        ranges: Mapping[int, Bounds],
        wanted: LettersRequest,
        sorting: Sorting,
        notes: Notes,
        limits: Limits,
    ) -> None:
        """Begin; no letter is read yet.

        Args:
            source: The topic.
            ranges: The offsets to read, by partition.
            wanted: Which letters are meant.
            sorting: Reads letters in a worker.
            notes: Which letters were replayed.
            limits: What bounds the count.
        """
        self._ranges = ranges
        self._wanted = wanted
        self._sorting = sorting
        self._notes = notes
        self._limits = limits
        self._counts = _Counts()
        self._grouped = Grouped(notes.numbers, most=_MOST_GROUPS)
        filled = {partition: bounds for partition, bounds in ranges.items() if bounds.first < bounds.end}
        size = block_bytes(len(filled))
        readers = [
            PartitionReader(source, partition, bounds, BlockSize(_FIRST, size), is_newest_first=True)
            for partition, bounds in filled.items()
        ]
        self._merge = Merge(readers, is_newest_first=True)

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines of the answer, as JSON.

        Raises:
            ApiError: The REST proxy or the workers refuse or do not answer, or the condition is none.
        """
        total = sum(bounds.end - bounds.first for bounds in self._ranges.values())
        yield orjson.dumps({"begin": {"total": total, "notesProblem": self._notes.problem}})
        counts, limits = self._counts, self._limits
        until = time.monotonic() + limits.seconds
        part, told = _FIRST, time.monotonic()
        while True:
            if (reason := self._reason(until)) is not None:
                break
            taken = await self._merge.take(min(part, limits.records - counts.scanned), _PART_BYTES)
            if not taken:
                reason = "end"
                break
            since, until_time = self._wanted.since, self._wanted.until
            in_time = [record for record in taken if is_in_time(record, since, until_time)]
            kinds, letters = await self._sorting.sort(in_time)
            for letter in letters:
                if (line := self._count(letter, kinds)) is not None:
                    yield line
            counts.scanned += len(taken)
            counts.size += sum(record.size for record in taken)
            if time.monotonic() - told > _TOLD_SECONDS:
                told = time.monotonic()
                yield orjson.dumps({"progress": self._state(_GROUPS_SHOWN)})
            part = min(part * 2, _MOST)
        yield orjson.dumps({"end": {"reason": reason, **self._state(_MOST_GROUPS)}})

    def _count(self, letter: SortedLetter, kinds: Sequence[LetterKind]) -> bytes | None:
        """Count a letter; returns its line if it is listed."""
        counts, wanted = self._counts, self._wanted
        is_replayed = letter.identity in self._notes.numbers
        if wanted.replayed is not None and is_replayed != wanted.replayed:
            return None
        kind = kinds[letter.kind]
        mark = TimedPosition(letter.partition, letter.offset, letter.timestamp)
        self._grouped.add(letter.group, mark, kind.stage, kind.reason, letter.identity, letter.attempt)
        counts.matched += 1
        if counts.listed >= wanted.letters:
            return None
        counts.listed += 1
        return orjson.dumps({"letter": _listed(letter, kind, is_replayed=is_replayed)})

    def _state(self, most: int) -> dict[str, Any]:
        groups = self._grouped.sorted()
        return {
            "scanned": self._counts.scanned,
            "bytes": self._counts.size,
            "matched": self._counts.matched,
            "unreadable": self._sorting.unreadable,
            "groups": [group.to_json() for group in groups[:most]],
            "groupsLeftOut": max(0, len(groups) - most),
            "lettersLeftOut": self._grouped.left_out,
        }

    def _reason(self, until: float) -> str | None:
        """The reason why the count ends before the beginning of the topic; None if it goes on."""
        limits, counts = self._limits, self._counts
        if counts.scanned >= limits.records:
            return "records"
        if counts.size >= limits.size:
            return "bytes"
        return "time" if time.monotonic() > until else None


def _listed(letter: SortedLetter, kind: LetterKind, *, is_replayed: bool) -> dict[str, Any]:
    return {
        "partition": letter.partition,
        "offset": letter.offset,
        "timestamp": letter.timestamp,
        "group": letter.group,
        "fingerprint": kind.fingerprint,
        "stage": kind.stage or None,
        "reason": kind.reason,
        "origin": None
        if letter.origin is None
        else {"topic": letter.origin[0], "partition": letter.origin[1], "offset": letter.origin[2]},
        "pipeline": letter.pipeline,
        "schema": letter.schema,
        "masked": letter.masked,
        "replays": letter.replays,
        "replayed": is_replayed,
    }
