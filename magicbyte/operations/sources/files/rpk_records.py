"""The output of Redpanda's `rpk topic consume` for a registry's topic: a JSON object for each record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.json_stream import JsonStream
from magicbyte.operations.sources.files.record_file import RecordFile
from magicbyte.operations.sources.port import Headers, RawRecord

_NEEDED = frozenset({"topic", "partition", "offset"})
_REPLACED = "\ufffd"


def is_rpk_records(head: bytes) -> bool:
    """Tell whether a file begins with the object of a record; one that is longer than the head is told by its topic."""
    text = head.decode(errors="replace").lstrip()
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return text.translate({ord(space): None for space in " \t\r\n"}).startswith('{"topic":"')
    return isinstance(value, dict) and value.keys() >= _NEEDED


class RpkRecords(RecordFile):
    """Records as `rpk topic consume` prints them; a cut within a record is noticed.

    Redpanda puts into a key the offset that its record should get (`seq`), and the node. If another node was faster,
    the record is void: Redpanda applies a record with a value only if its offset is its `seq`. Other registries would
    apply it, so void records are left out.
    """

    vendor = "redpanda"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        #: What the last reading found: records that are void, and those whose bytes rpk could not print.
        self._seen: Counter[str] = Counter()
        self._is_read = False

    def parsed(self) -> Iterator[RawRecord]:
        """Yield all records, with those that are void."""
        self._seen.clear()
        last, topic = -1, None
        with self.path.open("rb") as file:
            stream = JsonStream(file)
            number = 0
            while stream.peek():
                value = stream.value()
                record = _record(value, number)
                topic = topic or value["topic"]
                if value["topic"] != topic or value["partition"] != 0:
                    raise Unreadable(f"record {number} is of another topic or partition; a registry's topic has one")
                if record.offset <= last:
                    raise Unreadable(f"record {number} has offset {record.offset}, which comes after {last}")
                last = record.offset
                number += 1
                self._seen["replaced"] += _REPLACED in f"{value.get('key')}{value.get('value')}"
                self._seen["void"] += not self.counts(record)
                yield record
        self._is_read = True

    def counts(self, record: RawRecord, /) -> bool:
        """Tell whether Redpanda would apply a record: a tombstone has the key of the record that it deletes."""
        sequence = _sequence(record.key)
        return record.value is None or sequence is None or sequence == record.offset

    def notes(self) -> tuple[str, ...]:
        """The limits of the form, and remarks from reading the file; see `RawSource.notes`."""
        if not self._is_read:
            for _ in self._guarded():
                pass
        notes = [
            "records of rpk have no checksum: neither changed text nor a cut between two records is noticed",
            "an empty value cannot be told from none: both are read as tombstones",
        ]
        if count := self._seen["void"]:
            notes.append(f"records left out that Redpanda does not apply, as their offset is not their seq: {count}")
        if count := self._seen["replaced"]:
            notes.append(f"records with bytes that are not UTF-8, which rpk does not print as they are: {count}")
        return tuple(notes)


def _record(value: Any, number: int) -> RawRecord:
    if not isinstance(value, dict) or not value.keys() >= _NEEDED:
        raise Unreadable(f"record {number} is no object with {', '.join(sorted(_NEEDED))}")
    if value.get("value_size") and value.get("value") is None:
        raise Unreadable(f"record {number} has no value: it was printed with --meta-only")
    numbers = [value["offset"], value["partition"], value.get("timestamp", 0)]
    if any(type(one) is not int or not 0 <= one < 2**63 for one in numbers):
        raise Unreadable(f"record {number} has an offset, a partition or a timestamp that is no such number")
    headers = value.get("headers") or []
    if not isinstance(headers, list) or not all(isinstance(header, dict) for header in headers):
        raise Unreadable(f"record {number} has headers that are no list of objects")
    return RawRecord(
        value["offset"],
        numbers[2],
        _bytes(value.get("key"), number),
        _bytes(value.get("value"), number),
        _headers(headers, number),
    )


def _headers(headers: list[dict[str, Any]], number: int) -> Headers:
    return tuple((str(header.get("key", "")), _bytes(header.get("value"), number)) for header in headers)


def _bytes(text: object, number: int) -> bytes | None:
    if text is None or text == "":
        return None
    if not isinstance(text, str):
        raise Unreadable(f"record {number} has a key, a value or a header that is no text")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Unreadable(f"record {number} has half of a surrogate pair") from None


def _sequence(key: bytes | None) -> int | None:
    """The offset that a key of Redpanda names; None if it names none."""
    try:
        value = orjson.loads(key or b"")
    except orjson.JSONDecodeError:
        return None
    sequence = value.get("seq") if isinstance(value, dict) else None
    return sequence if type(sequence) is int else None
