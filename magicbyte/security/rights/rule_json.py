"""Access rules as JSON objects: in the API, and in the keys of the registry's log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from magicbyte.security.rights.rule import Rule, RuleError, make_rule

#: The parts of a rule in the order of the wire, and what stands for a part that is absent.
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
    """Return a rule's parts by name."""
    return {name: getattr(rule, name) for name in FIELDS}


def rule_from_json(value: Mapping[str, Any]) -> Rule:
    """Check a rule's parts and put them into their canonical form; other members are left out.

    Args:
        value: The parts by name; `host` may be absent for `*`, and `pattern_type` for LITERAL.

    Raises:
        RuleError: A part is missing, is no string, or cannot be; the text names it.
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
        RuleError: It is no list of objects, or one of them is no rule; the text names its index from 0.
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
