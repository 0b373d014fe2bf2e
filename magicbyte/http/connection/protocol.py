"""HTTP/1.1 on one connection: uvicorn's protocol with limits on requests that are not yet complete."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import httptools
import orjson
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from magicbyte.http.asgi import ASGIApp, Receive, Scope, Send
from magicbyte.http.connection.connections import Connections
from magicbyte.http.connection.exchange import Exchange
from magicbyte.http.connection.hosts import Hosts
from magicbyte.http.connection.joined_writes import JoinedWrites
from magicbyte.http.errors import BAD_REQUEST, HEAD_TOO_LARGE, MISDIRECTED, TARGET_TOO_LONG
from magicbyte.http.response_headers import ResponseHeaders
from magicbyte.http.routing.identity import PEER
from magicbyte.http.routing.recorder import Recorder
from magicbyte.http.routing.rows import Streams
from magicbyte.kit.errors import ApiError
from magicbyte.security.principal import Peer

#: The request fields that the connection reads: Expect, Host, and the fields that only browsers send.
_WATCHED = frozenset((b"host", b"origin", b"sec-fetch-site", b"expect"))
#: SO_LINGER with a time of 0: closing discards unsent data and resets the connection.
_RESET = struct.pack("ii", 1, 0)
#: How long a client may take to notice that its stream has been answered to the end, in seconds. If the connection were
#: closed while it still sends, it could lose the end of the answer.
_LINGER_SECONDS = 2.0
_SERVER_WIDE = b"GET, HEAD, POST, PUT, DELETE, OPTIONS"


@dataclass(frozen=True, slots=True)
class Front:
    """The objects that all connections of a server share.

    Attributes:
        app: Serves the requests of all clients except browsers.
        browser_app: Serves requests that have an Origin or a Sec-Fetch-Site.
        connections: The connections that are open, and their limits.
        headers: The headers of every answer.
        recorder: Counts the answers that do not come from the application.
    """

    app: ASGIApp
    browser_app: ASGIApp
    connections: Connections
    headers: ResponseHeaders
    recorder: Recorder


class HttpConnection(HttpToolsProtocol):
    """One connection, over TCP or TLS."""

    def __init__(
        self,
        front: Front,
        address: str,
        hosts: Hosts | None,
        *,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
    ) -> None:
        """Make the protocol of an accepted connection.

        Args:
            front: The objects shared with the other connections.
            address: The client's address.
            hosts: The accepted Host names; None for any.
            config: As in uvicorn.
            server_state: As in uvicorn.
            app_state: As in uvicorn.
        """
        super().__init__(config=config, server_state=server_state, app_state=app_state)
        self.app = front.app
        self.address = address
        self.idle_since, self.answer_number = 0.0, 0
        self._front = front
        self._connections = front.connections
        self._limits = front.connections.limits
        self._hosts = hosts
        #: The last accepted Host: clients send the same one with every request.
        self._accepted_host: bytes | None = None
        self._foreign_host: bytes | None = None
        #: Whether a browser sent the request, or its Host is foreign: `app` must not serve it.
        self._is_special = False
        #: How many more bytes the head may have; the full limit while no head is unfinished.
        self._head_bytes_left = self._limits.head_bytes
        #: Whether the last request is incomplete.
        self._unfinished = True
        #: Whether received data is ignored: the connection closes when the earlier requests have been answered.
        self._ignores_input = False
        self._is_connected = self._is_aborted = False
        #: The task of a TLS handshake that is not finished.
        self.handshake: asyncio.Task[None] | None = None
        self._connections.add(self)

    # Called by the limits: the state of the connection

    @property
    def is_idle(self) -> bool:
        """Whether all requests so far have been answered, and no new one has begun."""
        return self.cycle is not None and self.cycle.response_complete and not self._in_head

    @property
    def is_closing(self) -> bool:
        """Whether the connection is open only until the client has read the rest of an answer."""
        return self._is_connected and self.transport.is_closing()

    @property
    def is_held_up(self) -> bool:
        """Whether the body makes no progress because this server does not read it."""
        return self.flow.read_paused or self.cycle.waiting_for_100_continue

    @property
    def target(self) -> bytes:
        """The path of the last request."""
        return bytes(self.cycle.scope["raw_path"]) if self.cycle is not None else b""

    @property
    def _in_head(self) -> bool:
        return self.cycle is None or self.cycle.scope is not self.scope

    # Called by the transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to read requests."""
        super().connection_made(transport)
        self.transport = JoinedWrites(transport, self.loop)
        self._is_connected = True
        # The peer is the TCP client, even if it is a proxy on this machine: forwarded headers are only used for URLs.
        self.peer = Peer(self.client[0] if self.client else "")
        if self._is_aborted:
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection."""
        self._connections.remove(self)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Note that the client does not read its answer."""
        self._connections.stalled(self)
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that the client reads its answer again."""
        self._connections.resumed(self)
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Parse the data, and note the progress of the request."""
        if len(data) > self._head_bytes_left:
            self._receive_in_parts(data)
            return
        previous_cycle = self.cycle
        super().data_received(data)
        cycle = self.cycle
        if cycle is None or cycle.scope is not self.scope:
            self._head_continues(len(data), is_new=cycle is not previous_cycle)
        elif cycle.more_body:
            self._unfinished, self._head_bytes_left = True, self._limits.head_bytes
            self._connections.body_received(self, len(data))
        elif self._unfinished:
            self._unfinished, self._head_bytes_left = False, self._limits.head_bytes
            self._connections.finished(self)

    def _receive_in_parts(self, data: bytes) -> None:
        """Parse the data in parts, so that no more than the limit is parsed of a head that is too large."""
        rest = memoryview(data)
        while rest and not self._ignores_input and not self.transport.is_closing():
            part, rest = rest[: self._head_bytes_left], rest[self._head_bytes_left :]
            self.data_received(part)  # type: ignore[arg-type]  # the parser takes any buffer

    def _head_continues(self, size: int, *, is_new: bool) -> None:
        if self._ignores_input or self.transport.is_closing():
            return
        if is_new or not self._unfinished:
            self._unfinished, self._head_bytes_left = True, self._limits.head_bytes
            self._connections.head_begun(self)
        if not is_new:
            self._head_bytes_left -= size
        if self._head_bytes_left <= 0:
            self.refuse(HEAD_TOO_LARGE(limit=f"{self._limits.head_bytes} bytes (max.request.header.size)"))

    # Called by the parser

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self.scope[PEER] = self.peer  # type: ignore[literal-required]

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one field of the head."""
        name = name.lower()
        if name in _WATCHED and value != self._accepted_host:
            self._look_at(name, value)
        self.headers.append((name, value))

    def _look_at(self, name: bytes, value: bytes) -> None:
        if name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"
        elif name != b"host":
            self._is_special = True
        elif self._hosts is None or self._hosts.allow(value, self.server):
            self._accepted_host = value
        else:
            self._is_special, self._foreign_host = True, value

    def on_headers_complete(self) -> None:
        """Serve a request whose head is complete."""
        limits = self._limits
        if (
            self._is_special
            or not self.url.startswith(b"/")
            or len(self.url) > limits.target_bytes
            or len(self.headers) > limits.head_fields
        ):
            self.serve_with(self._special_app())
        else:
            self.serve_with(self.app)

    def _special_app(self) -> ASGIApp:
        limits = self._limits
        foreign_host, self._foreign_host, self._is_special = self._foreign_host, None, False
        if len(self.headers) > limits.head_fields:
            return self.refusing(HEAD_TOO_LARGE(limit=f"{limits.head_fields} fields"))
        if len(self.url) > limits.target_bytes:
            return self.refusing(TARGET_TOO_LONG(limit=limits.target_bytes))
        if foreign_host is not None:
            return self.refusing(MISDIRECTED(host=foreign_host.decode("latin-1")))
        if self.url == b"*" and self.parser.get_method() == b"OPTIONS":
            return self._front.headers.added_to(self._server_wide_options)
        if not self.url.startswith(b"/"):
            return self.refusing(BAD_REQUEST(detail="The request target must be a path"))
        return self._front.browser_app

    def refusing(self, error: ApiError) -> ASGIApp:
        """Return an application that answers the request with an error."""
        has_body = any(name in (b"content-length", b"transfer-encoding") for name, _ in self.headers)

        async def refuse(scope: Scope, _receive: Receive, send: Send) -> None:
            await self._front.recorder.refuse(scope, send, error, close=has_body)

        return self._front.headers.added_to(refuse)

    async def _server_wide_options(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer `OPTIONS *`, a ping of the server (RFC 9110 section 9.3.7)."""
        self._front.recorder.unrouted(200)
        headers: Sequence[tuple[bytes, bytes]] = [(b"allow", _SERVER_WIDE), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def serve_with(self, app: ASGIApp) -> None:
        """Serve the request, whose head is complete, with an application; after the requests before it."""
        parser, scope = self.parser, self.scope
        version = parser.get_http_version()
        if version != "1.1":
            scope["http_version"] = version
        scope["method"] = parser.get_method().decode("ascii")
        target = httptools.parse_url(self.url)
        raw_path: bytes = target.path
        path = raw_path.decode("ascii")
        scope["raw_path"], scope["query_string"] = raw_path, target.query or b""
        scope["path"] = unquote(path) if b"%" in raw_path else path
        previous = self.cycle
        self.cycle = exchange = Exchange(
            scope,  # type: ignore[arg-type]  # an HTTP scope is a mapping
            self.transport,
            self.flow,
            self.logger,
            self.on_response_complete,
            expects_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and parser.should_keep_alive(),
        )
        if previous is None or previous.response_complete:
            self._start_asgi_task(exchange, app)  # type: ignore[arg-type]  # an ASGI application
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((exchange, app))  # type: ignore[arg-type]  # as above

    def send_400_response(self, msg: str) -> None:
        """Refuse data that is not HTTP."""
        self.refuse(BAD_REQUEST(detail=msg))

    def on_message_complete(self) -> None:
        """Note that the request is complete, even if its answer was complete before."""
        super().on_message_complete()
        self.cycle.more_body = False

    def on_response_complete(self) -> None:
        """Continue with the next request, or wait for it."""
        if self.cycle.more_body and Streams.BODY in self._connections.streams(self.target):
            self.loop.call_later(_LINGER_SECONDS, self._close_unread, self.cycle)
        if self.pipeline or self.flow.read_paused:
            super().on_response_complete()
        else:
            # Start no timer per answer, unlike uvicorn: `Connections` closes connections that are idle for too long.
            self.server_state.total_requests += 1
        self.idle_since = self._connections.now
        self.answer_number = self.server_state.total_requests

    def _close_unread(self, cycle: RequestResponseCycle) -> None:
        """Close the connection if the body of an answered request is not complete."""
        if self.cycle is cycle and cycle.more_body:
            self.transport.close()

    # Called by the limits: errors and closing

    def refuse(self, error: ApiError) -> None:
        """Answer an incomplete request with an error, and close the connection."""
        self._ignores_input, self._head_bytes_left = True, 0
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete:
            self._write_raw(error)
            self.transport.close()
        else:
            # Send the answer to the earlier request first; it is the last one.
            cycle.keep_alive = False

    def expire(self, error: ApiError) -> None:
        """Answer the unfinished request with an error if that is still possible, and close the connection."""
        cycle: RequestResponseCycle | None = self.cycle
        if not self._is_connected or self.transport.is_closing() or self.pipeline:
            self.abort()
        elif self._in_head and (cycle is not None or self._head_bytes_left < self._limits.head_bytes):
            self.refuse(error)
        elif cycle is not None and not cycle.response_complete:
            if not cycle.response_started:
                self._write_raw(error)
            # Tell the application that the client has disconnected.
            cycle.disconnected = True
            cycle.message_event.set()
            self.transport.close()
        else:
            self.transport.close()

    def _write_raw(self, error: ApiError) -> None:
        self._front.recorder.unrouted(error.status)
        self.transport.write(_raw_answer(error, self._front.headers))

    def close(self) -> None:
        """Close the connection once the client has read what it was sent."""
        self.transport.close()

    def abort(self) -> None:
        """Close the connection now; unsent data is lost."""
        self._is_aborted = True
        if self._is_connected:
            # Otherwise the kernel would keep data that the client does not read.
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.transport.abort()
        elif self.handshake is not None:
            self.handshake.cancel()


def _raw_answer(error: ApiError, headers: ResponseHeaders) -> bytes:
    body = orjson.dumps(error.body())
    fixed = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), (b"connection", b"close")]
    lines = [b"%b: %b\r\n" % header for header in (*fixed, *headers.missing_from(fixed))]
    return b"".join((STATUS_LINE[error.status], *lines, b"\r\n", body))
