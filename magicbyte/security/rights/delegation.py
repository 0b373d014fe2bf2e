"""Decides who may grant a right: only super users may grant rights that they do not hold."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network
from typing import cast

from magicbyte.security.principal import ANONYMOUS, Principal, lies_in
from magicbyte.security.rights.rule import ALL, DEFAULT_CONTEXT, EVERYBODY, IMPLIED_BY, OPERATIONS, Rule


class Holdings:
    """The rules about one principal, for deciding which rights the principal may grant."""

    def __init__(self, rules: Iterable[Rule], principal: Principal, address: str) -> None:
        """Select the rules of a principal.

        Args:
            rules: All rules.
            principal: The principal that would grant a right.
            address: Its address; permissions for other addresses are ignored, denials for any address count.
        """
        names = {principal.name, *principal.groups}
        if principal.name != ANONYMOUS.name:
            names.add(EVERYBODY)
        about = [rule for rule in rules if rule.principal in names]
        self._denials = [rule for rule in about if rule.permission == "DENY"]
        self._permissions = [
            rule
            for rule in about
            if rule.permission == "ALLOW" and (rule.network is None or lies_in(address, (rule.network,)))
        ]

    def lacks(self, rule: Rule) -> str | None:
        """Return the first operation of a rule that the principal does not hold on all resources of the rule.

        Args:
            rule: A permission to be added, or a denial to be removed.
        """
        operations = OPERATIONS[rule.resource_type] if rule.operation == ALL else (rule.operation,)
        return next((operation for operation in operations if not self._holds(operation, rule)), None)

    def _holds(self, operation: str, rule: Rule) -> bool:
        allowing = (operation, ALL, *IMPLIED_BY.get(operation, ()))
        return any(
            held.operation in allowing and _covers(held, rule) and _covers_hosts(held, rule)
            for held in self._permissions
        ) and not any(
            denial.operation in (operation, ALL) and _touches(denial, rule) and _touches_hosts(denial, rule)
            for denial in self._denials
        )


def _covers(wide: Rule, narrow: Rule) -> bool:
    """Tell whether one rule matches all names that another rule matches."""
    if wide.resource_type != narrow.resource_type:
        return False
    if _is_all(wide):
        return True
    if _is_all(narrow) or wide.pattern_type == "LITERAL":
        return wide.resource == narrow.resource and wide.pattern_type == narrow.pattern_type
    if _is_default_context(wide):
        return not narrow.resource.startswith(":.") or _is_default_context(narrow)
    return narrow.resource.startswith(wide.resource) and not _is_default_context(narrow)


def _touches(first: Rule, second: Rule) -> bool:
    """Tell whether there may be a name that both rules match."""
    return _covers(first, second) or _covers(second, first)


def _is_all(rule: Rule) -> bool:
    return rule.pattern_type == "LITERAL" and rule.resource == "*"


def _is_default_context(rule: Rule) -> bool:
    return rule.resource_type == "SUBJECT" and rule.pattern_type == "PREFIXED" and rule.resource == DEFAULT_CONTEXT


def _covers_hosts(wide: Rule, narrow: Rule) -> bool:
    if wide.network is None:
        return True
    if narrow.network is None or wide.network.version != narrow.network.version:
        return False
    # Both networks have the same IP version.
    return cast("IPv4Network", narrow.network).subnet_of(cast("IPv4Network", wide.network))


def _touches_hosts(first: Rule, second: Rule) -> bool:
    if first.network is None or second.network is None:
        return True
    return first.network.overlaps(second.network)
