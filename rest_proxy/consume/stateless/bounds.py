"""The start and the end of a read."""

from __future__ import annotations

from typing import NamedTuple


class OutOfRange(Exception):
    """There is no record at an offset: it was deleted, or the offset is beyond the end of the log."""

    def __init__(self, partition: int, offset: int) -> None:
        super().__init__()
        self.partition = partition
        self.offset = offset


class Bounds(NamedTuple):
    """The limits of what a read returns.

    Attributes:
        records: The number of records.
        bytes: Their total size; one record is returned even if it is larger.
        wait_ms: How long to wait if there are none.
        is_committed: Whether records of aborted and open transactions are left out.
        client: The client for which the read counts: the principal, or an address if nobody signs in.
    """

    records: int
    bytes: int
    wait_ms: int = 0
    is_committed: bool = False
    client: str = ""
