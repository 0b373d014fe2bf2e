"""The change feed as texts: encoded once for followers that see the same, in parts, and with cursors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from registry.feed.change_feed import EVERYTHING, ChangeFeed, Follower
from registry.feed.changes import Change
from registry.log.port import LogEntry
from registry.state import records
from registry.state.records import Key
from registry.state.view import RECENT_ENTRIES, View


def feed_of(count: int) -> ChangeFeed:
    view = View()
    for offset in range(count):
        key = Key(records.MODE, f"s{offset}")
        view.apply(LogEntry(offset, records.encode_key(key), records.encode_mode(key, "READONLY"), 5))
    return ChangeFeed(cast("Any", SimpleNamespace(view=view)))


def follower(sees: str, asked: list[int]) -> Follower:
    """A follower of every second change, which gets letters for offsets; `asked` gets the offsets it is asked for."""

    def may_see(change: Change) -> bool:
        asked.append(change.offset)
        return change.offset % 2 == 0

    return Follower(sees, may_see, lambda offset: "~" + chr(97 + offset), may_name_offsets=False)


def test_the_feed_encodes_a_change_once_for_clients_with_the_same_rights() -> None:
    feed = feed_of(4)
    asked: list[int] = []
    texts = [b"".join(feed.since(0, 3, "", follower(sees, asked))) for sees in ("a", "a", "b", "a")]
    assert asked == [1, 2, 3] * 2
    assert set(texts) == {
        b"id: ~c\nevent: mode.updated\n"
        b'data: {"offset":"~c","type":"mode.updated","subject":"s2","mode":"READONLY","ts":5}\n\n'
    }
    assert b"".join(feed.since(2, 3, "", EVERYTHING)) == (
        b"id: 3\nevent: mode.updated\n"
        b'data: {"offset":3,"type":"mode.updated","subject":"s3","mode":"READONLY","ts":5}\n\n'
    )
    assert list(feed.since(0, 1, "", follower("a", asked))) == []
    assert list(feed.since(0, 1, "", follower("a", asked))) == []


def test_the_feed_forgets_the_changes_of_a_replaced_view() -> None:
    feed = feed_of(1)
    assert list(feed.since(-1, 0, "", EVERYTHING)) != []
    cast("Any", feed)._node.view = View()
    assert list(feed.since(-1, 0, "", EVERYTHING)) == []


def test_many_changes_come_in_parts() -> None:
    parts = list(feed_of(2000).since(-1, 1999, "", EVERYTHING))
    assert len(parts) == 4
    assert all(60_000 < len(part) <= 65_536 for part in parts[:-1])
    assert b"".join(parts).count(b"\n\n") == 2000


@pytest.mark.parametrize(
    ("after", "sees", "event"),
    [
        (None, "everything", {"reason": "the id of the last event is not known here", "offset": 5004}),
        (0, "everything", {"reason": "changes soon after offset 0 are no longer at hand", "offset": 5004}),
        (0, "something", {"reason": "the changes since then are no longer at hand", "offset": "~5004"}),
    ],
)
def test_a_follower_that_cannot_continue_gets_a_reset(after: int | None, sees: str, event: dict[str, Any]) -> None:
    feed = feed_of(RECENT_ENTRIES + 5)
    something = Follower("something", lambda _change: True, lambda offset: f"~{offset}", may_name_offsets=False)
    (text,) = feed.since(after, 5004, "", EVERYTHING if sees == "everything" else something)
    identity, kind, data = text.decode().strip().split("\n")
    assert (identity, kind) == (f"id: {event['offset']}", "event: reset")
    assert orjson.loads(data.removeprefix("data: ")) == event
