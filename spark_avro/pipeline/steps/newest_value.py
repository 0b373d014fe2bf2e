"""The operator of a join with a compacted topic, in Python workers: the newest value of each key, and waiting rows.

Keys and rows are bytes here, so pandas cannot change a value. Keys are divided into buckets, and Spark calls the
operator once for each bucket of a batch: it sends a batch of Arrow for each call.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

#: The number of buckets; the state depends on it.
BUCKETS = 256
#: The columns that the operator gets.
INPUT = ("bucket", "join_key", "is_table", "partition", "offset", "millis", "payload")
#: The columns that it returns: a row of the stream, and the newest value of its key.
OUTPUT = "row binary, found binary, is_matched boolean"

_VALUES = "is_set boolean, partition int, offset bigint, millis bigint, payload binary, waiting binary"
_HEAD = struct.Struct(">qI")


@dataclass(frozen=True, slots=True)
class Newest:
    """The state of a key.

    Attributes:
        payload: The newest value; None if the key has none.
        partition: The partition of its record.
        offset: The offset of its record.
        millis: The greatest timestamp of the key's records in that partition.
        waiting: The rows that wait for a value, with the time in milliseconds until which they do.
    """

    payload: bytes | None = None
    partition: int = -1
    offset: int = -1
    millis: int = -1
    waiting: tuple[tuple[int, bytes], ...] = ()

    def after(self, partition: int, offset: int, millis: int, payload: bytes | None) -> Newest:
        """The state after a record of the topic.

        Of two records of one partition, the one with the greater offset is newer. A key is in several partitions only
        if some were added: then the partition with the greatest timestamp has the newest record.
        """
        if partition == self.partition:
            if offset <= self.offset:
                return self
            return replace(self, payload=payload, offset=offset, millis=max(millis, self.millis))
        if (millis, partition) <= (self.millis, self.partition):
            return self
        return replace(self, payload=payload, partition=partition, offset=offset, millis=millis)


#: A row of the stream, the newest value of its key, and whether there is one.
_Output = tuple[bytes, bytes | None, bool]


@dataclass(slots=True)
class _Rows:
    """The rows of a key in a batch."""

    records: list[tuple[int, int, int, bytes | None]] = field(default_factory=list)
    rows: list[bytes] = field(default_factory=list)


class NewestValue:
    """Spark's interface of an operator with state; see `pyspark.sql.streaming.StatefulProcessor`.

    Args:
        wait: How long a row waits for its key, in milliseconds of the batches' times; None if rows do not wait.
    """

    def __init__(self, wait: int | None) -> None:
        self._wait = wait

    def init(self, handle: Any) -> None:
        """Open the state."""
        self._handle = handle
        self._values = handle.getMapState("values", "join_key binary", _VALUES)
        if self._wait is not None:
            self._due = handle.getMapState("due", "millis bigint", "join_keys binary")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803 - Spark's name
    ) -> Iterator[pd.DataFrame]:
        """Take the rows of a bucket: first all records of the topic, then the rows of the stream."""
        del key
        output: list[_Output] = []
        by_key = _by_key(rows, output)
        until = None if self._wait is None else timerValues.getCurrentProcessingTimeInMs() + self._wait
        waiting: list[bytes] = []
        for own, batch in by_key.items():
            before = self._read(own)
            newest = before
            for record in sorted(batch.records, key=lambda item: item[:2]):
                newest = newest.after(*record)
            if newest.payload is not None:
                output += [(row, newest.payload, True) for _, row in newest.waiting]
                output += [(row, newest.payload, True) for row in batch.rows]
                newest = replace(newest, waiting=())
            elif until is None:
                output += [(row, None, False) for row in batch.rows]
            elif batch.rows:
                newest = replace(newest, waiting=(*newest.waiting, *((until, row) for row in batch.rows)))
                waiting.append(own)
            self._write(own, before, newest)
        if until is not None and waiting:
            self._handle.registerTimer(until)
            entry = self._due.getValue((until,))
            self._due.updateValue((until,), ((entry[0] if entry else b"") + _joined(waiting),))
        yield from _frames(output)

    def handleExpiredTimer(  # noqa: N802 - Spark's name
        self,
        key: Any,
        timerValues: Any,  # noqa: N803 - Spark's name
        expiredTimerInfo: Any,  # noqa: N803 - Spark's name
    ) -> Iterator[pd.DataFrame]:
        """Return the rows of a bucket that have waited long enough."""
        del key, timerValues
        until = expiredTimerInfo.getExpiryTimeInMs()
        entry = self._due.getValue((until,))
        output: list[_Output] = []
        for own in _divided(bytes(entry[0])) if entry else ():
            before = self._read(own)
            output += [(row, None, False) for end, row in before.waiting if end <= until]
            self._write(own, before, replace(before, waiting=tuple(item for item in before.waiting if item[0] > until)))
        if entry:
            self._due.removeKey((until,))
        yield from _frames(output)

    def close(self) -> None:
        """There is nothing to close."""

    def _read(self, own: bytes) -> Newest:
        value = self._values.getValue((own,))
        if value is None:
            return Newest()
        is_set, partition, offset, millis, payload, waiting = value
        rows = () if waiting is None else tuple(_timed(bytes(waiting)))
        return Newest(bytes(payload) if is_set else None, partition, offset, millis, rows)

    def _write(self, own: bytes, before: Newest, after: Newest) -> None:
        if after == before:
            return
        if after.payload is None and not after.waiting:
            if before.payload is not None or before.waiting:
                self._values.removeKey((own,))
            return
        waiting = b"".join(_HEAD.pack(end, len(row)) + row for end, row in after.waiting) or None
        is_set = after.payload is not None
        self._values.updateValue(
            (own,), (is_set, after.partition, after.offset, after.millis, after.payload or b"", waiting)
        )


def _by_key(rows: Iterator[pd.DataFrame], output: list[_Output]) -> dict[bytes, _Rows]:
    """The rows of each key; rows whose key is NULL are added to the output, since NULL equals nothing."""
    by_key: dict[bytes, _Rows] = {}
    for frame in rows:
        for own, is_table, *place, payload in zip(*(frame[name] for name in INPUT[1:]), strict=True):
            if own is None:
                output.append((bytes(payload), None, False))
            elif is_table:
                partition, offset, millis = map(int, place)
                record = (partition, offset, millis, None if payload is None else bytes(payload))
                by_key.setdefault(bytes(own), _Rows()).records.append(record)
            else:
                by_key.setdefault(bytes(own), _Rows()).rows.append(bytes(payload))
    return by_key


def _frames(output: list[_Output]) -> Iterator[pd.DataFrame]:
    if output:
        rows, found, matched = zip(*output, strict=True)
        yield pd.DataFrame(
            {
                "row": pd.Series(rows, dtype=object),
                "found": pd.Series(found, dtype=object),
                "is_matched": pd.Series(matched, dtype=bool),
            }
        )


def _timed(packed: bytes) -> Iterator[tuple[int, bytes]]:
    """The rows that wait, with the time until which they do."""
    place = 0
    while place < len(packed):
        end, size = _HEAD.unpack_from(packed, place)
        place += _HEAD.size
        yield end, packed[place : place + size]
        place += size


def _joined(keys: Iterable[bytes]) -> bytes:
    return b"".join(len(own).to_bytes(4, "big") + own for own in keys)


def _divided(packed: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(packed):
        size = int.from_bytes(packed[place : place + 4], "big")
        yield packed[place + 4 : place + 4 + size]
        place += 4 + size
