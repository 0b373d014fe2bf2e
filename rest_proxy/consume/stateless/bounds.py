"""Where a read begins, and where it ends."""

from __future__ import annotations

from typing import NamedTuple


class OutOfRange(Exception):
    """There is no record at an offset: it was deleted, or is behind the end of the log."""

    def __init__(self, partition: int, offset: int) -> None:
        super().__init__()
        self.partition = partition
        self.offset = offset


class Bounds(NamedTuple):
    """How much a read returns at the most.

    Attributes:
        records: The number of records.
        bytes: Their size; one record comes even if it is larger.
        wait_ms: How long to wait if there are none.
        is_committed: Whether records of aborted and open transactions are left out.
    """

    records: int
    bytes: int
    wait_ms: int = 0
    is_committed: bool = False
