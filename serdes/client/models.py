"""The answers of a registry as values; the schemas in them are `compat.schema.SchemaText`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compat.schema import AVRO, Reference, SchemaText


@dataclass(frozen=True, slots=True)
class SchemaInfo:
    """A schema looked up by id or guid, independent of the subjects that hold it.

    `subject` and `version` are set if the request named a subject; `id` is None after a look-up by guid.
    """

    schema: SchemaText
    id: int | None = None
    guid: str | None = None
    subject: str | None = None
    version: int | None = None
    metadata: Mapping[str, Any] | None = field(default=None, hash=False)
    rule_set: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A version of a subject; `guid` is None if an older registry returns none."""

    subject: str
    version: int
    id: int
    guid: str | None
    schema: SchemaText
    metadata: Mapping[str, Any] | None = field(default=None, hash=False)
    rule_set: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class SubjectVersion:
    """A subject and one of its versions."""

    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class Compatibility:
    """A registry's verdict on a schema before registration, the reasons if it is incompatible, and explanations."""

    compatible: bool
    messages: tuple[str, ...] = ()
    explanations: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)

    def __bool__(self) -> bool:
        return self.compatible


def request_body(
    schema: SchemaText, metadata: Mapping[str, Any] | None = None, rule_set: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The body of register, look-up and check requests; AVRO is sent without a type, as old registries expect."""
    body: dict[str, Any] = {"schema": schema.text}
    if schema.schema_type != AVRO:
        body["schemaType"] = schema.schema_type
    if schema.references:
        body["references"] = [
            {"name": reference.name, "subject": reference.subject, "version": reference.version}
            for reference in schema.references
        ]
    if metadata is not None:
        body["metadata"] = metadata
    if rule_set is not None:
        body["ruleSet"] = rule_set
    return body


def schema_text(answer: Mapping[str, Any]) -> SchemaText:
    """The schema in a response; the default type is AVRO."""
    references = tuple(
        Reference(reference["name"], reference["subject"], reference["version"])
        for reference in answer.get("references") or ()
    )
    return SchemaText(answer.get("schemaType") or AVRO, answer["schema"], references)


def registered_schema(answer: Mapping[str, Any]) -> RegisteredSchema:
    """The version of a subject in a response."""
    return RegisteredSchema(
        answer["subject"],
        answer["version"],
        answer["id"],
        answer.get("guid"),
        schema_text(answer),
        answer.get("metadata"),
        answer.get("ruleSet"),
    )


def schema_info(answer: Mapping[str, Any], schema_id: int | None, guid: str | None) -> SchemaInfo:
    """The schema in the response to a look-up by id or guid."""
    return SchemaInfo(
        schema_text(answer),
        schema_id,
        answer.get("guid") or guid,
        answer.get("subject"),
        answer.get("version"),
        answer.get("metadata"),
        answer.get("ruleSet"),
    )
