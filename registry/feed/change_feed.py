"""The change feed as server-sent events, encoded once for all followers that see the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from cachetools import FIFOCache

from registry.feed.changes import Change, TooOld, iterate_changes
from registry.state.view import View

if TYPE_CHECKING:
    from registry.cluster.node import Node

#: How many texts are kept, and how long a part of them is, in bytes.
_MOST_KEPT, _PART_BYTES = 64, 64 << 10


@dataclass(frozen=True, slots=True)
class Follower:
    """A follower's view of the changes.

    Attributes:
        sees: A key that is equal for followers that see the same.
        may_see: Tells whether it may see a change.
        cursor: Returns what stands for an offset.
        may_name_offsets: Whether texts may name offsets.
    """

    sees: Hashable
    may_see: Callable[[Change], bool]
    cursor: Callable[[int], int | str]
    may_name_offsets: bool


#: A follower where nobody needs a right.
EVERYTHING = Follower(None, lambda _change: True, lambda offset: offset, may_name_offsets=True)


class ChangeFeed:
    """The changes of a node's view as texts of events; used on one event loop."""

    def __init__(self, node: Node) -> None:
        """Begin without texts.

        Args:
            node: The node.
        """
        self._node = node
        self._view: View | None = None
        self._texts: FIFOCache[Hashable, bytes] = FIFOCache(_MOST_KEPT)

    def since(self, after: int | None, end: int, prefix: str, follower: Follower) -> Iterable[bytes]:
        """The events after an offset up to another one, in parts; a reset if they are not all at hand.

        Args:
            after: The first offset; None if the follower's is not known.
            end: The last offset.
            prefix: The prefix of the subjects.
            follower: Who reads them.
        """
        view = self._node.view
        if view is not self._view:
            self._view = view
            self._texts.clear()
        key = (after, end, prefix, follower.sees)
        text = self._texts.get(key)
        if text is not None:
            return (text,) if text else ()
        return self._encoded(key, _events(view, after, end, prefix, follower))

    def _encoded(self, key: Hashable, events: Iterable[bytes]) -> Iterator[bytes]:
        """Join events to parts; a single part is kept. A follower that does not read holds one part, not all events."""
        parts, size, is_single = list[bytes](), 0, True
        for event in events:
            if size + len(event) > _PART_BYTES and parts:
                yield b"".join(parts)
                parts, size, is_single = [], 0, False
            parts.append(event)
            size += len(event)
        text = b"".join(parts)
        if is_single:
            self._texts[key] = text
        if text:
            yield text


def _events(view: View, after: int | None, end: int, prefix: str, follower: Follower) -> Iterable[bytes]:
    changes: Iterable[Change] = ()
    reason = None
    if after is None:
        reason = "the id of the last event is not known here"
    else:
        try:
            changes = iterate_changes(view, after, prefix)
        except TooOld as error:
            reason = str(error) if follower.may_name_offsets else "the changes since then are no longer at hand"
    if reason is not None:
        place = follower.cursor(end)
        yield _event(place, "reset", {"reason": reason, "offset": place})
    for change in changes:
        if change.offset <= end and follower.may_see(change):
            place = follower.cursor(change.offset)
            yield _event(place, change.kind, {**change.to_json(), "offset": place})


def _event(cursor: int | str, kind: str, data: dict[str, Any]) -> bytes:
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (str(cursor).encode(), kind.encode(), orjson.dumps(data))
