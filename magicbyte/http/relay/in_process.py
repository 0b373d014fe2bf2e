"""The one way to send a request to an ASGI application in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from magicbyte.http.asgi import ASGIApp, Message, Scope

_HTTP_SCOPE = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "root_path": ""}


@dataclass(slots=True)
class ApplicationAnswer:
    """A whole answer of an application.

    Attributes:
        status: The status; 0 before the application has begun to answer.
        headers: The headers, as the application has sent them.
        parts: The parts of the body.
    """

    status: int = 0
    headers: Sequence[tuple[bytes, bytes]] = ()
    parts: list[bytes] = field(default_factory=list)

    @property
    def content(self) -> bytes:
        """The body."""
        return b"".join(self.parts)

    def header(self, name: bytes) -> str | None:
        """The first value of a header; `name` is in lower case."""
        return next((value.decode("latin-1") for key, value in self.headers if key.lower() == name), None)


async def ask(
    app: ASGIApp,
    method: str,
    target: str,
    headers: Sequence[tuple[bytes, bytes]],
    *,
    body: bytes = b"",
    connection: Mapping[str, Any],
    most_bytes: int | None = None,
) -> ApplicationAnswer:
    """Send a request to an application, and return its answer when it is complete.

    Args:
        app: The application.
        method: The method.
        target: The encoded path, and the query.
        headers: The headers, with names in lower case.
        body: The body.
        connection: The scope's keys of the connection, such as `scheme`, `client` and `server`.
        most_bytes: The largest body that is returned; None for any.

    Raises:
        ConnectionError: The application has returned before its answer was complete, or the body is too large.
        Exception: Any error that the application raises.
    """
    raw_path, _, query = target.partition("?")
    scope: Scope = {
        **_HTTP_SCOPE,
        **connection,
        "method": method,
        "path": unquote(raw_path),
        "raw_path": raw_path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": headers,
    }
    exchange = _Exchange(method, [body], most_bytes)
    try:
        await app(scope, exchange.receive, exchange.send)
    except Exception:
        # Applications take an error of `send` for a client that has gone, and raise what they like.
        if not exchange.is_too_large:
            raise
    if exchange.is_too_large:
        raise ConnectionError(f"the answer to {method} {raw_path} has more than {most_bytes} bytes")
    if not exchange.is_complete.is_set():
        raise ConnectionError(f"the application did not complete its answer to {method} {raw_path}")
    return exchange.answer


@dataclass(slots=True)
class _Exchange:
    """The client's side of a request.

    Attributes:
        method: The method.
        pending: The parts of the body that the application has not received.
        most_bytes: The largest body of an answer; None for any.
        answer: The answer so far.
        size: The bytes of its body.
        is_complete: Whether it is complete.
    """

    method: str
    pending: list[bytes]
    most_bytes: int | None
    answer: ApplicationAnswer = field(default_factory=ApplicationAnswer)
    size: int = 0
    is_complete: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_too_large(self) -> bool:
        """Whether the answer has too many bytes."""
        return self.most_bytes is not None and self.size > self.most_bytes

    async def receive(self) -> Message:
        """Return the next part of the client's request, and at the end its disconnect."""
        if self.pending:
            return {"type": "http.request", "body": self.pending.pop(), "more_body": False}
        # The client stays until it has the answer.
        await self.is_complete.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Receive a part of the answer.

        Raises:
            ConnectionError: It is too large.
        """
        if message["type"] == "http.response.start":
            self.answer.status, self.answer.headers = message["status"], list(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            body: bytes = message.get("body", b"")
            self.size += len(body)
            if self.is_too_large:
                self.answer.parts.clear()
                raise ConnectionError
            if self.method != "HEAD":
                self.answer.parts.append(body)
            if not message.get("more_body"):
                self.is_complete.set()
