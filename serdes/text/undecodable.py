"""The error for a record that cannot be decoded."""

from __future__ import annotations

from dataclasses import dataclass

from serdes.error import SerdesError

#: The number of bytes that the error shows.
_PREVIEW = 32


@dataclass(unsafe_hash=True)
class Undecodable(SerdesError):
    """A record whose key or value cannot be decoded: which of them, why, and its bytes."""

    part: str
    reason: str
    data: bytes
    schema_id: int | None = None

    def __str__(self) -> str:
        more = " ..." if len(self.data) > _PREVIEW else ""
        return f"{self.part}: {self.reason}; bytes: {self.data[:_PREVIEW].hex(' ')}{more}"
