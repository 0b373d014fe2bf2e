"""The route /events: the change feed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import orjson
from starlette.responses import Response

from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.held_stream import HeldStream
from magicbyte.http.routing.request import Request
from registry.access.rights import Rights
from registry.errors import TOO_MANY_FOLLOWERS
from registry.feed.changes import Change, TooOld, changes_since
from registry.http.parameters import LastEventId, SubjectPrefix
from registry.http.request import prefix_of, registry_of, rights_of

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard
    from registry.service import Registry

_HEARTBEAT_SECONDS = 15.0
#: How often a follower's credentials and rights are checked while nothing changes, in seconds.
_CHECK_SECONDS = 1.0


async def follow_changes(request: Request, *, asked: LastEventId = None, prefix: SubjectPrefix = "") -> Response:
    """Extension: changes as server-sent events; the id of an event is its offset in the log."""
    registry = registry_of(request)
    if asked is not None and not re.fullmatch(r"\s*-?[0-9]{1,18}\s*", asked):
        raise MALFORMED_BODY(detail=f"Last-Event-ID must be an offset, not {asked!r}")
    after = registry.view.offset if asked is None else int(asked)
    rights = rights_of(request)
    may_see = None if rights is None else partial(_may_see, rights)
    guard: Guard | None = request.app.state.guard
    goes_on = None if guard is None else partial(_goes_on, guard, request, rights)
    if not registry.followers.take(registry.client):
        raise TOO_MANY_FOLLOWERS(limit=registry.followers.most)
    events = _events(registry, after, prefix_of(request, prefix), may_see, goes_on)
    return HeldStream(
        events,
        partial(registry.followers.give_back, registry.client),
        headers={"Cache-Control": "no-store"},
        media_type="text/event-stream",
    )


async def _goes_on(guard: Guard, request: Request, rights: Rights | None) -> bool:
    """Tell whether the follower is still signed in and may still see some change."""
    if not await guard.is_still_good(request.principal, request.scope):
        return False
    if rights is None:
        return True
    now = rights.now()
    return now.may_some("READ") or now.may_some("DESCRIBE_CONFIGS")


def _may_see(rights: Rights, change: Change) -> bool:
    """Tell whether the follower may now see a change of settings, or of a subject's schemas."""
    operation = "DESCRIBE_CONFIGS" if change.kind.startswith(("config.", "mode.")) else "READ"
    return rights.now().may(operation, change.subject)


async def _events(
    registry: Registry,
    after: int,
    prefix: str,
    may_see: Callable[[Change], bool] | None,
    goes_on: Callable[[], Awaitable[bool]] | None,
) -> AsyncIterator[bytes]:
    yield b": following\n\n"
    seconds = _HEARTBEAT_SECONDS if goes_on is None else _CHECK_SECONDS
    silent_since = monotonic()
    while not registry.stopping.is_set() and (goes_on is None or await goes_on()):
        view = registry.node.view
        end = view.offset
        if end > after:
            try:
                changes: Sequence[Change] = [
                    change for change in changes_since(view, after, prefix) if change.offset <= end
                ]
            except TooOld as error:
                changes = ()
                yield _event(end, "reset", {"reason": str(error), "offset": end})
            for change in filter(may_see, changes) if may_see is not None else changes:
                yield _event(change.offset, change.kind, change.to_json())
            after, silent_since = end, monotonic()
        await registry.growth.wait(after, seconds)
        if monotonic() - silent_since >= _HEARTBEAT_SECONDS:
            # Each side learns that the other is still connected.
            yield b": still here\n\n"
            silent_since = monotonic()


def _event(offset: int, kind: str, data: dict[str, Any]) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (offset, kind.encode(), orjson.dumps(data))
