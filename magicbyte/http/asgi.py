"""The types of ASGI, and parts of its messages."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


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


async def answer(send: Send, status: int, body: object, *, close: bool = False) -> None:
    """Send a whole JSON answer; with `close`, ask for the connection to be closed after it."""
    content = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
