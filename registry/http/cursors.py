"""Cursors: places in the log, as clients get them from `/overview` and `/events` and send them as `Last-Event-ID`."""

from __future__ import annotations

import re
import threading
from collections.abc import Hashable

from cachetools import LRUCache

from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.request import Request
from registry.access.rights import Rights
from registry.http.request import rights_of
from registry.http.sealed_offsets import OffsetSeal

_NUMBER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_SEALED = re.compile(r"~([0-9a-f]{48})")


class Cursors:
    """The cursors of one client: offsets, or sealed offsets if it may not know the log's.

    An offset tells how much is written to subjects that the client may not see.
    """

    def __init__(self, seal: OffsetSeal | None, rights: Rights | None) -> None:
        """Decide by the rights in force.

        Args:
            seal: Seals offsets; None if every client may know them.
            rights: The client's rights; None if there are no rules.
        """
        self._seal = seal
        self._seal_used = None if seal is None or rights is None or rights.may("DESCRIBE", None) else seal

    @property
    def are_sealed(self) -> bool:
        """Whether the client may not know the log's offsets."""
        return self._seal_used is not None

    def of(self, offset: int) -> int | str:
        """The cursor of an offset."""
        return offset if self._seal_used is None else f"~{self._seal_used.seal_alike(offset)}"

    def offset_in(self, cursor: str) -> int | None:
        """The offset of a cursor that a client sends; None if nobody gave this cursor to a client like this one.

        A client that may not know offsets may not send any but negative ones, which mean the beginning: what it then
        gets, and does not get, would tell where the log ends.

        Raises:
            ApiError: 400 if it is no cursor.
        """
        cursor = cursor.strip()
        if _NUMBER.fullmatch(cursor):
            offset = int(cursor)
            return None if self.are_sealed and offset >= 0 else offset
        sealed = _SEALED.fullmatch(cursor)
        if sealed is None:
            raise MALFORMED_BODY(detail=f"Last-Event-ID must be an offset or the id of an event, not {cursor!r}")
        return None if self._seal is None else self._seal.open(sealed[1])


def cursors_of(request: Request) -> Cursors:
    """The cursors of the sender of a request."""
    return Cursors(request.app.state.offset_seal, rights_of(request))


class SteadyCursors:
    """Cursors that stay the same as long as their reader sees the same; safe for several threads.

    A new cursor would tell that something was written which the reader may not see.
    """

    def __init__(self, most: int = 1000) -> None:
        """Begin without cursors.

        Args:
            most: How many cursors are remembered.
        """
        self._cursors: LRUCache[Hashable, tuple[bytes, int | str]] = LRUCache(most)
        self._lock = threading.Lock()

    def of(self, reader: Hashable, seen: bytes, cursor: int | str) -> int | str:
        """Return the cursor that the reader had when it last saw the same, or else the new one.

        Args:
            reader: Who reads, and what.
            seen: A digest of what it sees.
            cursor: The new cursor.
        """
        with self._lock:
            last_seen, last = self._cursors.get(reader, (b"", cursor))
            current = last if last_seen == seen else cursor
            self._cursors[reader] = (seen, current)
        return current
