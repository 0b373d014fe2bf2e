"""The registry's access decisions: whether a principal may use a route on a subject."""

from __future__ import annotations

from collections.abc import Callable

from magicbyte.http.asgi import Scope
from magicbyte.http.routing.access import Access, Decision, Resource
from magicbyte.http.routing.guard import Guard
from magicbyte.http.routing.rows import Row
from magicbyte.http.routing.table import RouteMatch
from magicbyte.kit.errors import ApiError
from magicbyte.security.principal import Principal
from magicbyte.security.rights.authorizer import Authorizer
from registry.access.rights import Rights
from registry.http.request import DECIDED, RIGHTS, asked_subject, context_name, context_of_match
from registry.service import Registry
from registry.state.model import DEFAULT_CONTEXT, SubjectName
from registry.state.resolve import resolve_alias, settings_key

#: The most decisions to remember, and the longest path of one; the memory is cleared when it is full.
_MOST_ALLOWED = 10_000
_LONGEST_KEPT = 256


class RegistryAccess:
    """Decides by the access rules. The subject is the one that the handler will use: decoded, with aliases resolved."""

    def __init__(
        self, registry: Registry, authorizer: Authorizer, guard: Guard, log_state: Callable[[], object]
    ) -> None:
        self._registry = registry
        self._authorizer = authorizer
        self._guard = guard
        self._log_state = log_state
        self._group_id = registry.settings.group_id
        #: Recently allowed requests: principal, row and path -> the state of log and rules, and the subject.
        self._allowed: dict[tuple[str, frozenset[str], Row, bytes], tuple[object, str | None]] = {}

    def state(self) -> object:
        """Return a value that changes with the log and with the rules.

        Rules with hosts depend on the client's address, which is not part of the key: then nothing is remembered.
        """
        if self._authorizer.rules.has_hosts:
            return object()
        return self._log_state(), self._authorizer.epoch

    def decide(self, principal: Principal, scope: Scope, match: RouteMatch) -> Decision:
        """Decide whether a principal may use a row; the handler filters lists and ids.

        Raises:
            ApiError: 40301.
        """
        row = match.row
        if row.needs_sign_in_at_most or row.path in self._guard.skipped_paths:
            return Decision.ALLOWED
        # Read the state first: a decision must not be remembered under a newer state than it was made with.
        state = self.state()
        address = self._guard.client_address(scope)
        rights = scope[RIGHTS] = Rights(self._authorizer, self._group_id, principal, address)
        key = (principal.name, principal.groups, row, scope["raw_path"])
        remembered = self._allowed.get(key)
        if remembered is not None and remembered[0] == state:
            scope[DECIDED] = remembered[1]
            return Decision.ALLOWED
        try:
            resource = self._resource(row.access, match)
        except ApiError:
            # The handler reports what is wrong with the name, and changes nothing.
            return Decision.LEFT_TO_HANDLER
        if resource is None:
            return Decision.LEFT_TO_HANDLER
        subject, asked = resource
        for operations in row.needs:
            rights.require(operations, subject, asked)
        scope[DECIDED] = subject
        if len(self._allowed) >= _MOST_ALLOWED:
            self._allowed.clear()
        if len(scope["raw_path"]) <= _LONGEST_KEPT:
            self._allowed[key] = (state, subject)
        return Decision.ALLOWED

    def _resource(self, access: Access, match: RouteMatch) -> tuple[str | None, str | None] | None:
        """The subject that the request uses, and the subject that it names; None if the handler filters its results.

        A subject of None stands for the whole registry.
        """
        parameters, context = match.parameters, context_of_match(match)
        if access.resource is Resource.REGISTRY:
            of_context = context != DEFAULT_CONTEXT and match.row.path in ("/config", "/mode")
            subject = str(SubjectName(context, "")) if of_context else None
            return subject, subject
        if access.filters:
            return None
        if "context" in parameters:
            subject = str(SubjectName(context_name(parameters["context"]), ""))
            return subject, subject
        if "subject" not in parameters:
            return None
        of_settings = match.row.path.startswith(("/config/", "/mode/"))
        asked = asked_subject(self._registry, match, allow_global=of_settings)
        return settings_key(asked) if of_settings else resolve_alias(self._registry.view, asked), asked
