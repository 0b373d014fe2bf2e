"""Models of schemas and versions, in requests and answers."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class TaggedEntity(TypedDict):
    """A record or a field of a schema."""

    entityPath: Annotated[str, Field(min_length=1)]
    entityType: Literal["sr_record", "sr_field"]


class SchemaTags(TypedDict):
    """The tags of a record or a field."""

    schemaEntity: TaggedEntity
    tags: list[str]


class SchemaReference(TypedDict):
    """A reference from a schema to a version of a subject."""

    name: Annotated[str, Field(description="What the text uses: a full name, a `$ref`, an import path.")]
    subject: str
    version: Annotated[int, Field(description="-1 is the latest, and is stored as its number.")]


class Metadata(TypedDict):
    """The metadata of a data contract."""

    tags: NotRequired[dict[str, list[str]]]
    properties: NotRequired[dict[str, str]]
    sensitive: NotRequired[list[str]]


class Rule(TypedDict):
    """A rule of a data contract."""

    name: NotRequired[Annotated[str, Field(min_length=1, max_length=256, pattern="^[A-Za-z_][A-Za-z0-9_-]*$")]]
    doc: NotRequired[str]
    kind: NotRequired[Literal["TRANSFORM", "CONDITION"]]
    mode: NotRequired[Literal["UPGRADE", "DOWNGRADE", "UPDOWN", "WRITE", "READ", "WRITEREAD"]]
    type: NotRequired[str]
    tags: NotRequired[list[str]]
    params: NotRequired[dict[str, str]]
    expr: NotRequired[str]
    onSuccess: NotRequired[str]
    onFailure: NotRequired[str]
    disabled: NotRequired[bool]


class RuleSet(TypedDict):
    """The rules of a data contract."""

    migrationRules: NotRequired[list[Rule]]
    domainRules: NotRequired[list[Rule]]
    encodingRules: NotRequired[list[Rule]]
    enableAt: NotRequired[Literal["ALL", "CLIENT", "GATEWAY", "SERVER", "NONE"]]


class Content(TypedDict):
    """The members that all objects of a schema have."""

    guid: str
    schemaType: str
    references: NotRequired[list[SchemaReference]]
    metadata: NotRequired[Metadata]
    ruleSet: NotRequired[RuleSet]
    schema: str
    ts: Annotated[int, Field(description="When it was written, in ms since the epoch.")]
    deleted: bool


class Schema(Content):
    """A version of a subject."""

    subject: str
    version: int
    id: int
    aliases: NotRequired[list[str]]
    schemaTags: NotRequired[list[SchemaTags]]


class RegisteredSchema(Content):
    """A version, as registration answers it."""

    id: int
    version: int


class SchemaString(Content):
    """A schema by its id."""

    subject: NotRequired[str]
    version: NotRequired[int]
    maxId: NotRequired[int]
    schemaTags: NotRequired[list[SchemaTags]]


class SubjectVersion(TypedDict):
    """A version of a subject, by its number."""

    subject: str
    version: int


class ContextId(TypedDict):
    """A schema id, and its context."""

    context: str
    id: int


class RegisterSchemaRequest(TypedDict):
    """A schema to register, to look up or to check."""

    schema: NotRequired[Annotated[str | None, Field(description="Empty: the text of the latest version again.")]]
    schemaType: NotRequired[Annotated[str | None, Field(description="AVRO if it is absent.")]]
    references: NotRequired[list[SchemaReference] | None]
    metadata: NotRequired[Metadata | None]
    ruleSet: NotRequired[RuleSet | None]
    version: NotRequired[Annotated[int | None, Field(json_schema_extra={"format": "int32"})]]
    id: NotRequired[Annotated[int | None, Field(json_schema_extra={"format": "int32"})]]
    schemaTagsToAdd: NotRequired[list[SchemaTags] | None]
    schemaTagsToRemove: NotRequired[list[SchemaTags] | None]
    propagateSchemaTags: NotRequired[
        Annotated[bool | None, Field(description="Take over the tags of the latest version.")]
    ]


class TagSchemaRequest(TypedDict):
    """Changes that make a new version."""

    newVersion: NotRequired[Annotated[int | None, Field(json_schema_extra={"format": "int32"})]]
    tagsToAdd: NotRequired[list[SchemaTags] | None]
    tagsToRemove: NotRequired[list[SchemaTags] | None]
    metadata: NotRequired[Metadata | None]
    ruleSet: NotRequired[RuleSet | None]
    rulesToMerge: NotRequired[RuleSet | None]
    rulesToRemove: NotRequired[list[str] | None]
