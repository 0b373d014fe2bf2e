"""The page's own requests to the server in this process, sent as the client that they are made for."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

from magicbyte.http.asgi import ASGIApp, Message, Scope
from magicbyte.http.routing.identity import PEER
from magicbyte.security.principal import FORWARDED_FOR
from magicbyte.ui.messages.exchange import Question, Reply
from serdes.client.requester import OFFSET_HEADER

#: The longest wait for an answer, in seconds.
_SECONDS = 30.0
#: The headers that tell who sends a request, and from where.
_OF_SENDER = frozenset((b"authorization", FORWARDED_FOR))
_OFFSET = OFFSET_HEADER.encode()


class Inside:
    """The application that also serves the page; the workers' questions are requests to it in this process."""

    def __init__(self) -> None:
        self._app: ASGIApp | None = None

    def attach(self, app: ASGIApp) -> None:
        """Use an application."""
        self._app = app

    async def read(self, scope: Scope, question: Question) -> Reply:
        """Send a GET to the application as the sender of another request.

        It has the credentials, the address and the certificate of that request, so the application decides on access
        as if the client had sent it.

        Args:
            scope: The request that this one is made for.
            question: The GET.

        Raises:
            TimeoutError: The application did not answer in time.
        """
        assert self._app is not None
        raw_path, _, query = question.target.partition("?")
        headers = [(b"accept", question.accept.encode())]
        if question.offset is not None:
            headers.append((_OFFSET, question.offset.encode()))
        headers += [(name, value) for name, value in scope["headers"] if name in _OF_SENDER]
        inner: dict[str, Any] = {
            **{name: scope[name] for name in ("asgi", "client", "server", "scheme", PEER) if name in scope},
            "type": "http",
            "http_version": "1.1",
            "root_path": "",
            "method": "GET",
            "path": unquote(raw_path),
            "raw_path": raw_path.encode(),
            "query_string": query.encode(),
            "headers": headers,
        }
        answer = _Answer()
        async with asyncio.timeout(_SECONDS):
            await self._app(inner, _nothing_to_receive(), answer.take)
        offset = next((value.decode() for name, value in answer.headers if name.lower() == _OFFSET), None)
        return Reply(answer.status, b"".join(answer.parts), offset)


def _nothing_to_receive() -> Any:
    pending: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        if pending:
            return pending.pop()
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    return receive


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
