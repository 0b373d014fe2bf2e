"""The log port: an ordered sequence of key/value records, which is all that the registry stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

#: A place in the log; grows from record to record, not always by one.
Offset = int

#: The offset before the first record.
BEGINNING: Offset = -1


class Record(Struct, frozen=True, gc=False):
    """A record to append.

    Attributes:
        key: The key's bytes.
        value: The value's bytes; None for a tombstone.
        timestamp: In ms since the epoch.
        decoded: What key and value say, if the writer has it at hand. A log does not keep it.
    """

    key: bytes
    value: bytes | None
    timestamp: int
    decoded: Any = None


class LogEntry(Struct, frozen=True, gc=False):
    """A record as it stands in the log."""

    offset: Offset
    key: bytes | None
    value: bytes | None
    timestamp: int


class LogError(Exception):
    """The log can't be read or written now; nothing of the append that raised it is in the log."""


class WriteConflict(LogError):
    """The log has grown beyond the offset that the append was made for."""


class OutcomeUnknown(LogError):
    """The append may or may not have happened; reading the log will tell."""


class NotLeader(LogError):
    """This node may not write the log now."""


class LeadershipLost(NotLeader):
    """This node may not write any more, and nobody can tell whether the append that found it out happened."""


class LogReplaced(LogError):
    """The log is not the one that was read: it was deleted, made anew, or has lost records that were in it."""


class RecordTooLarge(LogError):
    """A record is larger than the log takes."""


class Log(Protocol):
    """Where the registry's records are kept."""

    #: The largest sum of a record's key and value, in bytes.
    max_record_bytes: int

    @property
    def log_id(self) -> str:
        """An id that this log keeps, and that no other log has; it holds no colon and no comma."""

    def append(self, records: Sequence[Record], after: Offset, epoch: int = 0, /) -> Offset:
        """Append all the records or none, and keep them through a crash.

        Args:
            records: At least one.
            after: The last offset that the caller has read.
            epoch: The leader epoch in which the records were decided. A log that any node may append to has no leader
                and takes no notice.

        Returns:
            The offset of the last of them; they stand at consecutive offsets.

        Raises:
            WriteConflict: There are records after `after` that the caller has not read.
            NotLeader: This node may not write, or not in that epoch any more.
            OutcomeUnknown: Nobody can tell yet whether they were written.
            LogError: They were not written.
        """

    def read(self, after: Offset) -> Iterator[LogEntry]:
        """The committed entries after an offset, to the log's present end, in order.

        Raises:
            LogError: The log can't be read.
        """

    def end(self) -> Offset:
        """The offset of the last committed entry, or `BEGINNING`.

        Raises:
            LogError: The log can't be asked.
        """

    def close(self) -> None:
        """Let go of files and connections."""
