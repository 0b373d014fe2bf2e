"""A route is a row: one value with everything that a server knows about the route."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass
from enum import Flag, IntEnum, auto
from functools import cached_property

from starlette.responses import Response

from magicbyte.http.routing.access import Access, Operation

#: A function that takes the request, and parameters that FastAPI solves.
Endpoint = Callable[..., Awaitable[Response]]
#: Takes the request, chooses the media type of the answer and sets it in the request; raises 406 or 415.
Negotiate = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Around:
    """An endpoint with a function around it, which is called before FastAPI solves the endpoint's parameters.

    Attributes:
        wrap: Makes the function of the endpoint's handler; it may answer instead.
        inner: The endpoint, which may have another function around it.
    """

    wrap: Callable[[Endpoint], Endpoint]
    inner: Endpoint | Around

    @property
    def innermost(self) -> Endpoint:
        """The endpoint, without what is around it."""
        return self.inner.innermost if isinstance(self.inner, Around) else self.inner


class BodyLimit(IntEnum):
    """The limit that applies to a body; the settings have the sizes."""

    USUAL = auto()
    BULK = auto()
    #: The handler limits the parts of the body, which as a whole may have any length.
    NONE = auto()


class Streams(Flag):
    """The parts that may be as slow as the client wants; the time limits of connections do not apply to them."""

    NOTHING = 0
    #: The answer.
    ANSWER = auto()
    #: The body, whose parts the handler limits. The answer may begin and end before the body ends.
    BODY = auto()


@dataclass(frozen=True, eq=False)
class Row:
    """One route of a server.

    Attributes:
        method: The HTTP method; a GET that is safe answers HEAD too.
        path: The path template; a segment in braces is a parameter. A last segment `{name:path}` stands for one or more
            segments.
        operation_id: The route's operation id in the OpenAPI contract.
        access: The rights that a principal needs.
        handler: Answers a request: a function that takes the request, and keyword-only parameters that FastAPI solves.
        media_types: Chooses the answer's media type, and refuses bodies of unsupported types.
        body_limit: The limit of its bodies.
        has_deadline: Whether the server's deadline applies; if not, an answer may take any time.
        streams: The parts without time limits.
        is_remembered: Whether the answer depends only on the request and the state, so that it may be cached.
        is_quiet: Whether successes are so frequent that they are logged only at level debug or with a request id.
        is_safe: Whether a GET changes nothing.
        for_own_pages: Whether pages of other origins are refused with every method, also origins that may use the rest
            of the server.
        page_policy: The Content-Security-Policy of its answers if they are a page; a response may have its own.
        endpoint: The route's name in `api.endpoints.allowlist` and `api.endpoints.blocklist`; "" if it has none.
        declared: Declares the parameters of a handler that takes only the request, because its rate is a goal. The
            contract describes it, and nobody calls it.
        may_be_stored: Whether caches may store its answers if nobody has to sign in.
    """

    method: str
    path: str
    operation_id: str
    access: Access
    handler: Endpoint | Around
    media_types: Negotiate
    _: KW_ONLY
    body_limit: BodyLimit = BodyLimit.USUAL
    has_deadline: bool = True
    streams: Streams = Streams.NOTHING
    is_remembered: bool = False
    is_quiet: bool = False
    is_safe: bool = True
    for_own_pages: bool = False
    page_policy: bytes | None = None
    endpoint: str = ""
    declared: Endpoint | None = None
    may_be_stored: bool = True

    @cached_property
    def innermost(self) -> Endpoint:
        """The handler, without what is around it."""
        return self.handler.innermost if isinstance(self.handler, Around) else self.handler

    @cached_property
    def needs(self) -> tuple[tuple[str, ...], ...]:
        """The operations, by their names in access rules: a principal needs one operation of each set."""
        needs, access = list[tuple[str, ...]](), self.access
        while True:
            needs.append(tuple(str(operation.name) for operation in access.operation))
            if access.also is None:
                return tuple(needs)
            access = access.also

    @cached_property
    def needs_sign_in_at_most(self) -> bool:
        """Whether no rights are needed, at most a sign-in."""
        return self.access.operation in (Operation.NOTHING, Operation.SIGN_IN)
