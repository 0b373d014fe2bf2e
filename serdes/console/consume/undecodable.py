"""What is said of a record that has no text."""

from __future__ import annotations

from dataclasses import dataclass

from serdes.error import SerdesError

#: So many bytes are shown.
_PREVIEW = 32


@dataclass(unsafe_hash=True)
class Undecodable(SerdesError):
    """A record whose key or value has no text: which, why, and how the bytes begin."""

    part: str
    reason: str
    data: bytes
    schema_id: int | None = None

    def __str__(self) -> str:
        more = " ..." if len(self.data) > _PREVIEW else ""
        return f"{self.part}: {self.reason}; bytes: {self.data[:_PREVIEW].hex(' ')}{more}"
