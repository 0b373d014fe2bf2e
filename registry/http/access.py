"""The registry's access seam: what a route needs, of which subject."""

from __future__ import annotations

from magicbyte.http.asgi import Scope
from magicbyte.http.routing.access import Access, Decision, Resource
from magicbyte.http.routing.guard import Guard
from magicbyte.http.routing.rows import Row
from magicbyte.http.routing.table import Found
from magicbyte.kit.errors import ApiError
from magicbyte.security.principal import Principal
from magicbyte.security.rights.authorizer import Authorizer
from registry.access.rights import Rights
from registry.http.request import DECIDED, RIGHTS, asked_subject, context_name, context_of_found
from registry.service import Registry
from registry.state.model import DEFAULT_CONTEXT, SubjectName
from registry.state.resolve import resolve_alias, settings_key

#: How many decisions are kept, all forgotten when there are more, and the longest path of one.
_MOST_ALLOWED = 10_000
_LONGEST_KEPT = 256


class RegistryAccess:
    """Decides by rules, on the subject that the handler will use: decoded, in its context, its alias followed."""

    def __init__(self, registry: Registry, authorizer: Authorizer, guard: Guard) -> None:
        self._registry = registry
        self._authorizer = authorizer
        self._guard = guard
        self._group_id = registry.settings.group_id
        #: What was allowed lately: principal, row and path -> the state of log and rules, and the subject.
        self._allowed: dict[tuple[str, frozenset[str], Row, bytes], tuple[object, str | None]] = {}

    def state(self) -> object:
        """Return a value that changes with the log and with the rules.

        A rule may be about addresses, which answers are not remembered by; then nothing is remembered.
        """
        if self._authorizer.rules.has_hosts:
            return object()
        return self._registry.view.offset, self._authorizer.epoch

    def decide(self, principal: Principal, scope: Scope, found: Found) -> Decision:
        """Decide on what a row needs; lists and ids are filtered by what the handler sees.

        Raises:
            ApiError: 40301.
        """
        row = found.row
        if row.needs_sign_in_at_most or row.path in self._guard.skipped_paths:
            return Decision.ALLOWED
        # The state first: what is decided by an older one must not count as decided by this one.
        state = self.state()
        address = self._guard.client_address(scope)
        rights = scope[RIGHTS] = Rights(self._authorizer, self._group_id, principal, address)
        key = (principal.name, principal.groups, row, scope["raw_path"])
        known = self._allowed.get(key)
        if known is not None and known[0] == state:
            scope[DECIDED] = known[1]
            return Decision.ALLOWED
        try:
            resource = self._resource(row.access, found)
        except ApiError:
            # The handler says what is wrong with the name, and does nothing.
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

    def _resource(self, access: Access, found: Found) -> tuple[str | None, str | None] | None:
        """The subject that a request comes to, and the one that it names; None if what it sees is filtered.

        A subject of None is the registry as a whole.
        """
        parameters, context = found.parameters, context_of_found(found)
        if access.resource is Resource.REGISTRY:
            of_context = context != DEFAULT_CONTEXT and found.row.path in ("/config", "/mode")
            subject = str(SubjectName(context, "")) if of_context else None
            return subject, subject
        if access.filters:
            return None
        if "context" in parameters:
            subject = str(SubjectName(context_name(parameters["context"]), ""))
            return subject, subject
        if "subject" not in parameters:
            return None
        of_settings = found.row.path.startswith(("/config/", "/mode/"))
        asked = asked_subject(self._registry, found, allow_global=of_settings)
        return settings_key(asked) if of_settings else resolve_alias(self._registry.view, asked), asked
