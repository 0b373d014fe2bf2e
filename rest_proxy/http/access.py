"""The proxy's access decisions: whether a principal may use a route on a topic or group."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from magicbyte.http.asgi import Scope
from magicbyte.http.routing.access import Access, Decision, Resource
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.table import RouteMatch
from magicbyte.security.principal import Principal
from magicbyte.security.rights.authorizer import Authorizer
from rest_proxy.http.rights import CLUSTER, ProxyRights

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard

_RIGHTS = "magicbyte.rights"
#: Resource -> its type in rules, and the path parameter with its name.
_NAMED = {Resource.TOPIC: ("TOPIC", "topic"), Resource.GROUP: ("GROUP", "group")}


class ProxyAccess:
    """Decides by the access rules on the resource in the path; handlers decide on resources in the body."""

    def __init__(self, authorizer: Authorizer, guard: Guard) -> None:
        self._authorizer = authorizer
        self._guard = guard

    def decide(self, principal: Principal, scope: Scope, match: RouteMatch) -> Decision:
        """Decide whether a principal may use a row.

        Raises:
            ApiError: KAFKA_AUTHORIZATION.
        """
        row = match.row
        if row.needs_sign_in_at_most or row.path in self._guard.skipped_paths:
            return Decision.ALLOWED
        rights = scope[_RIGHTS] = ProxyRights(self._authorizer, principal, self._guard.client_address(scope))
        access: Access | None = row.access
        decision = Decision.ALLOWED
        for operations in row.needs:
            assert access is not None
            if access.resource is Resource.CLUSTER:
                rights.require(operations, "CLUSTER", CLUSTER)
            else:
                resource_type, parameter = _NAMED[access.resource]
                if parameter in match.parameters and not access.filters:
                    rights.require(operations, resource_type, unquote(match.parameters[parameter]))
                else:
                    decision = Decision.LEFT_TO_HANDLER
            access = access.also
        return decision


def rights_of(request: Request) -> ProxyRights | None:
    """The sender's rights, for decisions in the handler; None if there are no rules."""
    rights: ProxyRights | None = request.scope.get(_RIGHTS)
    if rights is not None:
        request.decision = Decision.ALLOWED
    return rights


def require_topics(request: Request, operation: str, *topics: str) -> None:
    """Require an operation on each topic, if there are rules.

    Raises:
        ApiError: KAFKA_AUTHORIZATION.
    """
    rights = rights_of(request)
    if rights is not None:
        rights.require_topics(operation, topics)
