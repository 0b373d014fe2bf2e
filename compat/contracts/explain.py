"""The order in which the rules of a schema are carried out, and the fields that each touches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compat.contracts.findings.contract import DOMAIN, ENCODING, MIGRATION, Contract, PlacedRule
from compat.contracts.findings.fields import BY_FIELD
from compat.contracts.model import RuleSet
from compat.contracts.walk.leaf import PRIMITIVE
from compat.schema import InvalidSchema

#: Each mode with the modes of rules that it carries out, the lists in their order, and whether the lists are reversed.
_MODES: tuple[tuple[str, frozenset[str], tuple[str, ...], bool], ...] = (
    ("WRITE", frozenset({"WRITE", "WRITEREAD"}), (DOMAIN, ENCODING), False),
    ("READ", frozenset({"READ", "WRITEREAD"}), (ENCODING, DOMAIN), True),
    ("UPGRADE", frozenset({"UPGRADE", "UPDOWN"}), (MIGRATION,), False),
    ("DOWNGRADE", frozenset({"DOWNGRADE", "UPDOWN"}), (MIGRATION,), True),
)
_SECOND = frozenset({"READ", "DOWNGRADE"})
_OWN = "own"


def explain_rules(contract: Contract, origins: Mapping[str, str]) -> dict[str, Any]:
    """The effective plan of a schema's rules, as a JSON object.

    Args:
        contract: The rules with their schema.
        origins: The origin of each rule that the schema did not bring itself: its name, and `default` or `override`.
    """
    rule_set = contract.rule_set
    modes: list[dict[str, Any]] = []
    skipped: list[dict[str, Any]] = []
    for mode, matching, phases, is_reversed in _MODES:
        placed = [rule for phase in phases for rule in _ordered(contract, phase, is_reversed=is_reversed)]
        chosen = [rule for rule in placed if rule.rule.mode in matching]
        firsts = _firsts(chosen[::-1] if is_reversed else chosen)
        carried_out: list[dict[str, Any]] = []
        for rule in chosen:
            reason = _reason(rule, rule_set.enable_at, firsts)
            if reason is None:
                carried_out.append(_described(rule, mode, contract, origins))
            else:
                skipped.append({"mode": mode, **_named(rule, origins), "reason": reason})
        if carried_out:
            modes.append({"mode": mode, "rules": carried_out})
    return {"enableAt": rule_set.enable_at or "ALL", "modes": modes, "skipped": skipped}


def origins_of(rule_set: RuleSet | None, *, default: RuleSet | None, override: RuleSet | None) -> dict[str, str]:
    """The rules of a version that a config gives, as it has them today: by name, `default` or `override`."""
    rules = {rule.name: rule for _, group, _ in (rule_set or RuleSet()).groups for rule in group}
    origins: dict[str, str] = {}
    for origin, given in (("default", default), ("override", override)):
        for _, group, _ in given.groups if given is not None else ():
            origins.update({rule.name: origin for rule in group if rule.name and rules.get(rule.name) == rule})
    return origins


def _ordered(contract: Contract, phase: str, *, is_reversed: bool) -> Sequence[PlacedRule]:
    rules = [rule for rule in contract.rules if rule.phase == phase]
    return rules[::-1] if is_reversed else rules


def _firsts(placed: Sequence[PlacedRule]) -> dict[Any, PlacedRule]:
    """Of rules that transform fields with the same tags, the first in the rule set: it alone is carried out."""
    firsts: dict[Any, PlacedRule] = {}
    for rule in placed:
        if not rule.rule.disabled and _transforms_tagged(rule):
            firsts.setdefault(_key(rule), rule)
    return firsts


def _transforms_tagged(placed: PlacedRule) -> bool:
    return placed.is_transform and bool(placed.rule.tags) and placed.type in BY_FIELD


def _key(placed: PlacedRule) -> Any:
    return placed.rule.mode, placed.type, placed.rule.tags


def _reason(placed: PlacedRule, enable_at: str | None, firsts: Mapping[Any, PlacedRule]) -> str | None:
    """Return the reason why a rule is not carried out; None if it is."""
    if placed.rule.disabled:
        return "it is disabled"
    if enable_at == "NONE":
        return "enableAt is NONE"
    if _transforms_tagged(placed) and firsts[_key(placed)] is not placed:
        return f"rule '{firsts[_key(placed)].rule.name}' has the same mode, type and tags"
    return None


def _named(placed: PlacedRule, origins: Mapping[str, str]) -> dict[str, Any]:
    name = placed.rule.name or ""
    return {"name": name, "type": placed.rule.type, "list": placed.phase, "origin": origins.get(name, _OWN)}


def _described(placed: PlacedRule, mode: str, contract: Contract, origins: Mapping[str, str]) -> dict[str, Any]:
    rule = placed.rule
    parts: dict[str, Any] = {
        **_named(placed, origins),
        "kind": rule.kind or "TRANSFORM",
        "expr": rule.expr,
        "tags": list(rule.tags) or None,
        "onSuccess": _action(rule.on_success, mode, "NONE"),
        "onFailure": _action(rule.on_failure, mode, "ERROR"),
        "fields": _fields(placed, contract) if placed.type in BY_FIELD else None,
        "reads": _reads(placed, contract) if placed.type == "CEL" else None,
    }
    return {name: part for name, part in parts.items() if part is not None}


def _action(actions: str | None, mode: str, default: str) -> str:
    names = [name.strip() for name in (actions or default).split(",")]
    return names[1 if mode in _SECOND and len(names) > 1 else 0] or default


def _fields(placed: PlacedRule, contract: Contract) -> list[dict[str, Any]] | None:
    try:
        leaves = contract.walk.leaves
    except InvalidSchema:
        return None
    return [
        {"name": leaf.full_name, "type": leaf.type_name, "tags": sorted(leaf.tags)}
        for leaf in leaves
        if placed.selects(leaf) and (placed.type != "CEL_FIELD" or leaf.type_name in PRIMITIVE)
    ]


def _reads(placed: PlacedRule, contract: Contract) -> list[str] | None:
    """The paths that an expression reads from the message; None if it cannot be compiled here."""
    from compat.contracts.cel.declarations import untyped  # noqa: PLC0415  it loads the engine of CEL
    from compat.contracts.cel.engine import EngineMissing  # noqa: PLC0415  as above
    from compat.contracts.cel.errors import ExpressionInvalid  # noqa: PLC0415  as above
    from compat.contracts.cel.expression import compile_program  # noqa: PLC0415  as above
    from compat.contracts.cel.options import cel_options  # noqa: PLC0415  as above

    read: dict[str, None] = {}
    try:
        parts = cel_options(contract.parameters(placed.rule)).split(placed.rule.expr or "")
    except ExpressionInvalid:
        return None
    for part in parts:
        if part is None:
            continue
        contract.spend(len(part))
        try:
            paths = compile_program(part, untyped()).reads
        except (ExpressionInvalid, EngineMissing):
            return None
        if "message" in paths:
            read.update(dict.fromkeys([".".join(path) for path in paths["message"] or ()] or ["*"]))
    return list(read)
