"""Pure ASGI layers around an application: encoded paths, body limits, request ids and the access log."""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from magicbyte.errors import ApiError
from magicbyte.http.errors import BODY_TOO_LARGE

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]

access_log = logging.getLogger("magicbyte.access")

#: A request id that a client may choose; another is replaced, so that it cannot forge lines of a log.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
#: As many characters of a path are logged of a request that is refused before anything was made of it.
_LOGGED_PATH = 200


def header(scope: Scope, name: bytes) -> str | None:
    """The value of a request header, the first where it is repeated; `name` in lower case."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value, "latin-1")
    return None


def list_header(scope: Scope, name: bytes) -> str | None:
    """The values of a request header that holds a list, those of all its lines; `name` in lower case."""
    found: bytes | None = None
    for key, value in scope["headers"]:
        if key == name:
            found = value if found is None else b"%b, %b" % (found, value)
    return None if found is None else found.decode("latin-1")


class EncodedPath:
    """Routes on the path as it was sent, so that `%2F` within a segment is not taken for a separator.

    Path parameters reach the handlers still percent-encoded; they decode them.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and (raw := scope.get("raw_path")):
            scope["path"] = raw.partition(b"?")[0].decode("latin-1")
        await self.app(scope, receive, send)


class BodyLimit:
    """Refuses request bodies over a size with 413, before they are held in memory."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = header(scope, b"content-length")
        if declared is not None and declared.isdigit():
            if int(declared) > self.max_bytes:
                await answer(send, BODY_TOO_LARGE.http_status, BODY_TOO_LARGE().body(), close=True)
                return
            if header(scope, b"transfer-encoding") is None:
                # The server passes on no more than was declared.
                await self.app(scope, receive, send)
                return
        received = 0
        refused = False

        async def limited() -> Message:
            nonlocal received, refused
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.max_bytes:
                refused = True
                await answer(send, BODY_TOO_LARGE.http_status, BODY_TOO_LARGE().body(), close=True)
                return {"type": "http.disconnect"}
            return message

        async def unless_refused(message: Message) -> None:
            if not refused:
                await send(message)

        await self.app(scope, limited, unless_refused)


class RequestLog:
    """Gives each request an id (`X-Request-ID`, the client's own where it is well-formed) and logs its answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        asked = header(scope, b"x-request-id")
        request_id = asked if asked and _REQUEST_ID.fullmatch(asked) else secrets.token_hex(16)
        scope.setdefault("state", {})["request_id"] = request_id
        started = time.perf_counter()
        status = 500

        async def stamped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (b"x-request-id", request_id.encode())]}
            await send(message)

        try:
            await self.app(scope, receive, stamped)
        finally:
            if access_log.isEnabledFor(logging.INFO):
                took = round((time.perf_counter() - started) * 1000, 3)
                _log_access(request_id, scope["method"], scope["path"], status, took)


def _log_access(request_id: str, method: str, path: str, status: int, ms: float) -> None:
    # What access_log.info does, but for finding out which line of code this is.
    record = logging.LogRecord(access_log.name, logging.INFO, "", 0, "%s %s %d", (method, path, status), None)
    vars(record).update(request_id=request_id, method=method, path=path, status=status, ms=ms)
    access_log.handle(record)


async def answer(
    send: Send,
    status: int,
    body: object,
    media_type: str = "application/json",
    *,
    close: bool = False,
) -> None:
    """Send a whole JSON answer; with `close`, ask for the connection to be closed after it."""
    content = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    headers = [(b"content-type", media_type.encode()), (b"content-length", str(len(content)).encode())]
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


async def refuse(scope: Scope, send: Send, error: ApiError, *, close: bool = False) -> None:
    """Answer a request with an error before it reaches the application, and log it with the reason."""
    method, path, status = scope["method"], scope["path"][:_LOGGED_PATH], error.status
    told = {"method": method, "path": path, "status": status, "reason": error.message}
    access_log.info("%s %s %d", method, path, status, extra=told)
    await answer(send, status, error.body(), close=close)
