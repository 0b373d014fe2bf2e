"""The route /events: the change feed."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import orjson
from starlette.responses import Response, StreamingResponse

from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.request import Request
from registry.access.rights import Rights
from registry.feed.changes import Change, TooOld, changes_since
from registry.http.request import prefix_of, registry_of, rights_of
from registry.state.view import View

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard

_LOOK_SECONDS = 0.2
_HEARTBEAT_SECONDS = 15.0


async def follow_changes(request: Request) -> Response:
    """Send changes as server-sent events, starting after `Last-Event-ID`, or with the next change if it is missing."""
    registry, asked = registry_of(request), request.headers.get("last-event-id")
    if asked is not None and not re.fullmatch(r"\s*-?[0-9]{1,18}\s*", asked):
        raise MALFORMED_BODY(detail=f"Last-Event-ID must be an offset, not {asked!r}")
    after = registry.view.offset if asked is None else int(asked)
    rights = rights_of(request)
    may_see = None if rights is None else partial(_may_see, rights)
    goes_on = partial(_goes_on, request, rights)
    events = _events(registry.node.view, after, prefix_of(request), registry.stopping, may_see, goes_on)
    return StreamingResponse(events, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def _goes_on(request: Request, rights: Rights | None) -> bool:
    """Tell whether the follower is still signed in and may still see some change."""
    guard: Guard | None = request.app.state.guard
    if guard is not None and not await guard.is_still_good(request.principal, request.scope):
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
    view: View,
    after: int,
    prefix: str,
    stopping: threading.Event,
    may_see: Callable[[Change], bool] | None,
    goes_on: Callable[[], Awaitable[bool]],
) -> AsyncIterator[bytes]:
    yield b": following\n\n"
    silent = 0.0
    while not stopping.is_set() and await goes_on():
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
            after, silent = end, 0.0
        await asyncio.sleep(_LOOK_SECONDS)
        silent += _LOOK_SECONDS
        if silent >= _HEARTBEAT_SECONDS:
            # Each side learns that the other is still connected.
            yield b": still here\n\n"
            silent = 0.0


def _event(offset: int, kind: str, data: dict[str, Any]) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (offset, kind.encode(), orjson.dumps(data))
