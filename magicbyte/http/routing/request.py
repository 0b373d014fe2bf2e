"""A request on its way through a server."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect
from starlette.requests import Request as StarletteRequest

from magicbyte.http.asgi import Receive, Scope, header
from magicbyte.http.routing.access import Decision
from magicbyte.http.routing.limits import limited
from magicbyte.kit.errors import ApiError
from magicbyte.security.principal import Principal

if TYPE_CHECKING:
    from magicbyte.http.routing.rows import Row
    from magicbyte.http.routing.table import Found

#: A request id that a client may choose; another is replaced, so that it cannot forge lines of a log.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
#: Makes request ids, which need not be secret: to ask the system for each would hand the interpreter to other threads.
_random_bits = random.Random().getrandbits  # noqa: S311  as it says


class Request(StarletteRequest):
    """Starlette's request with what the way to the handler has found out.

    Attributes:
        found: The row that answers it, and what its path says.
        row: The row.
        principal: Who sends it.
        decision: What the access seam decided; None if nothing.
        denial: Why the request is refused, by sign-in or by the access seam; None if it is not.
        media_type: The answer's media type; None before it is chosen.
        negotiated: What else the media types say, as the server's `Negotiate` left it.
    """

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        found: Found,
        principal: Principal,
        decision: Decision | None,
        denial: ApiError | None = None,
    ) -> None:
        super().__init__(scope, receive)
        self.found = found
        self.row: Row = found.row
        self.principal = principal
        self.decision = decision
        self.denial = denial
        self.media_type: str | None = None
        self.negotiated: Any = None
        self._id: str | None = None

    def limit_body(self, most_bytes: int) -> None:
        """Refuse the body if it is larger.

        Raises:
            ApiError: 413 if it is declared to be; receiving it raises the same if it comes to be.
        """
        self._receive = limited(self.scope, self._receive, most_bytes)

    @property
    def request_id(self) -> str:
        """The id of the request in logs: the client's own if it is well formed."""
        if self._id is None:
            asked = header(self.scope, b"x-request-id")
            self._id = asked if asked and _REQUEST_ID.fullmatch(asked) else f"{_random_bits(128):032x}"
        return self._id

    def is_told(self, status: int) -> bool:
        """Tell whether the answer has a request id and a line of the log: all but successes of quiet routes.

        A client that sends an id asks for both.
        """
        return status >= 400 or not self.row.is_quiet or header(self.scope, b"x-request-id") is not None

    async def body(self) -> bytes:
        """The whole body, read at once; kept for later callers.

        Raises:
            ClientDisconnect: The client has gone before it had sent all.
        """
        if not hasattr(self, "_body"):
            message = await self.receive()
            chunks = [message.get("body", b"")]
            while message.get("more_body"):
                message = await self.receive()
                chunks.append(message.get("body", b""))
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            self._body = b"".join(chunks)
        return self._body
