"""An access rule, checked and in canonical form."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_network

from magicbyte.security.principal import Network

#: Resource type -> its operations; ALL stands for all of them.
OPERATIONS: dict[str, tuple[str, ...]] = {
    "SUBJECT": ("READ", "WRITE", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    "REGISTRY": ("READ", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    "TOPIC": ("READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    "GROUP": ("READ", "DELETE", "DESCRIBE"),
    "CLUSTER": (
        "CREATE",
        "ALTER",
        "DESCRIBE",
        "CLUSTER_ACTION",
        "DESCRIBE_CONFIGS",
        "ALTER_CONFIGS",
        "IDEMPOTENT_WRITE",
    ),
    "TRANSACTIONAL_ID": ("WRITE", "DESCRIBE"),
}
ALL = "ALL"
PATTERN_TYPES = ("LITERAL", "PREFIXED")
PERMISSIONS = ("ALLOW", "DENY")
#: Operation -> the operations whose permission includes it; as in Kafka, a denial includes nothing else.
IMPLIED_BY: dict[str, tuple[str, ...]] = {
    "DESCRIBE": ("READ", "WRITE", "DELETE", "ALTER"),
    "DESCRIBE_CONFIGS": ("ALTER_CONFIGS",),
}
EVERYBODY = "User:*"
#: The prefix for all subjects of the default context, whose names do not begin with a context.
DEFAULT_CONTEXT = ":.:"
_MAX_NAME = 1024


class RuleError(ValueError):
    """An invalid rule; the text names the part that is wrong."""


@dataclass(frozen=True)
class Rule:
    """A permission or denial: principal, operation, resources and client addresses.

    Attributes:
        principal: `User:<name>`, `Group:<name>`, or `User:*` for everybody who has signed in.
        host: `*`, an address, or a network such as `10.0.0.0/8`.
        operation: One of the resource type's operations, or ALL.
        resource_type: A key of `OPERATIONS`.
        resource: A name; with LITERAL also `*` for all of them.
        pattern_type: LITERAL or PREFIXED.
        permission: ALLOW or DENY.
    """

    principal: str
    host: str
    operation: str
    resource_type: str
    resource: str
    pattern_type: str
    permission: str

    @cached_property
    def network(self) -> Network | None:
        """The network of client addresses; None for all."""
        return None if self.host == "*" else ip_network(self.host)

    def __str__(self) -> str:
        """The rule without its host, for errors and `magicbyte acl check`."""
        verb = self.permission.lower()
        return f"{verb} {self.principal} {self.operation} {self.resource_type} {self.pattern_type} {self.resource}"


def make_rule(
    principal: str,
    operation: str,
    resource_type: str,
    resource: str,
    *,
    pattern_type: str = "LITERAL",
    permission: str = "ALLOW",
    host: str = "*",
) -> Rule:
    """Check the parts of a rule and bring them into canonical form.

    Raises:
        RuleError: A part is invalid; the text names it.
    """
    kind, colon, name = principal.partition(":")
    if kind not in ("User", "Group") or not colon or not name or (kind == "Group" and name == "*"):
        raise RuleError(f"principal {principal!r} must be User:NAME, Group:NAME or User:*")
    operation, resource_type, pattern_type, permission = (
        part.upper() for part in (operation, resource_type, pattern_type, permission)
    )
    if resource_type not in OPERATIONS:
        raise RuleError(f"resource type {resource_type} must be one of {', '.join(OPERATIONS)}")
    if operation != ALL and operation not in OPERATIONS[resource_type]:
        allowed = ", ".join((*OPERATIONS[resource_type], ALL))
        raise RuleError(f"operation {operation} means nothing on a {resource_type}; use {allowed}")
    if pattern_type not in PATTERN_TYPES:
        raise RuleError(f"pattern type {pattern_type} must be LITERAL or PREFIXED")
    if permission not in PERMISSIONS:
        raise RuleError(f"permission {permission} must be ALLOW or DENY")
    _check_text("principal", principal)
    _check_text("name", resource)
    if resource_type == "SUBJECT":
        resource = _subject(resource, is_prefix=pattern_type == "PREFIXED")
    return Rule(principal, _host(host), operation, resource_type, resource, pattern_type, permission)


def _check_text(what: str, text: str) -> None:
    if not text or len(text) > _MAX_NAME or any(unicodedata.category(character) == "Cc" for character in text):
        raise RuleError(f"a {what} has 1 to {_MAX_NAME} characters and no control character")


def _subject(name: str, *, is_prefix: bool) -> str:
    """A subject's canonical name: without a context if it is in the default one."""
    if is_prefix and name == DEFAULT_CONTEXT:
        return name
    if name.startswith(DEFAULT_CONTEXT):
        return name.removeprefix(DEFAULT_CONTEXT)
    if is_prefix and name.startswith(":") and not (name.startswith(":.") and ":" in name[2:]):
        raise RuleError(
            f"prefix {name!r} does not end its context, so it would also cover longer contexts; write"
            f" {name.rstrip(':')}: for all of one context"
        )
    return name


def _host(host: str) -> str:
    if host == "*":
        return host
    try:
        network = ip_network(host)
    except ValueError:
        raise RuleError(f"host {host!r} must be *, an IP address, or a network such as 10.0.0.0/8") from None
    return str(network.network_address) if network.num_addresses == 1 else str(network)
