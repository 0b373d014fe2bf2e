"""A request with its route, principal and access decision."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.requests import Request as StarletteRequest
from starlette.responses import Response

from magicbyte.http.asgi import Receive, Scope, header
from magicbyte.http.routing.access import Decision
from magicbyte.http.routing.limits import limited
from magicbyte.http.routing.table import RouteMatch
from magicbyte.kit.errors import ApiError
from magicbyte.kit.logs.request_facts import CURRENT, RequestFacts
from magicbyte.security.principal import Principal


class Request(StarletteRequest):
    """Starlette's request with the results of the steps before the handler.

    Attributes:
        match: The row that answers it, and the parts of its path.
        row: The row.
        principal: The sender.
        decision: The decision on access, made by the access seam or left to the handler; None if there is none.
        denial: The error of sign-in or of the access decision; None if the request is not refused.
        media_type: The answer's media type; None before it is chosen.
        negotiated: Further results of the server's `Negotiate`.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        match: RouteMatch,
        principal: Principal,
        decision: Decision | None,
        denial: ApiError | None = None,
    ) -> None:
        super().__init__(scope, receive)
        self.match = match
        self.row = match.row
        self.principal = principal
        self.decision = decision
        self.denial = denial
        self.media_type: str | None = None
        self.negotiated: Any = None
        #: What log lines tell of this request.
        self.facts = facts_of(scope, principal)

    def limit_body(self, most_bytes: int) -> None:
        """Refuse the body if it is larger.

        Raises:
            ApiError: 413 if Content-Length exceeds the limit; receiving the body raises it if the body does.
        """
        self._receive = limited(self.scope, self._receive, most_bytes)

    @property
    def request_id(self) -> str:
        """The request's id in logs: the client's id if it is valid, else a new one."""
        return self.facts.request_id

    def tells_id(self, status: int) -> bool:
        """Tell whether the answer has the request's id.

        Only successes of quiet routes have none, unless the client sends one.
        """
        return status >= 400 or not self.row.is_quiet or header(self.scope, b"x-request-id") is not None

    async def body(self) -> bytes:
        """Return the whole body; it is read once and kept for later callers.

        Raises:
            ClientDisconnect: The client disconnected before it had sent the whole body.
        """
        # Unlike `hasattr`, this makes no error for a body that was not read.
        if "_body" not in self.__dict__:
            message = await self.receive()
            chunks = [message.get("body", b"")]
            while message.get("more_body"):
                message = await self.receive()
                chunks.append(message.get("body", b""))
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            self._body = b"".join(chunks)
        return self._body


def facts_of(scope: Scope, principal: Principal) -> RequestFacts:
    """The facts of a request for log lines: those with which its sign-in began, or new ones."""
    facts = CURRENT.get()
    if facts is None or facts.headers is not scope["headers"]:
        return RequestFacts(scope["headers"], principal.name)
    facts.principal = principal.name
    return facts


Handler = Callable[[Request], Awaitable[Response]]
