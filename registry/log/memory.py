"""A log in memory, for tests and checks; it is lost when the process ends."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Sequence

from registry.log.port import BEGINNING, LogEntry, Offset, Record, WriteConflict


class MemoryLog:
    """A list of entries behind a lock."""

    max_record_bytes = 64 * 1024 * 1024

    def __init__(self) -> None:
        self.log_id = uuid.uuid4().hex
        self._entries: list[LogEntry] = []
        self._lock = threading.Lock()

    def append(self, records: Sequence[Record], after: Offset, _epoch: int = 0, /) -> Offset:
        """Append all the records; see `Log.append`."""
        with self._lock:
            if len(self._entries) - 1 != after:
                raise WriteConflict(f"the log ends at {len(self._entries) - 1}, not at {after}")
            first = len(self._entries)
            self._entries.extend(
                LogEntry(first + index, record.key, _fitted(record.value), record.timestamp)
                for index, record in enumerate(records)
            )
            return len(self._entries) - 1

    def read(self, after: Offset) -> Iterator[LogEntry]:
        """The entries after an offset; see `Log.read`."""
        return iter(self._entries[after + 1 :])

    def end(self) -> Offset:
        """The offset of the last entry; see `Log.end`."""
        return len(self._entries) - 1 if self._entries else BEGINNING

    def close(self) -> None:
        """Do nothing: the entries stay, so that another registry can be opened on this log."""


def _fitted(value: bytes | None) -> bytes | None:
    """A copy of a value in memory of its size.

    orjson reserves eight times the size of a text, and what is left beside a value that is kept cannot be used for the
    next one.
    """
    return None if value is None else bytes(memoryview(value))
