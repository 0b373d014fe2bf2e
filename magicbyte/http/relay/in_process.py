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
class Answer:
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
) -> Answer:
    """Send a request to an application, and return its answer when it is complete.

    Args:
        app: The application.
        method: The method.
        target: The encoded path, and the query.
        headers: The headers, with names in lower case.
        body: The body.
        connection: The scope's keys of the connection, such as `scheme`, `client` and `server`.

    Raises:
        ConnectionError: The application has returned before its answer was complete.
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
    answer, pending, is_complete = Answer(), [body], asyncio.Event()

    async def receive() -> Message:
        if pending:
            return {"type": "http.request", "body": pending.pop(), "more_body": False}
        # The client stays until it has the answer.
        await is_complete.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status, answer.headers = message["status"], list(message.get("headers", ()))
        elif message["type"] == "http.response.body":
            if method != "HEAD":
                answer.parts.append(message.get("body", b""))
            if not message.get("more_body"):
                is_complete.set()

    await app(scope, receive, send)
    if not is_complete.is_set():
        raise ConnectionError(f"the application did not complete its answer to {method} {raw_path}")
    return answer
