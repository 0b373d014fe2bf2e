"""The output of Kafka's console consumer for a registry's topic: a line for each record, `KEY<separator>VALUE`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.lines import whole_lines
from magicbyte.operations.sources.files.record_file import RecordFile
from magicbyte.operations.sources.port import RawRecord

#: What `print.timestamp`, `print.partition` and `print.offset` put before the key, each followed by the separator.
_TIMESTAMP = re.compile(r"(?:CreateTime|LogAppendTime):(-?\d+)|NO_TIMESTAMP")
_PARTITION = re.compile(r"Partition:(\d+)")
_OFFSET = re.compile(r"Offset:(\d+)")
#: What the tool prints in the end; it goes to stderr, so only some files have it.
_COUNTED = re.compile(rb"Processed a total of (\d+) messages")
_DECODER = json.JSONDecoder()
_NEXT = re.compile(r"Partition:\d|Offset:\d|\{")
_VALUE = re.compile(r"\{|null$")


def is_console_dump(head: bytes) -> bool:
    """Tell whether the first line is a registry's key and, behind a separator, something else."""
    line = head.split(b"\n", 1)[0].removesuffix(b"\r")
    try:
        _Layout.of(line.decode(errors="replace"))
    except Unreadable:
        return False
    return True


class ConsoleDump(RecordFile):
    """A console dump; a cut within a line is noticed."""

    vendor = "kafka-console-consumer"
    form_notes = (
        "console dumps have no checksum: neither changed text nor a cut between two lines is noticed",
        "a record whose key or value is the text null cannot be told from one without key or value",
        "a dump without offsets and times has its records numbered, and the times of versions are unknown",
    )

    def parsed(self) -> Iterator[RawRecord]:
        """Yield the records, with the offsets that are printed, or numbered from 0."""
        layout: _Layout | None = None
        last, count = -1, 0
        claimed: int | None = None
        with self.path.open("rb") as file:
            for number, line in whole_lines(file):
                if claimed is not None:
                    raise Unreadable(f"line {number} follows the count of messages, which must be the last line")
                if counted := _COUNTED.fullmatch(line):
                    claimed = int(counted[1])
                    continue
                try:
                    text = line.decode()
                    layout = layout or _Layout.of(text)
                    record = layout.record(text, count)
                except UnicodeError:
                    raise Unreadable(f"line {number} is not UTF-8") from None
                except Unreadable as error:
                    raise Unreadable(f"line {number} {error}") from None
                if record.offset <= last:
                    raise Unreadable(f"line {number} has offset {record.offset}, which comes after {last}")
                last = record.offset
                count += 1
                yield record
        if claimed is not None and claimed != count:
            raise Unreadable(f"it counts {claimed} messages in the end, and has {count}")


class _Layout:
    """The parts that precede the key, and the separator; all lines of a dump have the same."""

    def __init__(self, separator: str, parts: tuple[re.Pattern[str], ...]) -> None:
        self._separator = separator
        self._parts = parts

    @classmethod
    def of(cls, line: str) -> _Layout:
        """The layout of the first line, whose key has to be a registry's.

        Raises:
            Unreadable: The line is no record of a registry.
        """
        at = 0
        parts = []
        for part in (_TIMESTAMP, _PARTITION, _OFFSET):
            if match := part.match(line, at):
                parts.append(part)
                at = _next_part(line, match.end())
        key, end = _key(line, at)
        if not isinstance(key, dict) or not isinstance(key.get("keytype"), str):
            raise Unreadable("does not begin with the JSON key of a registry's record")
        value = _VALUE.search(line, end)
        if value is None or value.start() == end:
            raise Unreadable("has no value behind its key: print it with print.key=true and a separator")
        return cls(line[end : value.start()], tuple(parts))

    def record(self, line: str, number: int) -> RawRecord:
        """The record of a line.

        Raises:
            Unreadable: The line has another layout.
        """
        at = 0
        found: dict[re.Pattern[str], int] = {}
        for part in self._parts:
            match = part.match(line, at)
            if match is None:
                raise Unreadable("lacks a part that the first line has before its key")
            found[part] = int(match[1] or 0)
            at = self._behind_separator(line, match.end())
        key, end = _key(line, at)
        behind = self._behind_separator(line, end)
        if found.get(_PARTITION):
            raise Unreadable("is of another partition than 0; a registry's topic has one")
        value = line[behind:]
        return RawRecord(
            found.get(_OFFSET, number),
            max(0, found.get(_TIMESTAMP, 0)),
            None if key is None else line[at:end].encode(),
            None if value == "null" else value.encode(),
        )

    def _behind_separator(self, line: str, at: int) -> int:
        if not line.startswith(self._separator, at):
            raise Unreadable(f"lacks the separator {self._separator!r} of the first line")
        return at + len(self._separator)


def _key(line: str, at: int) -> tuple[Any, int]:
    """The key, which is read as a JSON value, because the separator may occur in it; and where it ends."""
    try:
        return _DECODER.raw_decode(line, at)
    except (ValueError, RecursionError):
        raise Unreadable("has no JSON key") from None


def _next_part(line: str, at: int) -> int:
    """Return the start of the next part of the first line, or of its key; the separator is before it."""
    part = _NEXT.search(line, at)
    return part.start() if part else at
