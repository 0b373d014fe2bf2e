"""The contexts that custom executors and actions receive, with confluent-kafka's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from enum import StrEnum
from typing import Any

from compat.contracts.model import Metadata as MetadataModel
from compat.contracts.tags import TagPatterns
from serdes.contracts import Rule, RuleMode
from serdes.schema import Schema


class FieldType(StrEnum):
    """The type of a field."""

    RECORD = "RECORD"
    ENUM = "ENUM"
    ARRAY = "ARRAY"
    MAP = "MAP"
    COMBINED = "COMBINED"
    FIXED = "FIXED"
    STRING = "STRING"
    BYTES = "BYTES"
    INT = "INT"
    LONG = "LONG"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    BOOLEAN = "BOOLEAN"
    NULL = "NULL"


_PARTS = frozenset({"RECORD", "ENUM", "ARRAY", "MAP", "COMBINED", "FIXED"})


@dataclass(eq=False, slots=True)
class FieldContext:
    """The field that a rule is carried out on."""

    containing_message: Any
    full_name: str
    name: str
    field_type: FieldType
    tags: set[str]
    field_descriptor: Any = None

    def is_primitive(self) -> bool:
        """Whether the value has no parts and is neither an enum nor a fixed."""
        return self.field_type not in _PARTS

    def type_name(self) -> str:
        """The type in upper case."""
        return self.field_type.name


@dataclass(eq=False, slots=True)
class RuleContext:
    """The rule that is carried out on a message, and what it may ask for."""

    enabled_env: str | None
    ser_ctx: Any
    source: Schema | None
    target: Schema | None
    subject: str
    rule_mode: RuleMode
    rule: Rule
    index: int
    rules: Sequence[Rule]
    inline_tags: dict[str, set[str]] | None
    field_transformer: Callable[[Any, Any, Any], Any] | None
    original_key: Any = None
    original_value: Any = None
    _fields: list[FieldContext] = dataclass_field(default_factory=list, init=False, repr=False)

    def get_parameter(self, name: str) -> str | None:
        """A parameter: the rule's, else the property of the schema's metadata; None if neither has it."""
        value = None if self.rule.params is None else self.rule.params.params.get(name)
        metadata = None if self.target is None else self.target.metadata
        if value is None and metadata is not None and metadata.properties is not None:
            value = metadata.properties.properties.get(name)
        return value

    def current_field(self) -> FieldContext | None:
        """The field that the rule is carried out on now."""
        return self._fields[-1] if self._fields else None

    def enter_field(
        self,
        containing_message: Any,
        full_name: str,
        name: str,
        field_type: FieldType,
        tags: set[str] | None,
        field_descriptor: Any = None,
    ) -> FieldContext:
        """Notes the field that the rule is carried out on now."""
        inline = tags if tags is not None else (self.inline_tags or {}).get(full_name, set())
        all_tags = set(inline) | self.get_tags(full_name)
        return self.enter(FieldContext(containing_message, full_name, name, field_type, all_tags, field_descriptor))

    def enter(self, field: FieldContext) -> FieldContext:
        """Notes the field that the rule is carried out on now, whose tags are known."""
        self._fields.append(field)
        return field

    def exit_field(self) -> None:
        """Forgets the field that was entered last."""
        if self._fields:
            self._fields.pop()

    def get_tags(self, full_name: str) -> set[str]:
        """The tags of a field in the schema's metadata."""
        metadata = None if self.target is None else self.target.metadata
        if metadata is None:
            return set()
        return set(TagPatterns(MetadataModel.from_json(metadata.to_dict())).of(full_name))
