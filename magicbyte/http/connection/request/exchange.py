"""A request and its answer: ASGI's `receive` and `send` over a connection."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Final

from magicbyte.http.asgi import ASGIApp, Message, Scope, answer
from magicbyte.http.connection.flow import HIGH_WATER_BYTES, Flow
from magicbyte.http.connection.joined_writes import JoinedWrites
from magicbyte.http.errors import INTERNAL, STOPPING
from magicbyte.kit.errors import ApiError

log = logging.getLogger("magicbyte.http")

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
#: The heads of answers that are sent again and again, whose fields are a tuple, and the lengths of their bodies.
_heads: dict[tuple[int, tuple[tuple[bytes, bytes], ...]], tuple[bytes, int]] = {}
#: Characters that a field name and a field value cannot have (RFC 9110 section 5).
_NOT_IN_NAMES: Final = re.compile(rb'[\x00-\x20\x7f-\xff()<>@,;:\\"/\[\]?={}]')
_NOT_IN_VALUES: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


def _status_line(status: int) -> bytes:
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""
    return b"HTTP/1.1 %d %b\r\n" % (status, phrase.encode())


STATUS_LINE: Final = {status: _status_line(status) for status in range(100, 600)}


def _nothing() -> None:
    """Replace the callback of an exchange that is over, so that the exchange and its connection form no cycle."""


class Exchange:
    """One request and its answer; `receive` and `send` are ASGI's."""

    # Each exchange begins with these values. They belong to the class, so that an object for each request costs little.

    #: Whether the body is incomplete.
    more_body = True
    #: Whether a part of the answer has been sent, and whether all of it has.
    is_answer_begun = is_answered = False
    is_disconnected = False
    _task: asyncio.Task[None] | None = None
    _waiting_bytes = 0
    #: Whether the application has received the end of the body.
    _is_body_taken = False
    _news: asyncio.Event | None = None
    #: The head of an answer with a length, until its body begins: both are sent with one system call.
    _held_head = b""
    #: Whether the answer is chunked; None until its head.
    _is_chunked: bool | None = None
    #: How much of the answer's body is missing, in bytes; None if the end of the connection ends it.
    _bytes_left: int | None = 0

    def __init__(
        self,
        scope: Scope,
        transport: JoinedWrites,
        flow: Flow,
        on_answered: Callable[[], None],
        *,
        expects_continue: bool,
        keep_alive: bool,
    ) -> None:
        """Begin, with the head of the request.

        Args:
            scope: ASGI's scope.
            transport: Sends the answer.
            flow: Holds up the client and the answer.
            on_answered: Called when the answer is complete.
            expects_continue: Whether the client waits for `100 Continue` before it sends the body.
            keep_alive: Whether the connection stays open after the answer.
        """
        self.scope = scope
        self.keep_alive = keep_alive
        self.expects_continue = expects_continue
        self._transport = transport
        self._flow = flow
        self._on_answered = on_answered
        self._parts: list[bytes] = []

    @property
    def awaits_answer(self) -> bool:
        """Whether the request is complete and its answer is not."""
        return not (self.more_body or self.is_answered)

    def start(self, app: ASGIApp, loop: asyncio.AbstractEventLoop, tasks: set[asyncio.Task[None]]) -> None:
        """Serve the request with an application; an answer that it does not finish ends the connection.

        Args:
            app: The application.
            loop: The event loop of the connection.
            tasks: Holds the task that serves the request until it ends.
        """
        if self.is_disconnected:
            # The client left while the request waited for its turn.
            self._on_answered = _nothing
            return
        self._task = task = loop.create_task(self._run(app, tasks))
        tasks.add(task)

    async def _run(self, app: ASGIApp, tasks: set[asyncio.Task[None]]) -> None:
        try:
            await app(self.scope, self.receive, self.send)
            if not self.is_answered and not self.is_disconnected:
                log.error(
                    "a request was not answered to its end: %s %s",
                    self.scope["method"],
                    self.scope["path"],
                    extra={"event": "answer_incomplete", "method": self.scope["method"], "path": self.scope["path"]},
                )
                await self._fail(INTERNAL())
        except asyncio.CancelledError:
            # The server stops, and the request took longer than it waits.
            await self._fail(STOPPING())
            raise
        except Exception:
            log.exception("a request failed", extra={"event": "request_crashed"})
            await self._fail(INTERNAL())
        finally:
            self._on_answered = _nothing
            # A callback of the task would cost a further call by the event loop.
            if self._task is not None:
                tasks.discard(self._task)
                self._task = None

    async def _fail(self, error: ApiError) -> None:
        if not self.is_answer_begun and not self.is_disconnected:
            self._held_head, self._is_chunked = b"", None
            await answer(self.send, error.status, error.body(), close=True)
        else:
            self._transport.close()

    # Called by the connection

    def add_body(self, part: bytes) -> None:
        """Take a part of the body."""
        if self.is_answered:
            return
        self._parts.append(part)
        self._waiting_bytes += len(part)
        if self._waiting_bytes > HIGH_WATER_BYTES:
            self._flow.pause_body()
        if self._news is not None:
            self._news.set()

    def end_body(self) -> None:
        """Note that the body is complete."""
        self.more_body = False
        if self._news is not None:
            self._news.set()

    def disconnect(self) -> None:
        """Tell the application that the client has disconnected."""
        self.is_disconnected = True
        self.wake()

    def wake(self) -> None:
        """Let the application look whether the client has disconnected."""
        if self._news is not None:
            self._news.set()
        self._flow.resume_writing()

    # Called by the application

    async def receive(self) -> Message:
        """Return the next part of the body; then wait until the client has disconnected."""
        if self.expects_continue and not self._transport.is_closing():
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.expects_continue = False
        while not (self.is_disconnected or self.is_answered):
            if self._parts or not (self.more_body or self._is_body_taken):
                parts, self._parts, self._waiting_bytes = self._parts, [], 0
                self._is_body_taken = not self.more_body
                self._flow.resume_body()
                body = parts[0] if len(parts) == 1 else b"".join(parts)
                return {"type": "http.request", "body": body, "more_body": self.more_body}
            self._flow.resume_body()
            if self._news is None:
                self._news = asyncio.Event()
            self._news.clear()
            await self._news.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Send the head or a part of the body of the answer.

        Raises:
            RuntimeError: The message is out of turn, or the answer is not valid.
        """
        if self._flow.is_write_paused and not self.is_disconnected:
            await self._flow.drain()
        if self.is_disconnected or (self.is_answered and self.scope["method"] == "HEAD"):
            return
        has_head = self.is_answer_begun or self._held_head != b""
        if self.is_answered or message["type"] != ("http.response.body" if has_head else "http.response.start"):
            raise RuntimeError(f"{message['type']} was sent out of turn")
        if has_head:
            self._send_body(message.get("body", b""), is_last=not message.get("more_body", False))
        else:
            self._send_head(self._known_head(message["status"], message.get("headers", ())))

    def _send_head(self, head: bytes) -> None:
        self.expects_continue = False
        if self.scope["method"] == "HEAD":
            # The rest of the answer, which may have no end, is not sent.
            self.is_answer_begun = True
            self._transport.send(head)
            self._finish()
        elif self._is_chunked or self._bytes_left is None:
            # The first part of a stream may come much later.
            self.is_answer_begun = True
            self._transport.write(head)
        else:
            self._held_head = head

    def _send_body(self, body: bytes, *, is_last: bool) -> None:
        if self._is_chunked:
            framed = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            self._transport.write(framed + b"0\r\n\r\n" if is_last else framed)
        else:
            if self._bytes_left is not None:
                if len(body) > self._bytes_left:
                    raise RuntimeError("Response content longer than Content-Length")
                self._bytes_left -= len(body)
            if self._held_head:
                self._transport.send(self._held_head, body)
                self._held_head, self.is_answer_begun = b"", True
            else:
                self._transport.write(body)
        if not is_last:
            return
        if self._bytes_left:
            raise RuntimeError("Response content shorter than Content-Length")
        self._finish()

    def _finish(self) -> None:
        self.is_answered = True
        # Body that nobody will take must not stop the connection from reading.
        self._parts, self._waiting_bytes = [], 0
        if self._news is not None:
            self._news.set()
        if not self.keep_alive:
            self._transport.close()
        self._on_answered()

    def _known_head(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        """The head of an answer, cached for answers that are sent again and again."""
        if not isinstance(headers, tuple) or not self.keep_alive:
            return self._head(status, headers)
        known = _heads.get((status, headers))
        if known is not None:
            self._is_chunked = False
            head, self._bytes_left = known
            return head
        head = self._head(status, headers)
        # Other heads depend on the request, too.
        if self._is_chunked is False and self.keep_alive and self._bytes_left is not None:
            if len(_heads) >= _MOST_LINES:
                _heads.clear()
            _heads[status, headers] = head, self._bytes_left
        return head

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
            if name == b"content-length" and self._is_chunked is None:
                self._bytes_left, self._is_chunked = int(value), False
            elif name == b"transfer-encoding" and value.lower() == b"chunked":
                self._bytes_left, self._is_chunked = 0, True
            elif name == b"connection" and b"close" in [token.strip() for token in value.lower().split(b",")]:
                self.keep_alive, closes = False, True
        if not self.keep_alive and not closes:
            parts.append(b"connection: close\r\n")
        if self._is_chunked is None and self.scope["method"] != "HEAD" and status not in (204, 304):
            if self.scope["http_version"] == "1.0":
                # Clients of HTTP/1.0 do not know chunks (RFC 9112 section 6.1), and their connections do not stay open.
                self._bytes_left = None
            else:
                self._is_chunked = True
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
    if _NOT_IN_NAMES.search(name):
        raise RuntimeError("Invalid HTTP header name.")
    if _NOT_IN_VALUES.search(value):
        raise RuntimeError("Invalid HTTP header value.")
    line = b"%b: %b\r\n" % (name, value)
    if name in _REPEATED:
        if len(_lines) >= _MOST_LINES:
            _lines.clear()
        _lines[name, value] = line
    return line
