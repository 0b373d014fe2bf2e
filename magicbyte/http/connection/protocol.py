"""HTTP/1.1 on one connection: one request at a time, within the limits on requests that are not yet complete."""

from __future__ import annotations

import asyncio
import socket
import struct
from functools import partial
from typing import Any

import httptools
from uvicorn import Config
from uvicorn.server import ServerState

from magicbyte.http.asgi import ASGIApp
from magicbyte.http.connection.applications import Applications, Front
from magicbyte.http.connection.flow import Flow
from magicbyte.http.connection.hosts import Hosts
from magicbyte.http.connection.joined_writes import JoinedWrites
from magicbyte.http.connection.request.exchange import Exchange
from magicbyte.http.connection.request.parser import Head, RequestParser
from magicbyte.http.connection.request.scope import connection_scope, request_scope
from magicbyte.http.errors import BAD_REQUEST
from magicbyte.http.routing.identity import PEER
from magicbyte.http.routing.rows import Streams
from magicbyte.kit.errors import ApiError
from magicbyte.security.principal import Peer

#: SO_LINGER with a time of 0: closing discards unsent data and resets the connection.
_RESET = struct.pack("ii", 1, 0)
#: How long a client may take to notice that its stream has been answered to the end, in seconds. If the connection were
#: closed while it still sends, it could lose the end of the answer.
_LINGER_SECONDS = 2.0


