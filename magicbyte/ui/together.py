"""Several GETs of the registry in one request: a view asks them at once, and each would take a round trip."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

import msgspec
import orjson
from msgspec import Meta
from starlette.responses import Response

from magicbyte.http.asgi import Scope
from magicbyte.http.held_stream import HeldStream
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from magicbyte.kit.sharing.fair_queue import FairQueue, NoTurn
from magicbyte.ui import errors
from magicbyte.ui.decode import ReadRegistry
from magicbyte.ui.messages.exchange import Question, Reply
from magicbyte.ui.messages.request import BadRequest
from magicbyte.ui.paths import FOLDER, has_dot_segments, is_endless
from magicbyte.ui.request_body import read_request
from magicbyte.ui.together_limits import GETS_AT_ONCE, LARGEST_ANSWER, MOST_REQUESTS, RESERVE

log = logging.getLogger(__name__)

#: The most GETs of a request.
MOST_PATHS = 16
_ACCEPT = "application/json"
#: How long a request may wait for its turn, in seconds.
_WAIT_SECONDS = 20.0
_RETRY_SECONDS = "1"


class TogetherRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The GETs."""

    paths: Annotated[
        list[str],
        Meta(
            min_length=1,
            max_length=MOST_PATHS,
            description="Paths and queries at the registry, encoded, such as `/subjects/a%2Fb/versions`",
        ),
    ]

    def check(self) -> None:
        """Check that the registry has a short answer to each path.

        Raises:
            BadRequest: A path is no path at the registry, or cannot be asked together with others.
        """
        for path in self.paths:
            bare = path.partition("?")[0]
            is_path = path.startswith("/") and not path.startswith("//") and path.isascii() and path.isprintable()
            if not is_path or has_dot_segments(bare) or "#" in path or " " in path:
                raise BadRequest(f"{path!r} is no encoded path at the registry")
            if is_endless(bare) or f"{bare}/".startswith(FOLDER):
                raise BadRequest(f"{path!r} cannot be asked together with others")


class Together:
    """Answers such requests, a few at once."""

    def __init__(self, read_registry: ReadRegistry, settings: PageSettings) -> None:
        """Prepare.

        Args:
            read_registry: Sends a GET to the registry as the sender of a request.
            settings: How many requests of a client may wait, and the proxies that report its address.
        """
        self._read_registry = read_registry
        self._settings = settings
        self._turns = FairQueue(
            MOST_REQUESTS, reserve=RESERVE, most_waiting=settings.relayed_waiting, wait_seconds=_WAIT_SECONDS
        )

    def close(self) -> None:
        """Refuse the requests that wait."""
        self._turns.close()

    async def answer(self, request: Request) -> Response:
        """Answer with a line for each GET, in the order in which the registry answers them.

        Args:
            request: The request, whose sender asks.

        Raises:
            ApiError: 400 for a body that is no such request, 429 if too many of the client's wait.
        """
        wanted = await read_request(request, TogetherRequest)
        client = client_key(request, self._settings.trusted_proxies)
        try:
            await self._turns.take(client)
        except NoTurn as refusal:
            raise errors.TOO_MANY_TOGETHER(reason=refusal).with_headers(Retry_After=_RETRY_SECONDS) from None
        lines = _lines(request.scope, wanted.paths, self._read_registry)
        return HeldStream(lines, partial(self._turns.give_back, client), media_type="application/x-ndjson")


async def _lines(scope: Scope, paths: list[str], read_registry: ReadRegistry) -> AsyncIterator[bytes]:
    """The answers as lines; a slow reader keeps the other GETs from being sent."""
    lines: asyncio.Queue[bytes] = asyncio.Queue(1)
    turns = asyncio.Semaphore(GETS_AT_ONCE)

    async def ask(index: int, path: str) -> None:
        async with turns:
            try:
                reply = await read_registry(scope, Question(path, _ACCEPT, most_bytes=LARGEST_ANSWER))
            except (OSError, ApiError):
                # The client sends this GET by itself, and tells what is wrong.
                reply = Reply(0)
            except Exception:
                # Without a line of it, the answer would never end.
                log.exception(
                    "GET %s cannot be answered together with others",
                    path,
                    extra={"event": "joint_answer_failed", "path": path},
                )
                reply = Reply(0)
            text = reply.body.decode(errors="replace")
            await lines.put(orjson.dumps({"index": index, "status": reply.status, "body": text}) + b"\n")

    asking = [asyncio.ensure_future(ask(index, path)) for index, path in enumerate(paths)]
    try:
        for _ in paths:
            yield await lines.get()
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
