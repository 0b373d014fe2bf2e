"""Checks of tags against the fields of the schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compat.contracts.findings.contract import (
    DOMAIN,
    ENCRYPT,
    READING,
    WRITING,
    Contract,
    PlacedRule,
)
from compat.contracts.findings.finding import Finding, Severity
from compat.contracts.walk import field_walk
from compat.contracts.walk.leaf import PRIMITIVE, Leaf
from compat.contracts.wildcards import matches
from compat.schema import InvalidSchema

BY_FIELD = frozenset({"CEL_FIELD", "REDACT", ENCRYPT})
_ENCRYPTABLE = frozenset({"STRING", "BYTES"})


def field_findings(contract: Contract) -> Iterator[Finding]:
    """The findings about tags and the fields that they select."""
    yield from _patterns(contract)
    yield from _record_fields(contract)
    by_field = [placed for placed in contract.enabled if placed.type in BY_FIELD]
    for placed in by_field:
        yield from _selected(placed, contract)
        if placed.type == ENCRYPT:
            yield from _unencryptable(placed, contract)
            yield from _one_way(placed, by_field)
    domain = [placed for placed in by_field if placed.phase == DOMAIN]
    yield from _same_tags(domain)
    yield from _after_encryption(domain)


def _patterns(contract: Contract) -> Iterator[Finding]:
    metadata = contract.metadata
    for pattern in metadata.tags if metadata is not None else ():
        if not any(matches(field.full_name, pattern) for field in contract.walk.fields):
            lost = _lost_field(contract, pattern)
            text = "the pattern matches no field"
            yield Finding(
                "tag-pattern",
                Severity.WARN,
                None,
                f"metadata.tags['{pattern}']",
                text
                if lost is None
                else f"{text}: the version before had {lost}, whose tags are lost if it was renamed",
                "correct it: fields have names such as " + _example(contract),
            )


def _lost_field(contract: Contract, pattern: str) -> str | None:
    """The field of the version before that a pattern matched."""
    if contract.previous is None:
        return None
    try:
        walk = field_walk(contract.previous.schema, contract.previous.dependencies, None)
    except InvalidSchema:
        return None
    return next((field.full_name for field in walk.fields if matches(field.full_name, pattern)), None)


def _example(contract: Contract) -> str:
    return contract.walk.fields[0].full_name if contract.walk.fields else "com.acme.User.email"


def _record_fields(contract: Contract) -> Iterator[Finding]:
    for field in contract.walk.fields:
        if field.tags and field.holds_records:
            yield Finding(
                "tag-on-record",
                Severity.WARN,
                None,
                field.full_name,
                f"the field holds a record, and its tags ({', '.join(sorted(field.tags))}) do not reach what is in it",
                "tag the fields of that record",
            )


def _selected(placed: PlacedRule, contract: Contract) -> Iterator[Finding]:
    known = frozenset[str]().union(*(field.tags for field in contract.walk.fields))
    for tag in placed.rule.tags:
        if tag not in known:
            yield placed.warn("unknown-tag", f"no field has the tag {tag}", "tag a field, or remove the tag", "tags")
    if not any(placed.selects(leaf) and _reads(placed, leaf) for leaf in contract.walk.leaves) and not placed.rule.tags:
        yield placed.warn(
            "no-field",
            "the schema has no field that the rule could read",
            "use a rule of type CEL for a message without fields",
        )


def _reads(placed: PlacedRule, leaf: Leaf) -> bool:
    return placed.type != "CEL_FIELD" or leaf.type_name in PRIMITIVE


def _unencryptable(placed: PlacedRule, contract: Contract) -> Iterator[Finding]:
    leaves = [leaf for leaf in contract.walk.leaves if placed.selects(leaf)]
    texts = {leaf.full_name for leaf in leaves if leaf.type_name in _ENCRYPTABLE}
    for leaf in leaves:
        # A number beside a text in a union passes as it is.
        if leaf.type_name not in _ENCRYPTABLE | {"NULL"} and (leaf.full_name not in texts or leaf.type_name == "FIXED"):
            yield placed.refuse(
                "encrypt-type",
                f"a value of type {leaf.type_name} cannot be encrypted: {leaf.full_name}",
                "give the rule tags that only text and bytes have, or change the field to string or bytes",
                "tags",
            )


def _one_way(placed: PlacedRule, rules: Sequence[PlacedRule]) -> Iterator[Finding]:
    if placed.rule.mode not in WRITING or placed.rule.mode in READING:
        return
    readers = [other for other in rules if other.type == ENCRYPT and other.rule.mode in READING]
    if not any(other.shares_tags(placed) for other in readers):
        yield placed.warn(
            "encrypt-one-way",
            "the rule encrypts, and no rule decrypts",
            "use the mode WRITEREAD, unless readers must not see the plain value",
            "mode",
        )


def _same_tags(rules: Sequence[PlacedRule]) -> Iterator[Finding]:
    seen: dict[tuple[str | None, str, tuple[str, ...]], PlacedRule] = {}
    for placed in rules:
        if not placed.is_transform or not placed.rule.tags:
            continue
        key = placed.rule.mode, placed.type, tuple(sorted(placed.rule.tags))
        first = seen.setdefault(key, placed)
        if first is not placed:
            yield placed.warn(
                "same-tags",
                f"rule '{first.rule.name}' has the same mode, type and tags, and only one of the two is carried out",
                "join the two rules, or give them different tags",
                "tags",
            )


def _after_encryption(rules: Sequence[PlacedRule]) -> Iterator[Finding]:
    for index, placed in enumerate(rules):
        if placed.type == ENCRYPT:
            continue
        for earlier in rules[:index]:
            modes = _directions(placed.rule.mode) & _directions(earlier.rule.mode)
            if earlier.type == ENCRYPT and modes and placed.shares_tags(earlier):
                yield placed.warn(
                    "after-encryption",
                    f"the rule sees encrypted values: it stands after rule '{earlier.rule.name}', which encrypts them",
                    "put it before that rule",
                )
                break


def _directions(mode: str | None) -> frozenset[str]:
    return frozenset({"WRITE", "READ"}) if mode == "WRITEREAD" else frozenset({mode or ""})