class HttpConnection(asyncio.Protocol):
    """One connection, over TCP or TLS: uvicorn's `http` protocol.

    It parses a request only when the one before it has been answered. Until then, received data stays unparsed, and
    nothing more is read. So pipelined requests cost no more than one read.
    """

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
        self.address = address
        self.idle_since, self.answer_number = 0.0, 0
        self.peer = Peer("")
        #: The task of a TLS handshake that is not finished.
        self.handshake: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._front = front
        self._connections = front.connections
        self._limits = front.connections.limits
        self._hosts = hosts
        self._root_path = config.root_path
        self._server_state = server_state
        self._app_state = app_state
        self._exchange: Exchange | None = None
        #: Received data behind a request that is not answered, and where it begins.
        self._unparsed, self._unparsed_start = b"", 0
        #: Whether the request that is parsed was sent before the answer to the one before it.
        self._is_pipelined = False
        #: The error that follows the current answer.
        self._late_refusal: ApiError | None = None
        #: Whether the limits count an unfinished head, and whether they count an unfinished request at all.
        self._is_head_counted = self._is_counted = True
        #: Whether received data is ignored, because the connection closes after the current answer.
        self._ignores_input = False
        self._is_connected = self._is_aborted = False
        self._connections.add(self)

    # Called by the limits: the state of the connection

    @property
    def is_idle(self) -> bool:
        """Whether all requests so far have been answered, and no new one has begun."""
        exchange = self._exchange
        is_answered = exchange is not None and exchange.is_answered
        return is_answered and not self._unparsed and not self._parser.is_in_head

    @property
    def is_closing(self) -> bool:
        """Whether the connection is open only until the client has read the rest of an answer."""
        return self._is_connected and self.transport.is_closing()

    @property
    def is_held_up(self) -> bool:
        """Whether the body makes no progress because this server does not read it."""
        return self._flow.is_read_paused or (self._exchange is not None and self._exchange.expects_continue)

    @property
    def target(self) -> bytes:
        """The path of the last request."""
        return bytes(self._exchange.scope["raw_path"]) if self._exchange is not None else b""

    # Called by the transport

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to read requests."""
        self._server_state.connections.add(self)  # type: ignore[arg-type]  # uvicorn only calls its `shutdown`
        self._flow = Flow(transport)
        self._parser = RequestParser(self, self._limits.head_bytes)
        self.transport = JoinedWrites(transport, self._loop)
        self._is_connected = True
        scope = connection_scope(transport, self._root_path)
        self._connection_scope = scope
        self.applications = Applications(self._front, self._hosts, scope["server"], scope["scheme"])
        # The peer is the TCP client, even if it is a proxy on this machine: forwarded headers are only used for URLs.
        self.peer = Peer(scope["client"][0] if scope["client"] else "")
        if self._is_aborted:
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection."""
        self._connections.remove(self)
        self._server_state.connections.discard(self)
        self._ignore_input()
        exchange, turns = self._exchange, self._front.turns
        if exchange is not None:
            exchange.is_disconnected = True
            if not exchange.is_answered:
                turns.leave(exchange.wake)
        if exc is None:
            self.transport.close()

    def pause_writing(self) -> None:
        """Note that the client does not read its answer."""
        self._connections.stalled(self)
        self._flow.pause_writing()

    def resume_writing(self) -> None:
        """Note that the client reads its answer again."""
        self._connections.resumed(self)
        self._flow.resume_writing()

    def eof_received(self) -> None:
        """Let the transport close: no client half-closes its connection and then waits for an answer."""

    def data_received(self, data: bytes) -> None:
        """Parse the data, or keep it until the current request has been answered."""
        if self._ignores_input:
            return
        if self._unparsed:
            self._hold(self._unparsed[self._unparsed_start :] + data, 0)
        else:
            self._parse(data, 0)

    def _parse(self, data: bytes, start: int) -> None:
        size, position = len(data), start
        parser = self._parser
        try:
            while position < size and not self._ignores_input:
                exchange = self._exchange
                if exchange is not None and exchange.awaits_answer:
                    self._hold(data, position)
                    break
                position = parser.feed(data, position)
        except httptools.HttpParserError:
            self._refuse(BAD_REQUEST(detail="Invalid HTTP request received."))
        except ApiError as error:
            self._refuse(error)
        else:
            self._count(position - start)

    def _count(self, size: int) -> None:
        """Tell the limits how far the current request is; `size` bytes have just been parsed."""
        if self._parser.is_in_body:
            self._is_head_counted, self._is_counted = False, True
            self._connections.body_received(self, size)
        elif self._parser.is_in_head:
            if not self._is_head_counted:
                self._is_head_counted = self._is_counted = True
                self._connections.head_begun(self)
        elif self._is_counted:
            self._is_head_counted = self._is_counted = False
            self._connections.finished(self)

    def _hold(self, data: bytes, start: int) -> None:
        self._unparsed, self._unparsed_start = data, start
        self._flow.hold()
        self._front.pipelining.hold(self, len(data))

    def _ignore_input(self) -> None:
        self._ignores_input, self._unparsed = True, b""
        self._front.pipelining.release(self)

    # Called by the parser

    def on_head(self, head: Head) -> Exchange:
        """Serve a request whose head is complete; return its exchange, which takes its body."""
        previous = self._exchange
        if previous is not None and not previous.is_answered:
            # A head that does not end with an empty line: older versions of httptools accept bare line feeds.
            raise httptools.HttpParserError("two requests in one slice")
        scope = request_scope(head, self._connection_scope)
        scope["state"], scope[PEER] = self._app_state.copy(), self.peer
        exchange = Exchange(
            scope,
            self.transport,
            self._flow,
            self._on_answered,
            expects_continue=head.expects_continue,
            keep_alive=self.keeps_open(head),
        )
        self._exchange = exchange
        app, turns = self.app_for(head), self._front.turns
        if turns.may_begin():
            exchange.start(app, self._loop, self._server_state.tasks)
        else:
            begin = partial(exchange.start, app, self._loop, self._server_state.tasks)
            turns.add(begin, self.address, self._line_of(head))
        return exchange

    def _line_of(self, head: Head) -> str:
        """Return the line of a request among those of its address: one for each sender, however the header is spelled.

        The credentials are not verified yet. Whoever sends many different ones has no more turns than with many
        connections. Pipelined requests have lines of their own, so that a connection without any waits for none.
        """
        words = next((value for name, value in head.fields if name == b"authorization"), b"").split()
        credentials = words[-1].decode("latin-1") if words else ""
        return f"{self._is_pipelined:d}{credentials}"

    def on_end(self) -> None:
        """Note that the request is complete, even if its answer was complete before."""
        exchange = self._exchange
        assert exchange is not None
        exchange.end_body()
        if not exchange.keep_alive:
            self._ignore_input()

    def app_for(self, head: Head) -> ASGIApp:
        """Return the application that serves a request, or one that refuses it."""
        return self.applications.serving(head)

    def keeps_open(self, head: Head) -> bool:
        """Whether the connection stays open after the answer."""
        return head.keep_alive

    # Called by the exchange

    def _on_answered(self) -> None:
        """Continue with the next request, or wait for it."""
        exchange, state = self._exchange, self._server_state
        assert exchange is not None
        state.total_requests = self.answer_number = state.total_requests + 1
        self.idle_since = self._connections.now
        if self.transport.is_closing():
            return
        if self._late_refusal is not None:
            self._refuse(self._late_refusal)
        if self._ignores_input:
            return
        if exchange.more_body and Streams.BODY in self._connections.streams(self.target):
            self._loop.call_later(_LINGER_SECONDS, self._close_unread, exchange)
        self._flow.resume_body()
        if self._unparsed:
            self._loop.call_soon(self._continue)

    def _continue(self) -> None:
        """Parse the request that has waited for the answer to the one before it."""
        if self._ignores_input or self.transport.is_closing():
            return
        data, self._unparsed = self._unparsed, b""
        self._is_pipelined = True
        self._parse(data, self._unparsed_start)
        self._is_pipelined = False
        if not self._unparsed:
            self._flow.release()
            self._front.pipelining.release(self)

    def _close_unread(self, exchange: Exchange) -> None:
        """Close the connection if the body of an answered request is not complete."""
        if self._exchange is exchange and exchange.more_body:
            self.transport.close()

    # Called by the limits and by uvicorn: errors and closing

    def expire(self, error: ApiError) -> None:
        """Answer the unfinished request with an error if that is still possible, and close the connection."""
        if not self._is_connected or self.transport.is_closing():
            self.abort()
            return
        if self._exchange is None and not self._parser.is_in_head:
            # Nothing has arrived, so there is nothing to answer.
            self.transport.close()
        else:
            self._refuse(error)

    def refuse_pipelined(self, error: ApiError) -> None:
        """Drop the pipelined requests; after the current answer, answer with an error and close the connection."""
        self._connections.count_closed("over the limit of pipelined bytes")
        if self._exchange is not None and self._exchange.awaits_answer:
            self._late_refusal = error
            self._ignore_input()
        else:
            self._refuse(error)

    def _refuse(self, error: ApiError) -> None:
        """Answer the current request with an error, unless its answer has begun, and close the connection."""
        exchange = self._exchange
        if exchange is None or (exchange.is_answered and not self._parser.is_in_body):
            self._write_raw(error)
        elif not exchange.is_answered:
            if not exchange.is_answer_begun:
                self._write_raw(error)
            exchange.disconnect()
        self._ignore_input()
        self.transport.close()

    def _write_raw(self, error: ApiError) -> None:
        self.transport.write(self._front.raw_answer(error))

    def shutdown(self) -> None:
        """Close the connection after the current answer, because the server stops."""
        if self._exchange is None or self._exchange.is_answered:
            self.transport.close()
        else:
            self._exchange.keep_alive = False

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
