"""Metadata, rules and configs as in confluent-kafka: values that convert to and from the API's JSON.

They have confluent-kafka's constructors; `model` is the value of `compat.contracts.model` that they stand for, which
registry and serdes share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Self

from compat.contracts import model


class ConfigCompatibilityLevel(StrEnum):
    """The compatibility levels."""

    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"
    NONE = "NONE"


_LEVEL = {"make": ConfigCompatibilityLevel}


class RuleKind(StrEnum):
    """The kind of a rule: it tests a message, or changes it."""

    CONDITION = "CONDITION"
    TRANSFORM = "TRANSFORM"


class RuleMode(StrEnum):
    """The operation at which a rule is carried out."""

    UPGRADE = "UPGRADE"
    DOWNGRADE = "DOWNGRADE"
    UPDOWN = "UPDOWN"
    WRITE = "WRITE"
    READ = "READ"
    WRITEREAD = "WRITEREAD"


class _Value:
    """A value with the fields of a JSON object, whose keys are in camel case; fields of None are omitted."""

    def to_dict(self) -> dict[str, Any]:
        """The API's JSON object."""
        values = ((row.name, getattr(self, row.name)) for row in fields(self))  # type: ignore[arg-type]  # a dataclass
        return {_camel(name): _to_json(value) for name, value in values if value is not None}

    @classmethod
    def from_dict(cls, json_object: Mapping[str, Any]) -> Self:
        """The value of one of the API's JSON objects; unknown keys are ignored."""
        values = {}
        for row in fields(cls):  # type: ignore[arg-type]  # a dataclass
            value = json_object.get(_camel(row.name))
            make = row.metadata.get("make")
            if value is not None and make is not None:
                value = [make(item) for item in value] if isinstance(value, list) else make(value)
            values[row.name] = value
        return cls(**values)


@dataclass(frozen=True)
class _Wrapped:
    """A mapping in a class of its own, as in confluent-kafka."""

    def to_dict(self) -> dict[str, Any]:
        """The mapping."""
        return dict(getattr(self, fields(self)[0].name))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """The value of a mapping."""
        return cls(dict(mapping))  # type: ignore[call-arg]  # the only field of the classes below


@dataclass(frozen=True)
class RuleParams(_Wrapped):
    """A rule's parameters."""

    params: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class MetadataTags(_Wrapped):
    """Tags by path pattern."""

    tags: dict[str, list[str]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class MetadataProperties(_Wrapped):
    """Properties by name."""

    properties: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Metadata(_Value):
    """A schema's metadata."""

    tags: MetadataTags | None = field(default=None, metadata={"make": MetadataTags.from_dict})
    properties: MetadataProperties | None = field(default=None, metadata={"make": MetadataProperties.from_dict})
    sensitive: list[str] | None = field(default=None, hash=False)

    @property
    def model(self) -> model.Metadata:
        """The metadata in the model."""
        return model.Metadata.from_json(self.to_dict()) or model.Metadata()


@dataclass(frozen=True)
class Rule(_Value):
    """A rule on messages or between versions."""

    name: str | None = None
    doc: str | None = None
    kind: RuleKind | None = field(default=None, metadata={"make": RuleKind})
    mode: RuleMode | None = field(default=None, metadata={"make": RuleMode})
    type: str | None = None
    tags: list[str] | None = field(default=None, hash=False)
    params: RuleParams | None = field(default=None, metadata={"make": RuleParams.from_dict})
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool | None = None

    @property
    def model(self) -> model.Rule:
        """The rule in the model."""
        return model.Rule.from_json(self.to_dict())


@dataclass(frozen=True)
class RuleSet(_Value):
    """A schema's rules."""

    migration_rules: list[Rule] | None = field(default=None, hash=False, metadata={"make": Rule.from_dict})
    domain_rules: list[Rule] | None = field(default=None, hash=False, metadata={"make": Rule.from_dict})
    encoding_rules: list[Rule] | None = field(default=None, hash=False, metadata={"make": Rule.from_dict})
    enable_at: str | None = None

    @property
    def model(self) -> model.RuleSet:
        """The rule set in the model."""
        return model.RuleSet.from_json(self.to_dict()) or model.RuleSet()


@dataclass(frozen=True)
class ServerConfig(_Value):
    """A subject's config, or the global one."""

    compatibility: ConfigCompatibilityLevel | None = field(default=None, metadata=_LEVEL)
    compatibility_level: ConfigCompatibilityLevel | None = field(
        default=None, metadata={"make": ConfigCompatibilityLevel}
    )
    compatibility_group: str | None = None
    default_metadata: Metadata | None = field(default=None, metadata={"make": Metadata.from_dict})
    override_metadata: Metadata | None = field(default=None, metadata={"make": Metadata.from_dict})
    default_rule_set: RuleSet | None = field(default=None, metadata={"make": RuleSet.from_dict})
    override_rule_set: RuleSet | None = field(default=None, metadata={"make": RuleSet.from_dict})


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _to_json(value: Any) -> Any:
    if isinstance(value, _Value | _Wrapped):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    return value.value if isinstance(value, StrEnum) else value
