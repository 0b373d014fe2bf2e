"""The page's own requests to the server in this process, sent as the client that they are made for."""

from __future__ import annotations

import asyncio

from magicbyte.http.asgi import ASGIApp, Scope
from magicbyte.http.relay.in_process import ask
from magicbyte.http.routing.identity import PEER
from magicbyte.security.principal import FORWARDED_FOR
from magicbyte.ui.messages.exchange import Question, Reply
from serdes.client.requester import OFFSET_HEADER

#: The longest wait for an answer, in seconds.
_SECONDS = 30.0
#: The headers that tell who sends a request, and from where.
_OF_SENDER = frozenset((b"authorization", FORWARDED_FOR))
#: The scope's keys of the connection that a request has come by.
_OF_CONNECTION = ("asgi", "client", "server", "scheme", PEER)
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
            ConnectionError: It did not complete its answer, or the answer is too large.
        """
        assert self._app is not None
        headers = [(b"accept", question.accept.encode())]
        if question.offset is not None:
            headers.append((_OFFSET, question.offset.encode()))
        headers += [(name, value) for name, value in scope["headers"] if name in _OF_SENDER]
        connection = {name: scope[name] for name in _OF_CONNECTION if name in scope}
        async with asyncio.timeout(_SECONDS):
            answer = await ask(
                self._app, "GET", question.target, headers, connection=connection, most_bytes=question.most_bytes
            )
        return Reply(answer.status, answer.content, answer.header(_OFFSET))
