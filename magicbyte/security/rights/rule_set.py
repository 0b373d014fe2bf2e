"""Decides by rules: a denial overrides every permission, and operations without a permission are denied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address

from magicbyte.security.principal import ANONYMOUS, Principal, lies_in
from magicbyte.security.rights.rule import ALL, DEFAULT_CONTEXT, EVERYBODY, IMPLIED_BY, Rule

#: The most decisions to remember; all are cleared when there are more, or when a rule changes.
_MAX_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on an operation and its rule; without a rule, only super users are allowed.

    Attributes:
        is_allowed: Whether the operation is allowed.
        rule: The rule that decides.
        is_dry_run: Whether the operation is allowed only because denials are tried out.
    """

    is_allowed: bool
    rule: Rule | None = None
    is_dry_run: bool = False


#: Even in a dry run, denials of these operations apply: otherwise everybody could replace the rules.
_CHANGE_OF_RULES = ("ALTER", "REGISTRY")
_SUPER_USER, _NO_RULE = Decision(is_allowed=True), Decision(is_allowed=False)


@dataclass(slots=True)
class _Names:
    """The rules for one principal, permission, operation and resource type, by the names that they match."""

    every: list[Rule] = field(default_factory=list)
    default_context: list[Rule] = field(default_factory=list)
    literal: dict[str, list[Rule]] = field(default_factory=lambda: defaultdict(list))
    prefixed: dict[str, list[Rule]] = field(default_factory=lambda: defaultdict(list))
    lengths: set[int] = field(default_factory=set)

    def add(self, rule: Rule) -> None:
        if rule.pattern_type == "LITERAL":
            (self.every if rule.resource == "*" else self.literal[rule.resource]).append(rule)
        elif rule.resource == DEFAULT_CONTEXT and rule.resource_type == "SUBJECT":
            self.default_context.append(rule)
        else:
            self.prefixed[rule.resource].append(rule)
            self.lengths.add(len(rule.resource))

    def all(self) -> Iterator[Rule]:
        """All of these rules."""
        yield from self.every
        yield from self.default_context
        for rules in (*self.literal.values(), *self.prefixed.values()):
            yield from rules

    def matching(self, name: str) -> Iterator[Rule]:
        """The rules that match a name; rules for exactly that name come first."""
        yield from self.literal.get(name, ())
        for length in self.lengths:
            yield from self.prefixed.get(name[:length], ())
        if self.default_context and not name.startswith(":."):
            yield from self.default_context
        yield from self.every


class Rules:
    """An immutable set of rules, compiled for fast decisions."""

    def __init__(
        self, rules: Iterable[Rule], super_users: frozenset[str] = frozenset(), *, is_dry_run: bool = False
    ) -> None:
        """Compile rules.

        Args:
            rules: The rules.
            super_users: The users and groups that may do everything, as `User:<name>` and `Group:<name>`.
            is_dry_run: Whether to allow what the rules deny, except for changes of the rules themselves.
        """
        self._is_dry_run = is_dry_run
        self.all = frozenset(rules)
        self._super_users = super_users
        self._index: dict[tuple[str, str, str, str], _Names] = {}
        for rule in sorted(self.all, key=str):
            key = (rule.principal, rule.permission, rule.operation, rule.resource_type)
            self._index.setdefault(key, _Names()).add(rule)
        #: Whether a decision may depend on the client's address.
        self.has_hosts = any(rule.host != "*" for rule in self.all)
        self._remembered: dict[tuple[str, frozenset[str], str, str, str, str], Decision] = {}

    def is_super_user(self, principal: Principal) -> bool:
        """Tell whether a principal may do everything, whatever the rules say."""
        return bool({principal.name, *principal.groups} & self._super_users)

    def decide(self, principal: Principal, address: str, operation: str, resource_type: str, name: str) -> Decision:
        """Decide whether a principal may perform an operation; takes a microsecond for a repeated decision.

        Args:
            principal: The sender.
            address: The client's address.
            operation: One of the resource type's operations.
            resource_type: As in a rule.
            name: The resource's canonical name.
        """
        key = (principal.name, principal.groups, address if self.has_hosts else "", operation, resource_type, name)
        decision = self._remembered.get(key)
        if decision is None:
            decision = self._decide(principal, address, operation, resource_type, name)
            if self._is_dry_run and not decision.is_allowed and (operation, resource_type) != _CHANGE_OF_RULES:
                decision = Decision(is_allowed=True, rule=decision.rule, is_dry_run=True)
            if len(self._remembered) >= _MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = decision
        return decision

    def may_some(self, principal: Principal, address: str, operation: str, resource_type: str) -> bool:
        """Tell whether a principal may perform an operation on some resource of a type.

        Args:
            principal: The sender.
            address: The client's address.
            operation: One of the resource type's operations.
            resource_type: As in a rule.
        """
        if self._is_dry_run or self.is_super_user(principal):
            return True
        for rule in self._rules_of(principal, "DENY", (operation, ALL), resource_type, lambda names: names.every):
            if _is_from(address, rule):
                return False
        allowing = (operation, ALL, *IMPLIED_BY.get(operation, ()))
        rules = self._rules_of(principal, "ALLOW", allowing, resource_type, _Names.all)
        return any(_is_from(address, rule) for rule in rules)

    def _rules_of(
        self,
        principal: Principal,
        permission: str,
        operations: Iterable[str],
        resource_type: str,
        chosen: Callable[[_Names], Iterable[Rule]],
    ) -> Iterator[Rule]:
        """The permissions, or the denials, for a principal and one of several operations."""
        everybody = () if principal.name == ANONYMOUS.name else (EVERYBODY,)
        operations = tuple(operations)
        for who in (principal.name, *sorted(principal.groups), *everybody):
            for operation in operations:
                names = self._index.get((who, permission, operation, resource_type))
                if names is not None:
                    yield from chosen(names)

    def _decide(self, principal: Principal, address: str, operation: str, resource_type: str, name: str) -> Decision:
        if self.is_super_user(principal):
            return _SUPER_USER
        for permission, operations in (
            ("DENY", (operation, ALL)),
            ("ALLOW", (operation, ALL, *IMPLIED_BY.get(operation, ()))),
        ):
            rules = self._rules_of(principal, permission, operations, resource_type, lambda names: names.matching(name))
            for rule in rules:
                if _is_from(address, rule):
                    return Decision(permission == "ALLOW", rule)
        return _NO_RULE


def _is_from(address: str, rule: Rule) -> bool:
    if rule.network is None:
        return True
    if rule.permission == "DENY" and not _is_address(address):
        # An address that cannot be parsed must not evade a denial.
        return True
    return lies_in(address, (rule.network,))


def _is_address(text: str) -> bool:
    try:
        ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True
