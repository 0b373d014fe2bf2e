"""The proxy's access decisions: whether a principal may use a route on a topic or group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from magicbyte.http.asgi import Scope
from magicbyte.http.routing.access import Access, Decision, Resource
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Row
from magicbyte.http.routing.table import RouteMatch
from magicbyte.security.principal import Principal
from magicbyte.security.rights.authorizer import Authorizer
from magicbyte.security.rights.rule_set import Rules
from rest_proxy.access.rights import CLUSTER, ProxyRights

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard

_RIGHTS = "magicbyte.rights"
#: The most cached decisions (all are dropped when there are more), and the longest path of one.
_MOST_CACHED = 10_000
_LONGEST_CACHED = 256
#: Resource -> its type in rules, and the path parameter with its name.
_NAMED = {Resource.TOPIC: ("TOPIC", "topic"), Resource.GROUP: ("GROUP", "group")}


class ProxyAccess:
    """Decides by the access rules on the resource in the path; handlers decide on resources in the body."""

    def __init__(self, authorizer: Authorizer, guard: Guard) -> None:
        self._authorizer = authorizer
        self._guard = guard
        #: Allowed requests by principal, row and path: the rules that allowed one, the decision, and for the counts
        #: the resource types and operations.
        self._allowed: dict[
            tuple[str, frozenset[str], Row, bytes], tuple[Rules, Decision, Sequence[tuple[str, str]]]
        ] = {}

    def decide(self, principal: Principal, scope: Scope, match: RouteMatch) -> Decision:
        """Decide whether a principal may use a row.

        Raises:
            ApiError: KAFKA_AUTHORIZATION.
        """
        row = match.row
        if row.needs_sign_in_at_most or row.path in self._guard.skipped_paths:
            return Decision.ALLOWED
        # Read the rules first: a decision by older rules must not be cached for newer ones.
        rules = self._authorizer.rules
        rights = scope[_RIGHTS] = ProxyRights(self._authorizer, principal, self._guard.client_address(scope))
        key = (principal.name, principal.groups, row, scope["raw_path"])
        cached = self._allowed.get(key)
        if cached is not None and cached[0] is rules:
            _, decision, allowed = cached
            for resource_type, operation in allowed:
                self._authorizer.counts[resource_type, operation, "allowed"] += 1
            return decision
        decision, allowed = self._decide(rights, match)
        # Do not cache if rules depend on the address, which the key lacks, or in a dry run, which logs each denial.
        if not (rules.has_hosts or self._authorizer.is_dry_run) and len(scope["raw_path"]) <= _LONGEST_CACHED:
            if len(self._allowed) >= _MOST_CACHED:
                self._allowed.clear()
            self._allowed[key] = rules, decision, allowed
        return decision

    def _decide(self, rights: ProxyRights, match: RouteMatch) -> tuple[Decision, Sequence[tuple[str, str]]]:
        """Return the decision, and the resource types with the operations on them that were allowed."""
        row, decision, allowed = match.row, Decision.ALLOWED, list[tuple[str, str]]()
        access: Access | None = row.access
        for operations in row.needs:
            assert access is not None
            if access.resource is Resource.CLUSTER:
                allowed.append(("CLUSTER", rights.require(operations, "CLUSTER", CLUSTER)))
            else:
                resource_type, parameter = _NAMED[access.resource]
                if parameter in match.parameters and not access.filters:
                    name = unquote(match.parameters[parameter])
                    allowed.append((resource_type, rights.require(operations, resource_type, name)))
                else:
                    decision = Decision.LEFT_TO_HANDLER
            access = access.also
        return decision, allowed


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
