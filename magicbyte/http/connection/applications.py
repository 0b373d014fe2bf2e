"""Chooses the application that serves a request, or refuses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from magicbyte.http.asgi import ASGIApp, Receive, Scope, Send
from magicbyte.http.connection.connections import Connections
from magicbyte.http.connection.hosts import Hosts
from magicbyte.http.connection.pipelining import Pipelining
from magicbyte.http.connection.request.exchange import STATUS_LINE
from magicbyte.http.connection.request.head_checks import refusal_of
from magicbyte.http.connection.request.parser import Head
from magicbyte.http.connection.request_turns import RequestTurns
from magicbyte.http.response_headers import ResponseHeaders
from magicbyte.http.routing.recorder import Recorder
from magicbyte.kit.errors import ApiError

_SERVER_WIDE = b"GET, HEAD, POST, PUT, DELETE, OPTIONS"
#: Requests that have one of these fields come from browsers.
_OF_BROWSERS = frozenset((b"origin", b"sec-fetch-site"))


@dataclass(frozen=True, slots=True)
class Front:
    """The objects that all connections of a server share.

    Attributes:
        app: Serves most requests.
        forwarded_app: Serves requests with the fields of a proxy.
        browser_app: Serves requests that have an Origin or a Sec-Fetch-Site.
        connections: The connections that are open, and their limits.
        headers: The headers of every answer.
        recorder: Counts the answers that do not come from the application.
        pipelining: The pipelined requests of all connections.
        turns: The turns in which requests begin.
    """

    app: ASGIApp
    forwarded_app: ASGIApp
    browser_app: ASGIApp
    connections: Connections
    headers: ResponseHeaders
    recorder: Recorder
    pipelining: Pipelining
    turns: RequestTurns

    def raw_answer(self, error: ApiError) -> bytes:
        """Count and log an error that answers no parsed request, and return the answer; it closes the connection."""
        self.recorder.refuse_unparsed(error)
        body = orjson.dumps(error.body())
        fixed = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        ]
        lines = [b"%b: %b\r\n" % header for header in (*fixed, *self.headers.missing_from(fixed))]
        return b"".join((STATUS_LINE[error.status], *lines, b"\r\n", body))


class Applications:
    """The applications of one connection's requests."""

    def __init__(self, front: Front, hosts: Hosts | None, server: tuple[str, int] | None, scheme: str) -> None:
        """Begin without an accepted Host.

        Args:
            front: The objects shared with the other connections.
            hosts: The accepted Host names; None for any.
            server: The address at which the client reached the server.
            scheme: The scheme of the connection.
        """
        self._front = front
        self._limits = front.connections.limits
        self._hosts = hosts
        self._server = server
        self._scheme = scheme
        #: The last accepted Host: clients send the same one with every request.
        self._accepted_host: bytes | None = None

    def serving(self, head: Head) -> ASGIApp:
        """Return the application that serves a request, or one that refuses it."""
        limits = self._limits
        if (
            head.host == self._accepted_host
            and head.hosts == 1
            and not head.is_special
            and head.target.startswith(b"/")
            and len(head.target) <= limits.target_bytes
            and len(head.fields) <= limits.head_fields
            and head.version == "1.1"
        ):
            return self._front.forwarded_app if head.is_forwarded else self._front.app
        error = refusal_of(head, limits, self._hosts, self._server, self._scheme)
        if error is not None:
            return self.refusing(head, error)
        if head.hosts and not head.scheme:
            self._accepted_host = head.host
        if head.target == b"*":
            return self._front.headers.added_to(self._server_wide_options)
        if any(name in _OF_BROWSERS for name, _ in head.fields):
            return self._front.browser_app
        return self._front.forwarded_app if head.is_forwarded else self._front.app

    def refusing(self, head: Head, error: ApiError, *, close: bool = False) -> ASGIApp:
        """Return an application that answers a request with an error; it closes the connection if a body follows."""
        close = close or head.has_body

        async def refuse(scope: Scope, _receive: Receive, send: Send) -> None:
            await self._front.recorder.refuse(scope, send, error, close=close)

        return self._front.headers.added_to(refuse)

    async def _server_wide_options(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer `OPTIONS *`, a ping of the server (RFC 9110 section 9.3.7)."""
        self._front.recorder.unrouted(200)
        headers: Sequence[tuple[bytes, bytes]] = [(b"allow", _SERVER_WIDE), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
