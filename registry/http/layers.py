"""The ASGI layers that are the registry's own: media types, the /contexts prefix, and remembered answers."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable

from magicbyte.http.asgi import ASGIApp, Message, Receive, Scope, Send, answer, header
from magicbyte.http.errors import NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE, ApiError
from magicbyte.http.negotiation import choose, consumes
from registry.errors import REQUEST_TIMED_OUT
from registry.http.answers import CONSUMED, PRODUCED, V1
from registry.http.settings import context_name

_IN_CONTEXT = re.compile(r"/contexts/([^/]+)(/.*)")
#: Answers in a media type of their own.
_UNNEGOTIATED = ("/metrics", "/docs")


class Negotiation:
    """Chooses the media type of every answer, and refuses requests that can't be answered or read (406, 415)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"].startswith(_UNNEGOTIATED):
            await self.app(scope, receive, send)
            return
        media_type = choose(header(scope, b"accept"), PRODUCED)
        if media_type is None:
            await answer(send, 406, NOT_ACCEPTABLE().body())
            return
        if scope["method"] in ("POST", "PUT") and not consumes(header(scope, b"content-type"), CONSUMED):
            await answer(send, 415, UNSUPPORTED_MEDIA_TYPE().body(), media_type or V1)
            return
        scope.setdefault("state", {})["media_type"] = media_type
        await self.app(scope, receive, send)


class ContextPrefix:
    """Takes `/contexts/NAME` off a path and puts the context into the request's state, for the routes to apply."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        match = _IN_CONTEXT.fullmatch(scope["path"]) if scope["path"].startswith("/contexts/") else None
        if match is not None:
            try:
                scope.setdefault("state", {})["context"] = context_name(match[1])
            except ApiError as error:
                await answer(send, error.status, error.body())
                return
            scope["path"] = match[2]
        if len(scope["path"]) > 1 and scope["path"].endswith("/"):
            # As in the reference, a slash at the end means nothing.
            scope["path"] = scope["path"].rstrip("/") or "/"
        await self.app(scope, receive, send)


class Deadline:
    """Answers 504 where a request takes too long; what takes as long as its client wants is left alone."""

    def __init__(self, app: ASGIApp, seconds: float, besides: tuple[str, ...] = ()) -> None:
        self.app = app
        self._seconds = seconds
        self._besides = besides

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"].startswith(self._besides):
            await self.app(scope, receive, send)
            return
        begun = False

        async def watching(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            async with asyncio.timeout(self._seconds):
                await self.app(scope, receive, watching)
        except TimeoutError:
            if not begun:
                error = REQUEST_TIMED_OUT()
                await answer(send, error.status, error.body(), V1)


class RememberedAnswers:
    """The fast path: answers GETs of schemas and subjects again as long as the view stands where it stood.

    What it answers is what the routes answered; it only spares asking them. Requests with an id of their own or an
    unusual Accept go to the routes.
    """

    def __init__(
        self, app: ASGIApp, offset: Callable[[], int], *, most: int = 20_000, most_bytes: int = 1 << 16
    ) -> None:
        self.app = app
        self._offset = offset
        self._most = most
        self._most_bytes = most_bytes
        self._answers: OrderedDict[tuple[bytes, bytes], tuple[int, Message, Message]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] != "GET" or not _is_plain(scope):
            await self.app(scope, receive, send)
            return
        key = (scope["raw_path"], scope["query_string"])
        offset = self._offset()
        known = self._answers.get(key)
        if known is not None and known[0] == offset:
            await send(known[1])
            await send(known[2])
            return
        start: Message | None = None

        async def remembering(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
            elif start is not None and start["status"] == 200 and not message.get("more_body"):
                self._remember(key, offset, start, message)
            await send(message)

        await self.app(scope, receive, remembering)

    def _remember(self, key: tuple[bytes, bytes], offset: int, start: Message, body: Message) -> None:
        if len(body.get("body", b"")) > self._most_bytes:
            return
        headers = [(name, value) for name, value in start["headers"] if name != b"x-request-id"]
        self._answers[key] = (offset, {**start, "headers": headers}, body)
        if len(self._answers) > self._most:
            self._answers.popitem(last=False)


_REMEMBERED = (b"/schemas/ids/", b"/subjects/")
_PLAIN_ACCEPTS = (b"*/*", V1.encode())


def _is_plain(scope: Scope) -> bool:
    if not scope.get("raw_path", b"").startswith(_REMEMBERED):
        return False
    for name, value in scope["headers"]:
        if name == b"x-request-id" or (name == b"accept" and value not in _PLAIN_ACCEPTS):
            return False
    return True
