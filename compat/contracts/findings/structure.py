"""Checks that need no schema: types, actions, lists, and the parameters of encryption."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from compat.contracts.findings.contract import ENCODING, ENCRYPT, ENCRYPT_PAYLOAD, MIGRATION, Contract, PlacedRule
from compat.contracts.findings.finding import Finding, Severity
from compat.contracts.model import InvalidRuleSet

KNOWN_TYPES = frozenset({"CEL", "CEL_FIELD", "JSONATA", "REDACT", ENCRYPT, ENCRYPT_PAYLOAD})
KNOWN_ACTIONS = frozenset({"ERROR", "NONE", "DLQ"})
_ALGORITHMS = ("AES256_GCM", "AES128_GCM", "AES256_SIV")
#: The parameters of encryption, each with a check of its value and the words for what is expected.
_ENCRYPT_PARAMETERS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "encrypt.kek.name": (
        lambda text: re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", text) is not None,
        "a letter or _, then letters, digits, _ and -",
    ),
    "encrypt.kms.type": (lambda text: bool(text.strip()), "the type of a KMS, such as aws-kms"),
    "encrypt.kms.key.id": (lambda text: bool(text.strip()), "the id of a key of the KMS"),
    "encrypt.dek.algorithm": (lambda text: text in _ALGORITHMS, f"one of {', '.join(_ALGORITHMS)}"),
    "encrypt.dek.expiry.days": (
        lambda text: re.fullmatch("[0-9]{1,9}", text) is not None,
        "a whole number of days; 0 never expires",
    ),
    "encrypt.alternate.kms.key.ids": (lambda text: all(part.strip() for part in text.split(",")), "ids with commas"),
    "encrypt.nonshared.kek.passthrough": (lambda text: text.lower() in {"true", "false"}, "true or false"),
}
_PAIR = 2


def structure_findings(contract: Contract) -> Iterator[Finding]:
    """The findings about types, actions, lists, and the parameters of encryption."""
    try:
        contract.rule_set.validate()
    except InvalidRuleSet as error:
        text = f"{str(error)[:1].lower()}{str(error)[1:]}"
        yield Finding("rule-set", Severity.REFUSE, None, "ruleSet", text, "correct the rule set; registries refuse it")
    extra = frozenset(name.upper() for name in contract.extra_types)
    for placed in contract.rules:
        yield from _type(placed, extra)
        yield from _phase(placed, extra)
        yield from _actions(placed, extra)
        if placed.type in {ENCRYPT, ENCRYPT_PAYLOAD}:
            yield from _parameters(placed, contract)
            yield from _published(placed)


def _type(placed: PlacedRule, extra: frozenset[str]) -> Iterator[Finding]:
    if placed.type not in KNOWN_TYPES | extra:
        yield placed.refuse(
            "rule-type",
            f"the type {placed.rule.type} is unknown",
            f"use one of {', '.join(sorted(KNOWN_TYPES))}, or list the type in magicbyte.rules.types",
            "type",
        )


def _phase(placed: PlacedRule, extra: frozenset[str]) -> Iterator[Finding]:
    is_known = placed.type in KNOWN_TYPES - extra
    if placed.phase == MIGRATION and placed.type == ENCRYPT:
        text, remedy = "migrations cannot encrypt fields", "move the rule to domainRules"
    elif placed.phase != ENCODING and placed.type == ENCRYPT_PAYLOAD:
        text, remedy = "a rule of type ENCRYPT_PAYLOAD encrypts encoded messages", "move the rule to encodingRules"
    elif placed.phase == ENCODING and is_known and placed.type != ENCRYPT_PAYLOAD:
        text, remedy = f"a rule of type {placed.type} does not read encoded messages", "move the rule to domainRules"
    else:
        return
    yield placed.refuse("rule-list", text, remedy, "type")


def _actions(placed: PlacedRule, extra: frozenset[str]) -> Iterator[Finding]:
    for part, actions in (("onSuccess", placed.rule.on_success), ("onFailure", placed.rule.on_failure)):
        if actions is None:
            continue
        names = [name.strip() for name in actions.split(",")]
        if len(names) > _PAIR:
            yield placed.refuse(
                "rule-action", f"{part} lists {len(names)} actions", "give one action, or one for each direction", part
            )
        if not all(names):
            yield placed.refuse(
                "rule-action", f"{part} has an empty action", "name the action; NONE is the one that does nothing", part
            )
        for name in names:
            if name and name.upper() not in KNOWN_ACTIONS | extra:
                yield placed.refuse(
                    "rule-action",
                    f"the action {name} is unknown",
                    f"use one of {', '.join(sorted(KNOWN_ACTIONS))}, or list the action in magicbyte.rules.types",
                    part,
                )


def _published(placed: PlacedRule) -> Iterator[Finding]:
    """An encryption that fails and goes on would publish the plain value."""
    names = [name.strip().upper() for name in (placed.rule.on_failure or "").split(",")]
    if placed.rule.mode in {"WRITE", "WRITEREAD"} and names[0] == "NONE":
        yield placed.refuse(
            "encrypt-failure",
            "onFailure NONE would publish the value that could not be encrypted",
            "use ERROR or DLQ",
            "onFailure",
        )


def _parameters(placed: PlacedRule, contract: Contract) -> Iterator[Finding]:
    parameters = contract.parameters(placed.rule)
    if "encrypt.kek.name" not in parameters:
        text, remedy = "the parameter encrypt.kek.name is missing", "name the key that encrypts data keys"
        yield placed.refuse("encrypt-parameter", text, remedy, "params")
    for name, (is_valid, expected) in _ENCRYPT_PARAMETERS.items():
        if name in parameters and not is_valid(parameters[name]):
            text, remedy = f"the parameter {name} is malformed", f"give it {expected}"
            yield placed.refuse("encrypt-parameter", text, remedy, _parameter_place(placed, name))
    for name in placed.rule.params:
        if name.startswith("encrypt.") and name not in _ENCRYPT_PARAMETERS:
            text, remedy = f"the parameter {name} is unknown", f"use {', '.join(_ENCRYPT_PARAMETERS)}"
            yield placed.refuse("encrypt-parameter", text, remedy, _parameter_place(placed, name))


def _parameter_place(placed: PlacedRule, name: str) -> str:
    return f"params['{name}']" if name in placed.rule.params else "params"
