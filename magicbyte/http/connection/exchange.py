"""A request and its answer: uvicorn's cycle, with fast paths for a body that has arrived and for a whole answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HEADER_RE, HEADER_VALUE_RE, STATUS_LINE, RequestResponseCycle

from magicbyte.http.asgi import Message, Scope

#: The response fields with few different values, whose lines are cached.
_REPEATED: Final = frozenset(
    (
        b"cache-control",
        b"content-security-policy",
        b"content-type",
        b"referrer-policy",
        b"vary",
        b"x-content-type-options",
    )
)
#: The most cached lines; the number is limited because a value may come from a client's request.
_MOST_LINES: Final = 1024
_lines: dict[tuple[bytes, bytes], bytes] = {}


class Exchange(RequestResponseCycle):
    """One request and its answer; `receive` and `send` are ASGI's."""

    def __init__(
        self,
        scope: Scope,
        transport: asyncio.Transport,
        flow: FlowControl,
        logger: logging.Logger,
        on_response: Callable[[], None],
        *,
        expects_continue: bool,
        keep_alive: bool,
    ) -> None:
        """Begin, with the head of the request.

        Args:
            scope: ASGI's scope.
            transport: Sends the answer.
            flow: Holds up the client and the answer.
            logger: For exceptions of the application.
            on_response: Called when the answer is complete.
            expects_continue: Whether the client waits for `100 Continue` before it sends the body.
            keep_alive: Whether the connection stays open after the answer.
        """
        super().__init__(
            scope,  # type: ignore[arg-type]  # has all keys of an HTTP scope
            transport,
            flow,
            logger,
            logger,
            False,
            [],
            asyncio.Event(),
            expects_continue,
            keep_alive,
            on_response,
        )

    async def receive(self) -> Any:
        """Return the next part of the body; waits if none is there."""
        event = self.message_event
        if self.more_body or self.disconnected or self.response_complete or not event.is_set():
            return await super().receive()
        event.clear()
        self.flow.resume_reading()
        body, self.body = bytes(self.body), bytearray()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:  # type: ignore[override]
        """Send the head or a part of the body of the answer.

        Raises:
            RuntimeError: The message is out of turn, or the answer is not valid.
        """
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        kind = message["type"]
        if kind == "http.response.start" and not self.response_started:
            head = self._head(message["status"], message["headers"])
            self.response_started, self.waiting_for_100_continue = True, False
            self.transport.write(head)
            return
        body = message.get("body", b"")
        if (
            kind != "http.response.body"
            or self.chunked_encoding is not False
            or self.response_complete
            or len(body) != self.expected_content_length
            or message.get("more_body")
            or self.scope["method"] == "HEAD"
        ):
            await super().send(message)  # type: ignore[arg-type]  # is checked there
            return
        self.expected_content_length = 0
        self.transport.write(body)
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()

    def _head(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        parts = [STATUS_LINE[status]]
        closes = False
        for field in headers:
            line = _lines.get(field)
            if line is not None:
                parts.append(line)
                continue
            name, value = field
            name = name.lower()
            parts.append(_line(name, value))
            if name == b"content-length" and self.chunked_encoding is None:
                self.expected_content_length, self.chunked_encoding = int(value), False
            elif name == b"transfer-encoding" and value.lower() == b"chunked":
                self.expected_content_length, self.chunked_encoding = 0, True
            elif name == b"connection" and b"close" in [token.strip() for token in value.lower().split(b",")]:
                self.keep_alive, closes = False, True
        if not self.keep_alive and not closes:
            parts.append(b"connection: close\r\n")
        if self.chunked_encoding is None and self.scope["method"] != "HEAD" and status not in (204, 304):
            self.chunked_encoding = True
            parts.append(b"transfer-encoding: chunked\r\n")
        parts.append(b"\r\n")
        return b"".join(parts)


def _line(name: bytes, value: bytes) -> bytes:
    """The line of a field, cached for the fields of `_REPEATED`.

    Raises:
        RuntimeError: The name or the value would end the line.
    """
    if name == b"content-length":
        if not value.isdigit():
            raise RuntimeError("Invalid Content-Length.")
        return b"content-length: %b\r\n" % value
    if HEADER_RE.search(name):
        raise RuntimeError("Invalid HTTP header name.")
    if HEADER_VALUE_RE.search(value):
        raise RuntimeError("Invalid HTTP header value.")
    line = b"%b: %b\r\n" % (name, value)
    if name in _REPEATED:
        if len(_lines) >= _MOST_LINES:
            _lines.clear()
        _lines[name, value] = line
    return line
