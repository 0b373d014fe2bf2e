"""The last entries that a view has applied, for readers that follow the changes."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from registry.log.port import BEGINNING, Offset
from registry.state import records
from registry.state.model import Version
from registry.state.records import Key

#: How many recent entries a view keeps.
RECENT_ENTRIES = 5000


class Applied(NamedTuple):
    """An entry of the log without its schema text, which the version keeps."""

    offset: Offset
    key: Key
    value: dict[str, Any] | None
    timestamp: int


class RecentEntries(deque[Applied]):
    """The last entries, oldest first; the committer adds them while other threads read."""

    def __init__(self) -> None:
        super().__init__(maxlen=RECENT_ENTRIES)
        #: The offset up to which compaction may have removed entries before they were read.
        self.compacted_until: Offset = BEGINNING

    def note(self, version: Version, offset: Offset) -> None:
        """Add the entry of a version."""
        key = Key(records.SCHEMA, version.subject, version.number)
        self.append(Applied(offset, key, _summary(version), version.timestamp))

    def after(self, offset: Offset, *, compacted: bool = False) -> list[Applied] | None:
        """The entries applied after an offset; None if they are not all at hand.

        Args:
            offset: The offset.
            compacted: Accept that compaction has removed entries whose keys were written again later.
        """
        # Followers ask for the last few of thousands, and there may be thousands of followers.
        entries = []
        try:
            for entry in reversed(self):
                if entry.offset <= offset:
                    break
                entries.append(entry)
            entries.reverse()
        except RuntimeError:  # the committer has just added one
            entries = [entry for entry in list(self) if entry.offset > offset]
        # Entries that have been dropped meanwhile are noticed here.
        first = self[0].offset - 1 if len(self) == RECENT_ENTRIES else BEGINNING
        if offset < first or (offset < self.compacted_until and not compacted):
            return None
        return entries


def _summary(version: Version) -> dict[str, Any]:
    """A version's id, type and state, without its content."""
    return {"id": version.schema_id, "schemaType": version.schema_type, "deleted": version.deleted}
