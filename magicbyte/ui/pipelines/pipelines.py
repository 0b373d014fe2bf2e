"""`GET /ui/pipelines.json`: the pipelines, from their metrics ports and from the markers that the sender may read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import orjson
from starlette.responses import Response

from magicbyte.http.asgi import Scope
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.routing.request import Request
from magicbyte.security.tls.context import client_context
from magicbyte.ui.decode import unless_gone
from magicbyte.ui.pipelines.marker_reader import MarkerReader, MarkersRead
from magicbyte.ui.pipelines.ports import Ports
from magicbyte.ui.pipelines.rows import rows_of, without_details
from magicbyte.ui.rest import Upstream

#: More pipelines are left out, and the answer says how many.
_MOST_ROWS = 1_000

#: Raises ApiError unless the sender of a request may see the metrics.
RequireSignIn = Callable[[Scope], Awaitable[None]]


async def signed_in(_scope: Scope) -> None:
    """Let every request pass: the route's row has asked for a sign-in."""


class PipelineList:
    """Answers with the pipelines. The figures are for everybody who has signed in; markers need the topic's rights."""

    def __init__(self, settings: PageSettings, rest: Upstream | None, require_sign_in: RequireSignIn) -> None:
        """Prepare; nothing is asked yet.

        Args:
            settings: The metrics ports, and the trusted certificates.
            rest: The REST proxy, for the markers; None if there is none.
            require_sign_in: Refuses who may not see the metrics.
        """
        self._ports = Ports(settings.pipeline_ports, partial(client_context, settings, shows_certificate=False))
        self._configured = len(settings.pipeline_ports)
        self._markers = None if rest is None else MarkerReader(rest)
        self._require_sign_in = require_sign_in

    async def close(self) -> None:
        """Close the connections."""
        await self._ports.close()

    async def answer(self, request: Request, name: str | None) -> Response:
        """Answer with all pipelines, or with the details of one.

        Args:
            request: The request.
            name: The pipeline whose details are wanted; None for all pipelines, without details.

        Raises:
            ApiError: The sender may not see the metrics.
            ClientDisconnect: The client has gone.
        """
        body = await unless_gone(request.receive, self._body(request.scope, name))
        return Response(orjson.dumps(body), media_type="application/json", headers={"Cache-Control": "no-store"})

    async def _body(self, scope: Scope, name: str | None) -> dict[str, Any]:
        await self._require_sign_in(scope)
        answers, markers = await asyncio.gather(self._ports.answers(), self._read_markers(scope))
        rows = rows_of(answers, markers.book)
        if name is None:
            shown = [without_details(row) for row in rows[:_MOST_ROWS]]
        else:
            shown = rows = [row for row in rows if row["name"] == name]
        book = markers.book
        return {
            "now": round(time.time() * 1000),
            "configured": self._configured,
            "markers": {
                "state": markers.state,
                "reason": markers.reason,
                "unreadable": 0 if book is None else book.unreadable,
            },
            "pipelines": shown,
            "leftOut": len(rows) - len(shown),
        }

    async def _read_markers(self, scope: Scope) -> MarkersRead:
        return MarkersRead("none") if self._markers is None else await self._markers.read(scope)
