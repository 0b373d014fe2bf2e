"""The access requirements of routes, and the function that decides whether a principal may use a route."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, Flag, auto

from magicbyte.http.asgi import Scope
from magicbyte.security.principal import ANONYMOUS, Principal

#: Returns the principal of a request's headers, or None if that takes longer than a look-up in memory.
Identify = Callable[[Scope], Principal | None]
#: Signs a client in; raises ApiError to refuse the request.
SignIn = Callable[[Scope], Awaitable[Principal]]


def anonymous(_scope: Scope) -> Principal:
    """Return the anonymous principal: no sign-in is required."""
    return ANONYMOUS


async def nobody(_scope: Scope) -> Principal:
    """Return the anonymous principal; not called, because `anonymous` always identifies the client."""
    return ANONYMOUS


class Operation(Flag):
    """Kafka's operations on a resource; a combination means any one of its operations."""

    #: Open to everyone, without sign-in.
    NOTHING = 0
    #: Open to every principal that has signed in.
    SIGN_IN = auto()
    READ = auto()
    WRITE = auto()
    CREATE = auto()
    DELETE = auto()
    ALTER = auto()
    DESCRIBE = auto()
    DESCRIBE_CONFIGS = auto()
    ALTER_CONFIGS = auto()


class Resource(Enum):
    """The type of resource that an operation applies to; the path's parameters name the resource."""

    SERVER = auto()
    REGISTRY = auto()
    SUBJECT = auto()
    CLUSTER = auto()
    TOPIC = auto()
    GROUP = auto()


@dataclass(frozen=True, slots=True)
class Access:
    """The access requirement of a route.

    Attributes:
        operation: The required operation; one operation of a combination suffices.
        resource: The type of the resource.
        filters: Whether the handler omits what the principal may not see; then no request is refused.
        also: A further requirement.
    """

    operation: Operation
    resource: Resource
    filters: bool = False
    also: Access | None = None


OPEN = Access(Operation.NOTHING, Resource.SERVER)
SIGNED_IN = Access(Operation.SIGN_IN, Resource.SERVER)


class Decision(Enum):
    """The result of an access decision; a refusal is raised instead.

    Attributes:
        ALLOWED: The principal may use the resource in the path.
        LEFT_TO_HANDLER: The path does not name all resources. The handler must check the rights, which sets ALLOWED;
        otherwise its answer is not sent.
    """

    ALLOWED = auto()
    LEFT_TO_HANDLER = auto()
