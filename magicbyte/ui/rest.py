"""Passes requests of the page on to one fixed server, such as the REST proxy, and relays its answers in parts."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial

import httpx
from starlette.responses import Response

from magicbyte.http.asgi import Scope, header
from magicbyte.http.held_stream import HeldStream
from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.identity import peer_of
from magicbyte.http.routing.request import Request
from magicbyte.kit.sharing.allowance import Allowance
from magicbyte.kit.sharing.fair_queue import FairQueue, NoTurn
from magicbyte.security.principal import FORWARDED_FOR, Network, client_of
from magicbyte.ui import errors

log = logging.getLogger("magicbyte.ui")

#: The longest wait for a connection, for the beginning of an answer, and for its next part, in seconds.
_SECONDS = 30.0
#: How many requests are passed on at once, and how many more of clients that have none under way. So one client with
#: slow requests leaves the page to the others.
_MOST_UNDER_WAY, _RESERVE = 24, 8
#: How many requests of one client may wait.
_MOST_WAITING = 64
#: How many GETs of worker processes may be under way (`read`); each worker has one at a time.
_MOST_READS = 4
_RETRY_SECONDS = "1"
#: The largest answer that `read` takes, in bytes.
_LARGEST_READ = 64 << 20
#: How many endless answers may be open, in all and for one client; they have connections of their own.
_MOST_EVENTS, _EVENTS_PER_CLIENT = 512, 16
#: Headers of requests and answers that are passed on. Cookies and headers of the connection are not. `pass_on` sets the
#: client's address.
_PASSED_ON = (
    *("accept", "accept-encoding", "accept-language", "authorization", "content-length", "content-type"),
    *("if-match", "if-none-match", "last-event-id", "sec-fetch-site", "x-request-id", "x-magicbyte-offset"),
)
_RELAYED = frozenset(
    (
        *("allow", "content-encoding", "content-length", "content-type", "etag", "last-modified", "link"),
        *("magicbyte-complete", "x-magicbyte-offset", "retry-after", "vary", "www-authenticate"),
    )
)
#: An answer of this type continues as long as the client wants, with pauses of any length.
_EVENTS = "text/event-stream"

#: Returns the headers with credentials for requests that have none.
Credentials = Callable[[], Awaitable[Mapping[str, str]]]


async def _none() -> Mapping[str, str]:
    return {}


class Upstream:
    """One server behind the page; connections are opened when they are first needed."""

    def __init__(
        self,
        name: str,
        url: str,
        tls: Callable[[], ssl.SSLContext],
        *,
        trusted_proxies: tuple[Network, ...] = (),
        credentials: Credentials = _none,
    ) -> None:
        """Describe the server.

        Args:
            name: Its name in errors, such as `REST proxy`.
            url: Its URL, without a slash at the end.
            tls: Makes the context of connections to an https:// URL.
            trusted_proxies: Networks whose `X-Forwarded-For` gives the address of a client.
            credentials: Returns the credentials for requests whose sender has none.
        """
        self.url = url
        self._name = name
        self._tls = tls
        self._trusted_proxies = trusted_proxies
        self._credentials = credentials
        self._client: httpx.AsyncClient | None = None
        self._events: httpx.AsyncClient | None = None
        self._open_events = Allowance(_EVENTS_PER_CLIENT)
        self._turns = FairQueue(_MOST_UNDER_WAY, reserve=_RESERVE, most_waiting=_MOST_WAITING, wait_seconds=_SECONDS)

    async def close(self) -> None:
        """Refuse the requests that wait, and close the connections."""
        self._turns.close()
        for client in filter(None, (self._client, self._events)):
            await client.aclose()

    async def follow(self, request: Request, path: str) -> Response:
        """Answer a request with an answer of the server that may have no end; see `pass_on`.

        Raises:
            ApiError: as `pass_on`, or 429 if the client has too many such answers open.
        """
        client = client_key(request, self._trusted_proxies)
        if not self._open_events.take(client):
            raise errors.TOO_MANY_EVENTS(limit=_EVENTS_PER_CLIENT)
        http = self._events = self._events or self._open(_MOST_EVENTS)
        return await self._pass_on(request, path, http, partial(self._open_events.give_back, client))

    async def pass_on(self, request: Request, path: str) -> Response:
        """Answer a request with the server's answer.

        Args:
            request: The request; its body is passed on as it arrives.
            path: The encoded path at the server.

        Raises:
            ApiError: 429 if the client has too many requests under way, 502 if the server cannot be reached, 504 if its
                answer does not begin in time.
        """
        client = client_key(request, self._trusted_proxies)
        try:
            await self._turns.take(client)
        except NoTurn as refusal:
            error = errors.TOO_MANY_PASSED_ON(server=self._name, limit=_MOST_UNDER_WAY, reason=refusal)
            raise error.with_headers(Retry_After=_RETRY_SECONDS) from None
        return await self._pass_on(request, path, self._usual(), partial(self._turns.give_back, client))

    async def read(self, scope: Scope, target: str, headers: Mapping[str, str]) -> httpx.Response:
        """Send a GET as the sender of a request, and return the whole answer.

        Args:
            scope: The request that this one is made for.
            target: The encoded path at the server, and the query.
            headers: Further headers.

        Raises:
            TimeoutError: The server did not answer in time.
            ConnectionError: It cannot be reached, or its answer is too large.
        """
        client = self._usual()
        authorization = header(scope, b"authorization")
        sent = client.build_request(
            "GET",
            self._url_of(target.encode()),
            headers={**headers, **({} if authorization is None else {"authorization": authorization})}
            | await self._sender(scope, has_credentials=authorization is not None),
        )
        try:
            async with asyncio.timeout(_SECONDS):
                answer = await client.send(sent, stream=True)
                try:
                    parts, size = [], 0
                    async for part in answer.aiter_bytes():
                        parts.append(part)
                        size += len(part)
                        if size > _LARGEST_READ:
                            raise ConnectionError(f"the answer of the {self._name} has more than {_LARGEST_READ} bytes")
                finally:
                    await answer.aclose()
        except httpx.TimeoutException as error:
            raise TimeoutError(f"the {self._name} at {self.url}: {error!r}") from error
        except httpx.HTTPError as error:
            raise ConnectionError(f"the {self._name} at {self.url}: {error!r}") from error
        # The parts are decoded already.
        headers = {name: value for name, value in answer.headers.items() if name != "content-encoding"}
        return httpx.Response(answer.status_code, headers=headers, content=b"".join(parts))

    async def _sender(self, scope: Scope, *, has_credentials: bool) -> dict[str, str]:
        """The headers that say who sends a request, and from where; `has_credentials` if it has its own."""
        address = client_of(scope["headers"], peer_of(scope).address, self._trusted_proxies)
        return {FORWARDED_FOR.decode(): address, **({} if has_credentials else await self._credentials())}

    def _url_of(self, target: bytes) -> httpx.URL:
        url = httpx.URL(self.url)
        return url.copy_with(raw_path=url.raw_path.rstrip(b"/") + target)

    async def _pass_on(
        self, request: Request, path: str, client: httpx.AsyncClient, at_end: Callable[[], None]
    ) -> Response:
        """Answer with the server's answer; `at_end` is called when it has ended, or if there is none."""
        try:
            answer = await self._sent(request, path, client)
        except BaseException:
            at_end()
            raise
        relayed = HeldStream(self._parts(answer), at_end, status=answer.status_code)
        relayed.raw_headers = [
            (lower, value) for name, value in answer.headers.raw if (lower := name.lower()).decode() in _RELAYED
        ]
        return relayed

    async def _sent(self, request: Request, path: str, client: httpx.AsyncClient) -> httpx.Response:
        headers = {name: ", ".join(request.headers.getlist(name)) for name in _PASSED_ON if name in request.headers}
        headers |= await self._sender(request.scope, has_credentials="authorization" in headers)
        query = request.scope["query_string"]
        target = path.encode("latin-1") + (b"?" + query if query else b"")
        has_body = "content-length" in request.headers or "transfer-encoding" in request.headers
        sent = client.build_request(
            request.method,
            self._url_of(target),
            headers=headers,
            content=request.stream() if has_body else None,
        )
        try:
            async with asyncio.timeout(_SECONDS):
                return await client.send(sent, stream=True)
        except (TimeoutError, httpx.TimeoutException):
            raise errors.TOO_SLOW(server=self._name, seconds=f"{_SECONDS:.0f}") from None
        except httpx.HTTPError as error:
            log.warning("the %s at %s cannot be reached: %r", self._name, self.url, error)
            raise errors.UNREACHABLE(server=self._name) from None

    def _usual(self) -> httpx.AsyncClient:
        """The connections of all requests except endless ones."""
        self._client = self._client or self._open(_MOST_UNDER_WAY + _RESERVE + _MOST_READS)
        return self._client

    def _open(self, most: int) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            trust_env=False,
            verify=self._tls() if self.url.startswith("https://") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            timeout=httpx.Timeout(_SECONDS, read=None),
            limits=httpx.Limits(max_connections=most, keepalive_expiry=_SECONDS),
            headers={"user-agent": "magicbyte-ui", "accept": "*/*", "accept-encoding": "identity"},
        )

    async def _parts(self, answer: httpx.Response) -> AsyncIterator[bytes]:
        has_end = not answer.headers.get("content-type", "").startswith(_EVENTS)
        parts = answer.aiter_raw()
        try:
            while True:
                async with asyncio.timeout(_SECONDS if has_end else None):
                    part = await anext(parts, b"")
                if not part:
                    return
                yield part
        except (TimeoutError, httpx.HTTPError) as error:
            # The connection is closed, so the client sees that the answer is not complete.
            log.warning("the answer of the %s broke off: %r", self._name, error)
            raise
        finally:
            await answer.aclose()
