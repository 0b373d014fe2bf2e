"""ASGI types, and helpers for request headers and JSON answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


def header(scope: Scope, name: bytes) -> str | None:
    """Return the value of a request header, the first one if it is repeated; `name` is in lower case."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value, "latin-1")
    return None


def list_header(scope: Scope, name: bytes) -> str | None:
    """Return the values of a list header, joined if the header is repeated; `name` is in lower case."""
    joined: bytes | None = None
    for key, value in scope["headers"]:
        if key == name:
            joined = value if joined is None else b"%b, %b" % (joined, value)
    return None if joined is None else joined.decode("latin-1")


async def answer(
    send: Send, status: int, body: object, headers: Iterable[tuple[bytes, bytes]] = (), *, close: bool = False
) -> None:
    """Send a complete JSON answer; with `close`, the server then closes the connection."""
    content = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode()), *headers]
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
