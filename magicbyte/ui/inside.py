"""The page's own requests to the server in this process, sent as the client that they are made for."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from magicbyte.http.asgi import ASGIApp, Message, Scope
from magicbyte.http.routing.identity import PEER
from magicbyte.security.principal import FORWARDED_FOR
from serdes.client.clients import RegistryClient, Retry

#: The longest wait for an answer, in seconds.
_SECONDS = 30.0
#: The headers that tell who sends a request, and from where.
_OF_SENDER = frozenset((b"authorization", FORWARDED_FOR))


class Inside:
    """The application that also serves the page; the registry's client calls it in this process."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self, app: ASGIApp, loop: asyncio.AbstractEventLoop) -> None:
        """Use an application that runs on a loop."""
        self._app, self._loop = app, loop

    def client(self, scope: Scope) -> RegistryClient:
        """Return a client whose requests have the sender of another request, for use in a thread."""
        assert self._app is not None
        assert self._loop is not None
        transport = InsideTransport(self._app, self._loop, scope)
        return RegistryClient("http://registry", transport=transport, retry=Retry(0))


class InsideTransport(httpx.BaseTransport):
    """Calls an application on its event loop, from a thread.

    Its requests have the credentials, the address and the certificate of the request that they are made for, so the
    application decides on access as if the client had sent them.
    """

    def __init__(self, app: ASGIApp, loop: asyncio.AbstractEventLoop, scope: Scope) -> None:
        """Prepare requests.

        Args:
            app: The application.
            loop: The loop that the application runs on.
            scope: The request that the others are made for.
        """
        self._app = app
        self._loop = loop
        self._scope = scope

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Call the application and wait for its answer.

        Raises:
            httpx.ReadTimeout: It did not answer in time.
        """
        answering = asyncio.run_coroutine_threadsafe(self._answer(request, request.read()), self._loop)
        try:
            return answering.result(_SECONDS)
        except TimeoutError:
            answering.cancel()
            raise httpx.ReadTimeout("the server did not answer in time", request=request) from None

    async def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        raw_path, _, query = request.url.raw_path.partition(b"?")
        headers = [(name.lower(), value) for name, value in request.headers.raw if name.lower() not in _OF_SENDER]
        headers += [(name, value) for name, value in self._scope["headers"] if name in _OF_SENDER]
        scope: dict[str, Any] = {
            **{name: self._scope[name] for name in ("asgi", "client", "server", "scheme", PEER) if name in self._scope},
            "type": "http",
            "http_version": "1.1",
            "root_path": "",
            "method": request.method,
            "path": request.url.path,
            "raw_path": raw_path,
            "query_string": query,
            "headers": headers,
        }
        answer = _Answer()
        pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if pending:
                return pending.pop()
            await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        await self._app(scope, receive, answer.take)
        return httpx.Response(answer.status, headers=answer.headers, content=b"".join(answer.parts))


class _Answer:
    """The answer of an application, as it sends it."""

    def __init__(self) -> None:
        self.status = 500
        self.headers: list[tuple[bytes, bytes]] = []
        self.parts: list[bytes] = []

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], list(message["headers"])
        else:
            self.parts.append(message.get("body", b""))
