"""The route /events: the change feed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from starlette.responses import Response

from magicbyte.http.held_stream import HeldStream
from magicbyte.http.routing.request import Request
from registry.access.rights import Rights
from registry.errors import TOO_MANY_FOLLOWERS
from registry.feed.change_feed import EVERYTHING, Follower
from registry.feed.changes import Change
from registry.http.cursors import Cursors, cursors_of
from registry.http.parameters import LastEventId, SubjectPrefix
from registry.http.request import prefix_of, registry_of, rights_of

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard
    from registry.http.sealed_offsets import OffsetSeal
    from registry.service import Registry

_HEARTBEAT_SECONDS = 15.0
#: How often a follower's credentials and rights are checked while nothing changes, in seconds.
_CHECK_SECONDS = 1.0


async def follow_changes(request: Request, *, asked: LastEventId = None, prefix: SubjectPrefix = "") -> Response:
    """Extension: changes as server-sent events; an event's id is its offset, sealed for who may not know the log's."""
    registry = registry_of(request)
    rights = rights_of(request)
    after = registry.view.offset if asked is None else cursors_of(request).offset_in(asked)
    follower = partial(_follower, request.app.state.offset_seal, rights)
    guard: Guard | None = request.app.state.guard
    goes_on = None if guard is None else partial(_goes_on, guard, request, rights)
    if not registry.followers.take(registry.client):
        raise TOO_MANY_FOLLOWERS(limit=registry.followers.most)
    return HeldStream(
        _events(registry, after, prefix_of(request, prefix), follower, goes_on),
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


def _follower(seal: OffsetSeal | None, rights: Rights | None) -> Follower:
    """Return the client's view of the changes, by the access rules now in force."""
    if rights is None:
        return EVERYTHING
    now = rights.now()
    cursors = Cursors(seal, now)
    # Much that is read slowly is decided event by event, so by the rules of that moment.
    return Follower(now.stamp, partial(_may_see, rights), cursors.of, may_name_offsets=not cursors.are_sealed)


def _may_see(rights: Rights, change: Change) -> bool:
    """Tell whether a client may now see a change of settings, or of a subject's schemas."""
    operation = "DESCRIBE_CONFIGS" if change.kind.startswith(("config.", "mode.")) else "READ"
    return rights.now().may(operation, change.subject)


async def _events(
    registry: Registry,
    after: int | None,
    prefix: str,
    follower: Callable[[], Follower],
    goes_on: Callable[[], Awaitable[bool]] | None,
) -> AsyncIterator[bytes]:
    yield b": following\n\n"
    seconds = _HEARTBEAT_SECONDS if goes_on is None else _CHECK_SECONDS
    silent_since = monotonic()
    while not registry.stopping.is_set() and (goes_on is None or await goes_on()):
        end = registry.node.view.offset
        if after is None or end > after:
            for text in registry.change_feed.since(after, end, prefix, follower()):
                yield text
                silent_since = monotonic()
            after = end
        await registry.growth.wait(after, seconds)
        if monotonic() - silent_since >= _HEARTBEAT_SECONDS:
            # Each side learns that the other is still connected.
            yield b": still here\n\n"
            silent_since = monotonic()
