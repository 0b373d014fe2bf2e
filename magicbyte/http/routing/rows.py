"""A route is a row: what a server has to know of one route stands in one value."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass
from enum import IntEnum, auto
from functools import cached_property

from starlette.responses import Response

from magicbyte.http.routing.access import Access, Operation
from magicbyte.http.routing.request import Request

Handler = Callable[[Request], Awaitable[Response]]
#: Chooses the media type of the answer and sets it in the request; raises 406 or 415.
Negotiate = Callable[[Request], None]


class BodyLimit(IntEnum):
    """Which of the server's limits holds for a body; their sizes are settings."""

    USUAL = auto()
    BULK = auto()


@dataclass(frozen=True, eq=False)
class Row:
    """One route of a server.

    Attributes:
        method: The HTTP method; a GET that is safe answers HEAD too.
        path: The template: a segment in braces is a parameter.
        operation_id: The contract's name for it.
        access: What a principal needs.
        handler: Answers a request.
        media_types: Chooses the answer's media type, and refuses bodies of types that are not read.
        body_limit: Which limit its bodies have.
        has_deadline: The server's deadline holds; else an answer takes as long as it takes.
        streams: Body and answer are as slow as the client wants; the times of connections do not bind them.
        is_remembered: The answer depends on the request and the state alone, and may be given again from memory.
        is_quiet: Successes are so many that a line of the log must be asked for, by `debug` or by a request id.
        is_safe: It changes nothing, if it is a GET.
    """

    method: str
    path: str
    operation_id: str
    access: Access
    handler: Handler
    media_types: Negotiate
    _: KW_ONLY
    body_limit: BodyLimit = BodyLimit.USUAL
    has_deadline: bool = True
    streams: bool = False
    is_remembered: bool = False
    is_quiet: bool = False
    is_safe: bool = True

    @cached_property
    def needs(self) -> tuple[tuple[str, ...], ...]:
        """What a principal needs, as access rules name it: one operation of each set."""
        needs, access = list[tuple[str, ...]](), self.access
        while True:
            needs.append(tuple(str(operation.name) for operation in access.operation))
            if access.also is None:
                return tuple(needs)
            access = access.also

    @cached_property
    def needs_sign_in_at_most(self) -> bool:
        """Whether no right is needed."""
        return self.access.operation in (Operation.NOTHING, Operation.SIGN_IN)
