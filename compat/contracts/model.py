"""The metadata and rule sets of schemas and configs. The registry checks them; clients carry them out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

#: The property that holds the schema's version number; the server sets it.
VERSION_PROPERTY = "confluent:version"
#: The property that lists reserved field names, separated by commas: later versions may not use or drop them.
RESERVED_PROPERTY = "confluent:reserved"


class InvalidRuleSet(ValueError):
    """A malformed rule set; the text is the reference's message."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Tags by path pattern, properties, and the names of sensitive properties."""

    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    sensitive: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The non-empty parts, sorted."""
        parts: dict[str, Any] = {
            "tags": {path: list(tags) for path, tags in sorted(self.tags.items())},
            "properties": dict(sorted(self.properties.items())),
            "sensitive": list(self.sensitive),
        }
        return {name: part for name, part in parts.items() if part}

    @classmethod
    def from_json(cls, value: Any) -> Self | None:
        """Read metadata; None stays None.

        Raises:
            TypeError: The value does not have the shape of metadata.
        """
        if value is None:
            return None
        _require(isinstance(value, dict), "metadata must be an object")
        tags, properties = value.get("tags") or {}, value.get("properties") or {}
        _require(isinstance(tags, dict), "metadata.tags must be an object")
        _require(isinstance(properties, dict), "metadata.properties must be an object")
        return cls(
            {path: _strings(names, f"metadata.tags.{path}") for path, names in tags.items()},
            {name: _text(text, f"metadata.properties.{name}") for name, text in properties.items()},
            _strings(value.get("sensitive") or (), "metadata.sensitive"),
        )

    def merged(self, over: Metadata | None) -> Metadata:
        """Return the metadata plus the tags, properties and sensitive names of `over`, whose properties win."""
        if over is None:
            return self
        tags = {
            path: tuple(sorted({*self.tags.get(path, ()), *over.tags.get(path, ())}))
            for path in {*self.tags, *over.tags}
        }
        return Metadata(tags, {**self.properties, **over.properties}, tuple(sorted({*self.sensitive, *over.sensitive})))

    def with_property(self, name: str, value: str) -> Metadata:
        """The same metadata with one property set."""
        return Metadata(self.tags, {**self.properties, name: value}, self.sensitive)

    def without_property(self, name: str) -> Metadata:
        """The same metadata without one property."""
        properties = {key: value for key, value in self.properties.items() if key != name}
        return Metadata(self.tags, properties, self.sensitive)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a rule set; None means not set."""

    name: str | None
    doc: str | None = None
    kind: str | None = None
    mode: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    params: Mapping[str, str] = field(default_factory=dict)
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool = False

    def to_json(self) -> dict[str, Any]:
        """The fields that are set, and `disabled`."""
        parts: dict[str, Any] = {
            "name": self.name,
            "doc": self.doc,
            "kind": self.kind,
            "mode": self.mode,
            "type": self.type,
            "tags": list(self.tags) or None,
            "params": dict(sorted(self.params.items())) or None,
            "expr": self.expr,
            "onSuccess": self.on_success,
            "onFailure": self.on_failure,
            "disabled": self.disabled,
        }
        return {name: part for name, part in parts.items() if part is not None}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Read a rule; unknown fields are ignored.

        Raises:
            TypeError: The value does not have the shape of a rule.
        """
        _require(isinstance(value, dict), "a rule must be an object")
        params, disabled = value.get("params") or {}, value.get("disabled")
        _require(isinstance(params, dict), "rule.params must be an object")
        _require(isinstance(disabled, bool | None), "rule.disabled must be a boolean")
        optional = {
            field_name: _optional(value.get(name), f"rule.{name}")
            for field_name, name in (
                ("name", "name"),
                ("doc", "doc"),
                ("kind", "kind"),
                ("mode", "mode"),
                ("type", "type"),
                ("expr", "expr"),
                ("on_success", "onSuccess"),
                ("on_failure", "onFailure"),
            )
        }
        return cls(
            tags=_strings(value.get("tags") or (), "rule.tags"),
            params={key: _text(text, f"rule.params.{key}") for key, text in params.items()},
            disabled=bool(disabled),
            **optional,
        )


MIGRATION_MODES = frozenset({"UPGRADE", "DOWNGRADE", "UPDOWN"})
DATA_MODES = frozenset({"WRITE", "READ", "WRITEREAD"})
_BOTH_WAYS = frozenset({"UPDOWN", "WRITEREAD"})
KINDS = ("TRANSFORM", "CONDITION")
PLACES = ("ALL", "CLIENT", "GATEWAY", "SERVER", "NONE")
_NAME = re.compile(r"[^\W\d]|_")
_NAME_MAX = 256


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Migration, domain and encoding rules, and the place that runs them."""

    migration_rules: tuple[Rule, ...] = ()
    domain_rules: tuple[Rule, ...] = ()
    encoding_rules: tuple[Rule, ...] = ()
    enable_at: str | None = None

    @property
    def groups(self) -> tuple[tuple[str, tuple[Rule, ...], frozenset[str]], ...]:
        """Each list with its name on the wire and the modes that its rules may have."""
        return (
            ("migrationRules", self.migration_rules, MIGRATION_MODES),
            ("domainRules", self.domain_rules, DATA_MODES),
            ("encodingRules", self.encoding_rules, DATA_MODES),
        )

    def to_json(self) -> dict[str, Any]:
        """The non-empty lists and `enableAt`."""
        lists: dict[str, Any] = {name: [rule.to_json() for rule in rules] for name, rules, _ in self.groups if rules}
        return {**lists, "enableAt": self.enable_at} if self.enable_at else lists

    @classmethod
    def from_json(cls, value: Any) -> Self | None:
        """Read a rule set; None stays None.

        Raises:
            TypeError: The value does not have the shape of a rule set.
        """
        if value is None:
            return None
        _require(isinstance(value, dict), "ruleSet must be an object")
        lists = []
        for name in ("migrationRules", "domainRules", "encodingRules"):
            rules = value.get(name) or []
            _require(isinstance(rules, list), f"ruleSet.{name} must be an array")
            lists.append(tuple(Rule.from_json(rule) for rule in rules))
        return cls(lists[0], lists[1], lists[2], _optional(value.get("enableAt"), "ruleSet.enableAt"))

    def validate(self) -> None:
        """Check the rules' names, types, kinds and modes, and the place that runs them.

        Raises:
            InvalidRuleSet: A rule or the place is invalid.
        """
        if self.enable_at is not None and self.enable_at not in PLACES:
            raise InvalidRuleSet(f"Rules can only be enabled at {', '.join(PLACES)}")
        names: set[str | None] = set()
        for list_name, rules, modes in self.groups:
            for rule in rules:
                _check_name(rule.name)
                if rule.name in names:
                    raise InvalidRuleSet(f"Found rule with duplicate name '{rule.name}'")
                names.add(rule.name)
                if not rule.type:
                    raise InvalidRuleSet("Missing rule type")
                if rule.kind is not None and rule.kind not in KINDS:
                    raise InvalidRuleSet(f"Rules can only be of kind {', '.join(KINDS)}")
                if rule.mode not in modes:
                    label = list_name.removesuffix("Rules").capitalize()
                    ordered = ("UPGRADE, DOWNGRADE, UPDOWN", "WRITE, READ, WRITEREAD")[modes is DATA_MODES]
                    raise InvalidRuleSet(f"{label} rules can only be {ordered}")
                actions = (rule.on_success or "") + (rule.on_failure or "")
                if "," in actions and rule.mode not in _BOTH_WAYS:
                    raise InvalidRuleSet("Multiple actions only valid with WRITEREAD and UPDOWN")

    def merged(self, over: RuleSet | None) -> RuleSet:
        """Return the rule set plus the rules of `over`, which replace those of the same name."""
        if over is None:
            return self
        lists = [
            (*(rule for rule in rules if rule.name not in {new_rule.name for new_rule in added}), *added)
            for (_, rules, _), (_, added, _) in zip(self.groups, over.groups, strict=True)
        ]
        return RuleSet(lists[0], lists[1], lists[2], over.enable_at or self.enable_at)

    def without(self, names: Iterable[str]) -> RuleSet:
        """The same rule set without the named rules."""
        removed = frozenset(names)
        lists = [tuple(rule for rule in rules if rule.name not in removed) for _, rules, _ in self.groups]
        return RuleSet(lists[0], lists[1], lists[2], self.enable_at)


def _check_name(name: str | None) -> None:
    if name is None:
        raise InvalidRuleSet("Missing rule name")
    if not name:
        raise InvalidRuleSet("Empty rule name")
    if len(name) > _NAME_MAX:
        raise InvalidRuleSet("Rule name too long")
    if not _NAME.match(name[0]):
        raise InvalidRuleSet(f"Illegal initial character in rule name: {name}")
    if not all(character.isalnum() or character in "_-" for character in name):
        raise InvalidRuleSet(f"Illegal character in rule name: {name}")


def _require(condition: bool, message: str) -> None:  # noqa: FBT001  an assertion with a message
    if not condition:
        raise TypeError(message)


def _text(value: Any, name: str) -> str:
    _require(isinstance(value, str), f"{name} must be a string")
    return str(value)


def _optional(value: Any, name: str) -> str | None:
    return None if value is None else _text(value, name)


def _strings(value: Any, name: str) -> tuple[str, ...]:
    _require(isinstance(value, list | tuple), f"{name} must be an array of strings")
    return tuple(sorted({_text(item, name) for item in value}))
