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
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.relay.headers import HeaderPolicy, names_of
from magicbyte.http.relay.relay import Relay, long_body_of
from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.identity import peer_of
from magicbyte.http.routing.request import Request
from magicbyte.kit.sharing.allowance import Allowance
from magicbyte.kit.sharing.fair_queue import FairQueue, NoTurn
from magicbyte.security.principal import FORWARDED_FOR, client_of
from magicbyte.ui import errors
from magicbyte.ui.together_limits import MOST_GETS

log = logging.getLogger("magicbyte.ui")

#: The longest wait for a connection, for the beginning of an answer, and for its next part, in seconds.
_SECONDS = 30.0
#: How many more requests than the settings allow are passed on at once, of clients that have none under way. So one
#: client with slow requests leaves the page to the others.
_RESERVE = 8
#: How many GETs of worker processes, and of requests for several answers, may be under way (`read`); each worker has
#: one at a time.
_MOST_READS = 4 + MOST_GETS
_RETRY_SECONDS = "1"
#: The largest answer that `read` takes, in bytes.
_LARGEST_READ = 64 << 20
#: How many endless answers may be open; they have connections of their own.
_MOST_EVENTS = 512
#: The page's requests and the answers that it reads. Cookies are not passed on.
_POLICY = HeaderPolicy(
    names_of(
        *("accept", "accept-encoding", "accept-language", "authorization", "content-type"),
        *("if-match", "if-none-match", "last-event-id", "sec-fetch-site", "x-request-id", "x-magicbyte-offset"),
    ),
    names_of(
        *("allow", "content-encoding", "content-type", "etag", "last-modified", "link", "magicbyte-complete"),
        *("x-magicbyte-offset", "retry-after", "vary", "www-authenticate"),
    ),
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
        settings: PageSettings,
        *,
        credentials: Credentials = _none,
    ) -> None:
        """Describe the server.

        Args:
            name: Its name in errors, such as `REST proxy`.
            url: Its URL, without a slash at the end.
            tls: Makes the context of connections to an https:// URL.
            settings: The limits of each client, and the proxies whose `X-Forwarded-For` gives a client's address.
            credentials: Returns the credentials for requests whose sender has none.
        """
        self.url = url
        self._name = name
        self._settings = settings
        self._trusted_proxies = settings.trusted_proxies
        self._credentials = credentials
        # A connection without TLS needs no certificates, which take long to load.
        context = tls if url.startswith("https://") else partial(ssl.SSLContext, ssl.PROTOCOL_TLS_CLIENT)
        self._relay, self._events = (
            Relay(
                _POLICY,
                context,
                httpx.Timeout(_SECONDS, read=None),
                user_agent="magicbyte-ui",
                most_connections=most,
                keepalive_seconds=_SECONDS,
            )
            for most in (settings.relayed_requests + _RESERVE + _MOST_READS, _MOST_EVENTS)
        )
        self._open_events = Allowance(settings.page_events_per_client)
        self._turns = FairQueue(
            settings.relayed_requests,
            reserve=_RESERVE,
            most_waiting=settings.relayed_waiting,
            wait_seconds=_SECONDS,
        )

    async def close(self) -> None:
        """Refuse the requests that wait, and close the connections."""
        self._turns.close()
        await self._relay.close()
        await self._events.close()

    async def follow(self, request: Request, path: str) -> Response:
        """Answer a request with an answer of the server that may have no end; see `pass_on`.

        Raises:
            ApiError: as `pass_on`, or 429 if the client has too many such answers open.
        """
        client = client_key(request, self._trusted_proxies)
        if not self._open_events.take(client):
            raise errors.TOO_MANY_EVENTS(limit=self._open_events.most)
        return await self._pass_on(request, path, self._events, partial(self._open_events.give_back, client))

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
            limit, waiting = self._settings.relayed_requests, self._settings.relayed_waiting
            error = errors.TOO_MANY_PASSED_ON(server=self._name, limit=limit, waiting=waiting, reason=refusal)
            raise error.with_headers(Retry_After=_RETRY_SECONDS) from None
        return await self._pass_on(request, path, self._relay, partial(self._turns.give_back, client))

    async def read(
        self, scope: Scope, target: str, headers: Mapping[str, str], most_bytes: int = _LARGEST_READ
    ) -> httpx.Response:
        """Send a GET as the sender of a request, and return the whole answer.

        Args:
            scope: The request that this one is made for.
            target: The encoded path at the server, and the query.
            headers: Further headers.
            most_bytes: The largest answer that is returned.

        Raises:
            TimeoutError: The server did not answer in time.
            ConnectionError: It cannot be reached, or its answer is too large.
        """
        authorization = header(scope, b"authorization")
        own = {} if authorization is None else {"authorization": authorization}
        sent = {**headers, **own} | await self._sender(scope, has_credentials=authorization is not None)
        raw = [(name.encode(), value.encode("latin-1")) for name, value in sent.items()]
        try:
            async with asyncio.timeout(_SECONDS):
                answer = await self._relay.send("GET", self.url, target, raw)
                try:
                    parts, size = [], 0
                    async for part in answer.aiter_bytes():
                        parts.append(part)
                        size += len(part)
                        if size > most_bytes:
                            raise ConnectionError(f"the answer of the {self._name} has more than {most_bytes} bytes")
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

    async def _pass_on(self, request: Request, path: str, relay: Relay, at_end: Callable[[], None]) -> Response:
        """Answer with the server's answer; `at_end` is called when it has ended, or if there is none."""
        try:
            answer = await self._begun(request, path, relay)
        except BaseException:
            at_end()
            raise
        relayed = HeldStream(self._parts(answer), at_end, status=answer.status_code)
        relayed.raw_headers = relay.headers_of(answer)
        return relayed

    async def _begun(self, request: Request, path: str, relay: Relay) -> httpx.Response:
        has_credentials = header(request.scope, b"authorization") is not None
        sender = await self._sender(request.scope, has_credentials=has_credentials)
        added = {name.lower().encode(): value for name, value in sender.items()}
        query = request.scope["query_string"].decode("latin-1")
        target = f"{path}?{query}" if query else path
        try:
            async with asyncio.timeout(_SECONDS):
                return await relay.begin(request, self.url, target, added, body=long_body_of(request))
        except (TimeoutError, httpx.TimeoutException):
            raise errors.TOO_SLOW(server=self._name, seconds=f"{_SECONDS:.0f}") from None
        except httpx.HTTPError as error:
            log.warning(
                "the %s at %s cannot be reached: %r",
                self._name,
                self.url,
                error,
                extra={"event": "upstream_unreachable", "upstream": self._name, "url": self.url, "error": repr(error)},
            )
            raise errors.UNREACHABLE(server=self._name) from None

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
            log.warning(
                "the answer of the %s broke off: %r",
                self._name,
                error,
                extra={"event": "upstream_broke_off", "upstream": self._name, "error": repr(error)},
            )
            raise
        finally:
            await answer.aclose()
