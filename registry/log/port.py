"""The log port: an ordered sequence of key/value records, in which the registry stores its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

#: A position in the log; it grows from record to record, not always by one.
Offset = int

#: The offset before the first record.
BEGINNING: Offset = -1


class Record(Struct, frozen=True, gc=False):
    """A record to append.

    Attributes:
        key: The encoded key.
        value: The encoded value; None for a tombstone.
        timestamp: In ms since the epoch.
        decoded: The decoded key and value, if the writer has them. A log does not store it.
    """

    key: bytes
    value: bytes | None
    timestamp: int
    decoded: Any = None


class LogEntry(Struct, frozen=True, gc=False):
    """A record in the log."""

    offset: Offset
    key: bytes | None
    value: bytes | None
    timestamp: int


class LogError(Exception):
    """The log can't be read or written now; if an append raises it, none of its records are in the log."""


class WriteConflict(LogError):
    """The log has grown: there are records that the writer has not read."""


class OutcomeUnknown(LogError):
    """The append may or may not have happened; reading the log shows which."""


class NotLeader(LogError):
    """The node may not write the log now."""


class LeadershipGivenUp(NotLeader):
    """The node has stepped down, and will not lead again soon: waiting for that makes no sense."""


class LeadershipLost(NotLeader):
    """The node may not write any more, and the append that raised this error may or may not have happened."""


class LogReplaced(LogError):
    """The log is not the one that was read: it was deleted or recreated, or has lost records."""


class HistoryLost(LogError):
    """Deletions after the last offset that was read may be gone; read from `BEGINNING` into an empty view."""


class RecordTooLarge(LogError):
    """A record is larger than the log accepts."""


class Log(Protocol):
    """The storage of the registry's records."""

    #: The largest sum of a record's key and value, in bytes.
    max_record_bytes: int

    @property
    def log_id(self) -> str:
        """The permanent, unique id of this log, without colons and commas."""

    def append(self, records: Sequence[Record], after: Offset, epoch: int = 0, /) -> Offset:
        """Append all records or none, and make them durable.

        Args:
            records: At least one.
            after: The last offset that the caller has read.
            epoch: The leader epoch in which the records were decided. A log that any node may append to has no leader
                and ignores it.

        Returns:
            The offset of the last record; the offsets of the records are consecutive.

        Raises:
            WriteConflict: There are records after `after` that the caller has not read.
            NotLeader: This node may not write, or not in that epoch any more.
            OutcomeUnknown: The records may or may not be written.
            LogError: The records were not written.
        """

    def read(self, after: Offset) -> Iterator[LogEntry]:
        """The committed entries after an offset, up to the log's current end, in order.

        Raises:
            HistoryLost: The log may have lost deletions after the offset.
            LogError: The log can't be read.
        """

    def end(self) -> Offset:
        """The offset of the last committed entry, or `BEGINNING`.

        Raises:
            LogError: The log can't be read.
        """

    def close(self) -> None:
        """Close files and connections."""
