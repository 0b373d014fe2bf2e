"""The one way to pass a request on to another server."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol

import httpx
from starlette.responses import Response

from magicbyte.http.asgi import header
from magicbyte.http.relay.headers import HeaderPolicy, Headers
from magicbyte.http.routing.identity import IDENTITY, digest_of, target_of
from magicbyte.http.routing.request import Request
from magicbyte.kit import http_client
from magicbyte.kit.traces.current import outgoing_headers

#: An answer is passed on as it was sent, so it is compressed only if the client asks for it.
_UNLESS_SENT = {"accept": "*/*", "accept-encoding": "identity"}
_NO_CONTENT = frozenset((HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED))


def trace_headers() -> dict[bytes, str]:
    """The headers that make the current span the parent of the other server's; empty if traces are off."""
    return {name.encode(): value for name, value in outgoing_headers().items()}


class Prover(Protocol):
    """Proves to another node who sent a request."""

    def proof(self, request: Request, target: str, body_digest: str) -> str:
        """Return the value of the header that proves it."""


@dataclass(frozen=True, slots=True)
class LongBody:
    """A body that is sent in parts.

    Attributes:
        parts: The parts.
        size: Its length in bytes; None if it is unknown.
        digest: Its digest; None if no node has to prove the sender of the request.
    """

    parts: AsyncIterator[bytes]
    size: int | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class RelayedAnswer:
    """A whole answer.

    Attributes:
        status: The status.
        headers: The headers that are passed on.
        content: The body, as the server has sent it.
    """

    status: int
    headers: Headers
    content: bytes

    def response(self, kind: type[Response] = Response) -> Response:
        """The response to the client, of a class that says how it was made."""
        response = kind(self.content, self.status)
        response.raw_headers = self.headers.copy()
        if self.status not in _NO_CONTENT:
            response.raw_headers.append((b"content-length", b"%d" % len(self.content)))
        return response


@dataclass(slots=True, eq=False)
class Relay:
    """Passes requests on to other servers; connections are opened when they are first needed.

    Attributes:
        policy: The headers that travel.
        tls: Makes the context of connections to https:// URLs.
        timeouts: How long to wait for a connection, and for each part of an answer, in seconds.
        prover: Proves to other nodes who sent a request; None if nothing has to be proved.
        user_agent: The User-Agent of requests, unless the policy passes on the client's.
        most_connections: How many connections may be open; None for any number.
        keepalive_seconds: How long an idle connection stays open.
    """

    policy: HeaderPolicy
    tls: Callable[[], ssl.SSLContext]
    timeouts: httpx.Timeout
    prover: Prover | None = None
    user_agent: str = "magicbyte"
    most_connections: int | None = None
    keepalive_seconds: float = 5.0
    _client: httpx.AsyncClient | None = field(default=None, init=False)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def ask(
        self,
        request: Request,
        url: str,
        added: Mapping[bytes, str],
        *,
        body: LongBody | None = None,
        timeouts: httpx.Timeout | None = None,
    ) -> RelayedAnswer:
        """Pass a request on, and return the whole answer.

        Args:
            request: The request; its body is read whole unless `body` is given.
            url: The URL of the server.
            added: Headers that are set, whether the client has sent them or not; names are in lower case.
            body: The body, if it is sent in parts.
            timeouts: The timeouts of this request.

        Raises:
            httpx.HTTPError: The server cannot be reached, or does not answer in time.
        """
        content = await request.body() if body is None else body
        answer = await self.begin(request, url, target_of(request.scope), added, body=content, timeouts=timeouts)
        try:
            parts = [part async for part in answer.aiter_raw()]
        finally:
            await answer.aclose()
        return RelayedAnswer(answer.status_code, self.policy.to_answer(answer.headers.raw), b"".join(parts))

    async def begin(
        self,
        request: Request,
        url: str,
        target: str,
        added: Mapping[bytes, str],
        *,
        body: bytes | LongBody | None,
        timeouts: httpx.Timeout | None = None,
    ) -> httpx.Response:
        """Pass a request on, and return the beginning of the answer; the caller reads the rest and closes it.

        Args:
            request: The request.
            url: The URL of the server.
            target: The encoded path at the server, and the query.
            added: As for `ask`.
            body: The body; None if there is none.
            timeouts: As for `ask`.

        Raises:
            httpx.HTTPError: As for `ask`.
        """
        copied = self.policy.to_send(request.scope["headers"])
        headers = [line for line in copied if line[0] not in added]
        headers += [(name, value.encode("latin-1")) for name, value in added.items()]
        if self.prover is not None:
            # The node compares the proof with the target that it receives.
            received = url_of(url, target).raw_path.decode("ascii")
            digest = body.digest if isinstance(body, LongBody) else digest_of(body or b"")
            assert digest is not None, "the proof is about a body with a digest"
            headers.append((IDENTITY, self.prover.proof(request, received, digest).encode()))
        if isinstance(body, LongBody) and body.size is not None:
            headers.append((b"content-length", b"%d" % body.size))
        content = body.parts if isinstance(body, LongBody) else body
        return await self.send(request.method, url, target, headers, content=content, timeouts=timeouts)

    def headers_of(self, answer: httpx.Response) -> Headers:
        """The headers to pass on with an answer that is passed on in parts, as it was sent."""
        length = answer.headers.get("content-length")
        return [
            *self.policy.to_answer(answer.headers.raw),
            *([] if length is None else [(b"content-length", length.encode())]),
        ]

    async def send(
        self,
        method: str,
        url: str,
        target: str,
        headers: Iterable[tuple[bytes, bytes]],
        *,
        content: bytes | AsyncIterator[bytes] | None = None,
        timeouts: httpx.Timeout | None = None,
    ) -> httpx.Response:
        """Send a request of this server's own, and return the beginning of the answer.

        Args:
            method: The method.
            url: The URL of the server.
            target: The encoded path at the server, and the query.
            headers: The headers.
            content: The body.
            timeouts: The timeouts of this request.

        Raises:
            httpx.HTTPError: As for `ask`.
        """
        client = self._client = self._client or self._opened()
        sent = client.build_request(
            method,
            url_of(url, target),
            headers=list(headers),
            content=content,
            timeout=self.timeouts if timeouts is None else timeouts,
        )
        return await http_client.send(client, sent, stream=True)

    def _opened(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            trust_env=False,
            verify=self.tls(),
            timeout=self.timeouts,
            limits=httpx.Limits(max_connections=self.most_connections, keepalive_expiry=self.keepalive_seconds),
            headers={**_UNLESS_SENT, "user-agent": self.user_agent},
        )


def url_of(server: str, target: str) -> httpx.URL:
    """The URL of a target at a server, whose URL may have a path; bytes that are not ASCII are percent-encoded."""
    if not target.isascii():
        target = "".join(char if char.isascii() else f"%{ord(char):02X}" for char in target)
    url = httpx.URL(server)
    return url.copy_with(raw_path=url.raw_path.rstrip(b"/") + target.encode("ascii"))


def long_body_of(request: Request) -> LongBody | None:
    """The body of a request, passed on as it arrives; None if it has none."""
    length = header(request.scope, b"content-length")
    if length is None and header(request.scope, b"transfer-encoding") is None:
        return None
    return LongBody(request.stream(), None if length is None else int(length))
