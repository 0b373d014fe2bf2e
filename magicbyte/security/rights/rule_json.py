"""Access rules as JSON objects, in the API and in the keys of the registry's log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from magicbyte.security.rights.rule import Rule, RuleError, make_rule

#: The members of a rule in wire order, and the default of each.
_PARTS: dict[str, str | None] = {
    "principal": None,
    "host": "*",
    "resource_type": None,
    "resource": None,
    "pattern_type": "LITERAL",
    "operation": None,
    "permission": None,
}
FIELDS = tuple(_PARTS)


def rule_to_json(rule: Rule) -> dict[str, str]:
    """Return a rule as a dict of its parts."""
    return {name: getattr(rule, name) for name in FIELDS}


def rule_from_json(value: Mapping[str, Any]) -> Rule:
    """Check the parts of a rule and bring them into canonical form; other members are ignored.

    Args:
        value: The parts by name; `host` defaults to `*`, and `pattern_type` to LITERAL.

    Raises:
        RuleError: A part is missing, not a string, or invalid; the text names it.
    """
    parts: dict[str, str] = {}
    for name, default in _PARTS.items():
        part = value.get(name, default)
        if part is None:
            raise RuleError(f"{name} is missing")
        if not isinstance(part, str):
            raise RuleError(f"{name} must be a string")
        parts[name] = part
    return make_rule(**parts)


def rules_from_json(value: object) -> frozenset[Rule]:
    """Check a list of rules.

    Raises:
        RuleError: It is not a list of objects, or an item is not a rule; the text names its index from 0.
    """
    if not isinstance(value, list):
        raise RuleError("the rules must be an array")
    rules: set[Rule] = set()
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise RuleError(f"[{index}] must be an object")
        try:
            rules.add(rule_from_json(item))
        except RuleError as error:
            raise RuleError(f"[{index}]: {error}") from None
    return frozenset(rules)


def rules_to_json(rules: Iterable[Rule]) -> list[dict[str, str]]:
    """Return rules as a list, sorted by their parts."""
    return sorted(map(rule_to_json, rules), key=lambda parts: tuple(parts.values()))
