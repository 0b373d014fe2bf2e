"""Schemas as values with the names and fields of confluent-kafka's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compat.schema import AVRO, Reference, SchemaText
from serdes.error import ConfigError
from serdes.records.table import checked_classes, is_record_class

#: confluent-kafka's name.
SchemaReference = Reference


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema's text with its type, references, metadata and rules, before or after registration."""

    schema_str: str
    schema_type: str = AVRO
    references: Sequence[Reference] = ()
    metadata: Any = None
    rule_set: Any = None

    @property
    def text(self) -> SchemaText:
        """The schema as the SchemaText that the rest of this package uses."""
        references = tuple(
            Reference(str(reference.name), str(reference.subject), int(reference.version))
            for reference in self.references or ()
        )
        return SchemaText(self.schema_type or AVRO, self.schema_str, references)

    @property
    def metadata_json(self) -> Mapping[str, Any] | None:
        """The metadata as JSON of the API."""
        return _as_mapping(self.metadata)

    @property
    def rule_set_json(self) -> Mapping[str, Any] | None:
        """The rule set as JSON of the API."""
        return _as_mapping(self.rule_set)


def as_schema(schema: Any, schema_type: str) -> Schema | None:
    """The Schema of a text, a SchemaText, a class of `magicbyte generate`, or an object with a Schema's attributes.

    Raises:
        ConfigError: it is none of these.
    """
    if schema is None or isinstance(schema, Schema):
        return schema
    if isinstance(schema, str):
        return Schema(schema, schema_type)
    if isinstance(schema, SchemaText):
        return Schema(schema.text, schema.schema_type, schema.references)
    if is_record_class(schema):
        checked_classes(schema, schema_type)
        references = tuple(Reference(*reference) for reference in getattr(schema, "__references__", ()))
        return Schema(schema.__schema__, schema_type, references)
    if not hasattr(schema, "schema_str"):
        raise ConfigError("schema_str", f"must be a text or a Schema, not {type(schema).__name__}")
    return Schema(
        schema.schema_str,
        schema.schema_type or schema_type,
        tuple(schema.references or ()),
        getattr(schema, "metadata", None),
        getattr(schema, "rule_set", None),
    )


def _as_mapping(value: Any) -> Mapping[str, Any] | None:
    if value is None or isinstance(value, Mapping):
        return value
    mapping: Mapping[str, Any] = value.to_dict()
    return mapping
