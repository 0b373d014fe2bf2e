"""Who asks, what a route needs, and the seam that decides whether the one may have the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import TYPE_CHECKING

from magicbyte.http.asgi import Scope
from magicbyte.security.principal import ANONYMOUS, Principal

if TYPE_CHECKING:
    from magicbyte.http.routing.table import RouteMatch

#: Tells the principal of a request from its head; None if that takes longer than a look into memory.
Identify = Callable[[Scope], Principal | None]
#: Signs a principal in; raises ApiError to refuse.
SignIn = Callable[[Scope], Awaitable[Principal]]


def anonymous(_scope: Scope) -> Principal:
    """Everybody is anonymous: nobody has to sign in."""
    return ANONYMOUS


async def nobody(_scope: Scope) -> Principal:
    """Nobody has to sign in, so this is never asked."""
    return ANONYMOUS


class Operation(Flag):
    """Kafka's operations on a resource; several together stand for any one of them."""

    #: No sign-in is needed.
    NOTHING = 0
    #: Everybody who has signed in may.
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
    """What an operation is on; which one of its kind, the parameters of the path say."""

    SERVER = auto()
    REGISTRY = auto()
    SUBJECT = auto()
    CLUSTER = auto()
    TOPIC = auto()
    GROUP = auto()


@dataclass(frozen=True, slots=True)
class Access:
    """What a route needs.

    Attributes:
        operation: Any one of these suffices.
        resource: What the operation is on.
        filters: The answer leaves out what the principal may not see; nobody is refused.
        also: What is needed as well.
    """

    operation: Operation
    resource: Resource
    filters: bool = False
    also: Access | None = None


OPEN = Access(Operation.NOTHING, Resource.SERVER)
SIGNED_IN = Access(Operation.SIGN_IN, Resource.SERVER)


class Decision(Enum):
    """What the seam decided. Refusals are raised.

    Attributes:
        ALLOWED: What the path names may be had.
        LEFT_TO_HANDLER: What is asked for is not, or not all, in the path. The handler asks for the rights, which makes
            this ALLOWED; if it does not, its answer is not sent.
    """

    ALLOWED = auto()
    LEFT_TO_HANDLER = auto()


#: The seam: decides for a principal, a request, and its route with the path's parameters; raises ApiError to refuse.
Decide = Callable[[Principal, Scope, "RouteMatch"], Decision | None]


def allow_all(_principal: Principal, _scope: Scope, _match: RouteMatch) -> Decision:
    """Allow everything: there are no rules yet."""
    return Decision.ALLOWED
