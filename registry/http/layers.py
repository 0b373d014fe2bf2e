"""The ASGI layers that are the registry's own: media types, the /contexts prefix, and remembered answers."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from magicbyte.errors import ApiError
from magicbyte.http.asgi import ASGIApp, Message, Receive, Scope, Send, answer, header, list_header
from magicbyte.http.errors import NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE
from magicbyte.http.negotiation import choose, consumes
from registry.errors import REQUEST_TIMED_OUT
from registry.http.answers import CONSUMED, PRODUCED, V1
from registry.http.dispatch import ROUTES
from registry.http.offset_tokens import OFFSET_HEADER
from registry.http.settings import context_name
from registry.metrics import RequestCounts

_IN_CONTEXT = re.compile(r"/contexts/([^/]+)(/.*)")
#: Takes many schemas at once.
IMPORT_PATH = "/import"
_BULK = CONSUMED | {"application/x-ndjson"}
#: Answers in a media type of their own.
_UNNEGOTIATED = frozenset({"/metrics", "/docs", "/events", "/export"})
#: Take as long as their clients want.
_UNTIMED = frozenset({"/events", "/export", IMPORT_PATH})


class Negotiation:
    """Chooses the media type of every answer, and refuses requests that can't be answered or read (406, 415)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] in _UNNEGOTIATED:
            await self.app(scope, receive, send)
            return
        media_type = choose(list_header(scope, b"accept"), PRODUCED)
        if media_type is None:
            await answer(send, 406, NOT_ACCEPTABLE().body())
            return
        accepted = _BULK if scope["path"] == IMPORT_PATH else CONSUMED
        if scope["method"] in ("POST", "PUT") and not consumes(header(scope, b"content-type"), accepted):
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

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self.app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] in _UNTIMED:
            await self.app(scope, receive, send)
            return
        begun = expired = False

        async def watching(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        # What asyncio.timeout does, in a fifth of its time.
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None
        cancelling, cancel = task.cancelling(), task.cancel

        def expire() -> None:
            nonlocal expired
            expired = True
            cancel()

        timer = loop.call_later(self._seconds, expire)
        try:
            await self.app(scope, receive, watching)
        except asyncio.CancelledError:
            if not expired or task.uncancel() > cancelling:
                raise
            if not begun:
                error = REQUEST_TIMED_OUT()
                await answer(send, error.status, error.body(), V1)
        finally:
            timer.cancel()


@dataclass(frozen=True, slots=True)
class _Remembered:
    """An answer, the offset of the view that it was given from, and the method and route that gave it."""

    offset: int
    counted: tuple[str, str]
    start: Message
    body: Message
    size: int


class Bulk:
    """Gives imports a way of their own, since they may be larger than other requests."""

    def __init__(self, usual: ASGIApp, bulk: ASGIApp) -> None:
        self._usual = usual
        self._bulk = bulk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        bulk = scope["type"] == "http" and scope["path"] == IMPORT_PATH
        await (self._bulk if bulk else self._usual)(scope, receive, send)


class RememberedAnswers:
    """The fast path: answers GETs and look-ups of schemas again as long as the view stands where it stood.

    What it answers is what the routes answered; it only spares asking them. Requests with an id of their own go to the
    routes, and so do those that have to wait for the offset of their token.
    """

    def __init__(
        self,
        app: ASGIApp,
        offset: Callable[[], int],
        is_met: Callable[[str], bool],
        counts: RequestCounts,
        *,
        most_bytes: int = 64 << 20,
        longest: int = 64 << 10,
    ) -> None:
        """Begin with nothing remembered.

        Args:
            app: What answers.
            offset: Where the view stands.
            is_met: Whether the view holds what a token stands for.
            counts: Where requests are counted.
            most_bytes: How much is remembered altogether.
            longest: The longest body of a request or an answer that is remembered, in bytes.
        """
        self.app = app
        self._offset = offset
        self._is_met = is_met
        self._counts = counts
        self._most_bytes = most_bytes
        self._longest = longest
        self._bytes = 0
        self._answers: OrderedDict[_Key, _Remembered] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not scope.get("raw_path", b"").startswith(_REMEMBERED):
            await self.app(scope, receive, send)
            return
        method = scope["method"]
        may_be = method == "GET" or (method == "POST" and self._is_look_up(scope))
        media_types = self._media_types(scope) if may_be else None
        if media_types is None:
            await self.app(scope, receive, send)
            return
        body = b""
        if method == "POST":
            first = await receive()
            receive = _again(first, receive)
            if first["type"] != "http.request" or first.get("more_body"):
                await self.app(scope, receive, send)
                return
            # What cannot be read is no look-up, but must not be taken for a GET either.
            body = first.get("body", b"") or b" "
        started = time.perf_counter()
        key = (scope["raw_path"], scope["query_string"], media_types, body)
        offset = self._offset()
        known = self._answers.get(key)
        if known is not None and known.offset == offset:
            await send(known.start)
            await send(known.body)
            self._counts.add(*known.counted, 200, time.perf_counter() - started)
            return
        await self._ask(key, offset, scope, receive, send)

    def _media_types(self, scope: Scope) -> bytes | None:
        """Accept and Content-Type as they were sent; None if the routes have to see the request."""
        accept = content_type = b""
        for name, value in scope["headers"]:
            if name not in _LOOKED_AT:
                continue
            if name == b"accept":
                accept += b"," + value
            elif name == b"content-type":
                content_type = value
            elif name == b"x-request-id" or not self._is_met(value.decode("latin-1")):
                return None
        return b"%b\0%b" % (accept, content_type)

    def _is_look_up(self, scope: Scope) -> bool:
        """Tell whether a POST is a look-up that may be remembered, from its head alone."""
        if scope["raw_path"].count(b"/") != 2:  # /subjects/NAME
            return False
        length = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
        return bool(length.isdigit()) and int(length) <= self._longest

    async def _ask(self, key: _Key, offset: int, scope: Scope, receive: Receive, send: Send) -> None:
        start: Message | None = None
        #: Layers below copy the scope, but not what is in it.
        routes: list[str] = []
        scope[ROUTES] = routes

        async def remembering(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
            elif start is not None and start["status"] == 200 and routes and not message.get("more_body"):
                self._remember(key, offset, (scope["method"], routes[0]), start, message)
            await send(message)

        await self.app(scope, receive, remembering)

    def _remember(self, key: _Key, offset: int, counted: tuple[str, str], start: Message, body: Message) -> None:
        length = len(body.get("body", b""))
        if length > self._longest:
            return
        headers = [(name, value) for name, value in start["headers"] if name != b"x-request-id"]
        size = length + sum(map(len, key)) + _OVERHEAD
        self._forget(self._answers.pop(key, None))
        self._answers[key] = _Remembered(offset, counted, {**start, "headers": headers}, body, size)
        self._bytes += size
        while self._bytes > self._most_bytes:
            self._forget(self._answers.popitem(last=False)[1])

    def _forget(self, gone: _Remembered | None) -> None:
        self._bytes -= gone.size if gone is not None else 0


#: Raw path, query string, media types, and the body of a look-up.
_Key = tuple[bytes, bytes, bytes, bytes]
#: About what an answer takes in memory besides its bytes.
_OVERHEAD = 1500
_REMEMBERED = (b"/schemas/ids/", b"/subjects/")
_LOOKED_AT = frozenset({b"accept", b"content-type", b"x-request-id", OFFSET_HEADER})


def _again(first: Message, receive: Receive) -> Receive:
    """The same request from its beginning, the first message of which has been read."""
    waiting = [first]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
