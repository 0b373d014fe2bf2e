"""One principal's rights in the registry."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from compat.schema import Reference
from magicbyte.kit.errors import ApiError
from magicbyte.security.principal import Principal
from magicbyte.security.rights.authorizer import Authorizer
from registry import errors
from registry.decide.access_rules import Author
from registry.state.model import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    SubjectName,
    context_of,
    in_context,
    parse_subject,
    subject_in,
)
from registry.state.resolve import missing_reference, settings_key

_GLOBAL_SETTINGS = str(SubjectName(GLOBAL_CONTEXT, ""))
_NOT_AUTHORIZED = "Not authorized"
#: Distinguishes processes in stamps: rule epochs start again in each process.
_PROCESS = secrets.token_bytes(16)


class Rights:
    """One principal's rights, by the rules in force when the request arrives.

    All decisions on one request use the same rules; long-lived responses call `now` for the current rights.
    """

    def __init__(self, authorizer: Authorizer, group_id: str, principal: Principal, address: str) -> None:
        """Prepare decisions for one principal.

        Args:
            authorizer: The rules.
            group_id: The name of this registry in rules.
            principal: The sender.
            address: The sender's address.
        """
        self._authorizer = authorizer
        # Read the epoch first: the stamp may be older than the rules, but never newer.
        self._epoch = authorizer.epoch
        self._rules = authorizer.rules
        self._group_id = group_id
        self._principal = principal
        self._address = address

    def now(self) -> Rights:
        """Return the rights by the rules in force now."""
        return Rights(self._authorizer, self._group_id, self._principal, self._address)

    @property
    def stamp(self) -> str:
        """A text for ETags that changes with the principal and the rules, and differs between processes."""
        address = self._address if self._rules.has_hosts else ""
        parts = "\n".join((str(self._epoch), address, self._principal.key))
        return blake2b(parts.encode(), key=_PROCESS, digest_size=12).hexdigest()

    @property
    def author(self) -> Author:
        """The principal, as the author of changes of the rules."""
        return Author(self._principal, self._address, self._rules.is_super_user(self._principal))

    def may(self, operation: str, subject: str | None) -> bool:
        """Tell whether an operation is allowed on a subject, on a context's settings, or, if None, on the registry."""
        resource_type, name = self._resource(subject)
        return self._rules.decide(self._principal, self._address, operation, resource_type, name).is_allowed

    def may_some(self, operation: str) -> bool:
        """Tell whether an operation may be allowed on some subject."""
        return self._rules.may_some(self._principal, self._address, operation, "SUBJECT")

    def require(self, operations: Sequence[str], subject: str | None, asked: str | None = None) -> None:
        """Require one of several operations on a subject, on a context's settings, or, if None, on the registry.

        Args:
            operations: One of them suffices; the error names the first.
            subject: The subject that the request uses.
            asked: The subject that the request names; the error names this one.

        Raises:
            ApiError: 40301.
        """
        resource_type, name = self._resource(subject)
        for operation in operations:
            decision = self._authorizer.decide_by(
                self._rules, self._principal, self._address, operation, resource_type, name
            )
            if decision.is_allowed:
                return
        shown = name if resource_type == "REGISTRY" or subject is None else subject if asked is None else asked
        raise errors.denied(operations[0], resource_type, shown)

    def require_references(self, subject: str, references: Iterable[Reference], schema_type: str) -> None:
        """Require that the targets of references may be read; a target that may not be read is reported as missing.

        Raises:
            ApiError: 42201, as for a reference to a missing version.
        """
        context = context_of(subject)
        for reference in references:
            if reference.subject and not self.may("READ", subject_in(context, reference.subject)):
                raise errors.INVALID_SCHEMA(type=schema_type, details=missing_reference(reference))

    def may_see_highest_id(self, context: str) -> bool:
        """Tell whether an export may have the highest id of a context, which tells how many schemas there are.

        For the default context this takes DESCRIBE of the registry, as `fetchMaxId` does. Who may see the settings of a
        named context may see its id, too.
        """
        settings = settings_key(str(SubjectName(context, "")))
        return self.may("DESCRIBE_CONFIGS", settings) and (settings is not None or self.may("DESCRIBE", None))

    def refusal_of_line(self, line: Mapping[str, Any], context: str) -> str | None:
        """Return why a line of an import is refused; None if it is allowed.

        Args:
            line: The line.
            context: The context of subjects that name none.
        """
        kind, subject = line.get("kind", "schema"), line.get("subject")
        if kind == "context":
            named = line.get("context")
            target_context = context if named == DEFAULT_CONTEXT else named
            settings = None if target_context == DEFAULT_CONTEXT else f":{target_context}:"
            return None if self.may("ALTER_CONFIGS", settings) else _NOT_AUTHORIZED
        if kind == "mirror":
            named = line.get("context")
            return None if self.may("ALTER_CONFIGS", settings_key(f":{named}:")) else _NOT_AUTHORIZED
        if kind == "removal":
            return self._refusal_of_removal(line)
        if kind not in ("schema", "config", "mode"):
            return None
        if not isinstance(subject, str):
            if subject is not None or kind == "schema":
                # The import itself refuses the line because it is malformed.
                return None
            target = None if context == DEFAULT_CONTEXT else str(SubjectName(context, ""))
        else:
            target = str(parse_subject(in_context(context, subject)))
        allowed = self.may("ALTER_CONFIGS", target)
        if kind == "schema" and target is not None:
            allowed = allowed and self.may("WRITE", target) and self._may_read_all(target, line.get("references"))
        return None if allowed else _NOT_AUTHORIZED

    def _refusal_of_removal(self, line: Mapping[str, Any]) -> str | None:
        named, subject = line.get("context"), line.get("subject")
        of_context = line.get("of") in ("context", "mirror")
        name = f":{named}:" if of_context else subject if isinstance(subject, str) else None
        target = None if name is None else settings_key(str(parse_subject(name)))
        allowed = self.may("ALTER_CONFIGS", target)
        if line.get("of") == "schema":
            allowed = allowed and self.may("DELETE", target)
        return None if allowed else _NOT_AUTHORIZED

    def _may_read_all(self, subject: str, references: object) -> bool:
        context = context_of(subject)
        named = (
            [reference.get("subject") for reference in references if isinstance(reference, dict)]
            if isinstance(references, list)
            else []
        )
        return all(self.may("READ", subject_in(context, name)) for name in named if isinstance(name, str))

    def _resource(self, subject: str | None) -> tuple[str, str]:
        if subject is None or subject in ("", _GLOBAL_SETTINGS):
            return "REGISTRY", self._group_id
        return "SUBJECT", subject.removeprefix(f":{DEFAULT_CONTEXT}:")


def without_details(error: ApiError) -> ApiError:
    """Return the error for an incompatible schema without its details about the stored schema."""
    text = 'Schema being registered is incompatible with an earlier schema for subject "{subject}"'
    return ApiError(type(error.kind)(error.kind.code, text, error.kind.status), error.fields)
