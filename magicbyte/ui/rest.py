"""Passes requests of the page on to one fixed server, such as the REST proxy, and relays its answers in parts."""

from __future__ import annotations

import logging
import ssl
from collections.abc import AsyncIterator, Callable

import httpx
from starlette.responses import Response, StreamingResponse

from magicbyte.http.routing.request import Request
from magicbyte.ui import errors

log = logging.getLogger("magicbyte.ui")

#: The longest wait for a connection, for the beginning of an answer, and for its next part, in seconds.
_SECONDS = 30.0
_MOST_CONNECTIONS = 32
#: Headers of requests and answers that are passed on. Cookies, addresses and headers of the connection are not.
_PASSED_ON = (
    *("accept", "accept-encoding", "accept-language", "authorization", "content-type", "if-match", "if-none-match"),
    *("last-event-id", "x-request-id"),
)
_RELAYED = (
    *("allow", "content-encoding", "content-length", "content-type", "etag", "last-modified", "link", "retry-after"),
    *("www-authenticate", "x-request-id", "magicbyte-complete", "x-magicbyte-complete"),
)


class Upstream:
    """One server behind the page; connections are opened when they are first needed."""

    def __init__(
        self, name: str, url: str, tls: Callable[[], ssl.SSLContext], headers: dict[str, str] | None = None
    ) -> None:
        """Describe the server.

        Args:
            name: What errors call it, such as `REST proxy`.
            url: Its URL, without a slash at the end.
            tls: Makes the context of connections to an https:// URL.
            headers: Sent with each request that has no header of the same name.
        """
        self.url = url
        self._name = name
        self._tls = tls
        self._headers = headers or {}
        self._client: httpx.AsyncClient | None = None

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def pass_on(self, request: Request, path: str) -> Response:
        """Answer a request with the server's answer.

        Args:
            request: The request; its body is passed on as it arrives.
            path: The encoded path at the server.

        Raises:
            ApiError: 502 if the server cannot be reached, 504 if its answer does not begin in time.
        """
        client = self._client = self._client or self._open()
        headers = {**self._headers}
        headers |= {name: ", ".join(request.headers.getlist(name)) for name in _PASSED_ON if name in request.headers}
        has_body = "content-length" in request.headers or "transfer-encoding" in request.headers
        if has_body and "content-length" in request.headers:
            headers["content-length"] = request.headers["content-length"]
        base, query = httpx.URL(self.url), request.scope["query_string"]
        target = base.raw_path.rstrip(b"/") + path.encode("latin-1") + (b"?" + query if query else b"")
        sent = client.build_request(
            request.method,
            base.copy_with(raw_path=target),
            headers=headers,
            content=request.stream() if has_body else None,
        )
        try:
            answer = await client.send(sent, stream=True)
        except httpx.TimeoutException:
            raise errors.TOO_SLOW(server=self._name, seconds=f"{_SECONDS:.0f}") from None
        except httpx.HTTPError as error:
            log.warning("the %s at %s cannot be reached: %r", self._name, self.url, error)
            raise errors.UNREACHABLE(server=self._name) from None
        relayed = StreamingResponse(self._parts(answer), answer.status_code)
        relayed.raw_headers = [
            (name, value) for name, value in answer.headers.raw if name.lower().decode("latin-1") in _RELAYED
        ]
        return relayed

    def _open(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            trust_env=False,
            verify=self._tls() if self.url.startswith("https://") else False,
            timeout=_SECONDS,
            limits=httpx.Limits(max_connections=_MOST_CONNECTIONS, keepalive_expiry=_SECONDS),
            headers={"user-agent": "magicbyte-ui", "accept-encoding": "identity"},
        )

    async def _parts(self, answer: httpx.Response) -> AsyncIterator[bytes]:
        try:
            async for part in answer.aiter_raw():
                yield part
        except httpx.HTTPError as error:
            # The client sees that the answer has no end.
            log.warning("the answer of the %s broke off: %r", self._name, error)
            raise
        finally:
            await answer.aclose()
