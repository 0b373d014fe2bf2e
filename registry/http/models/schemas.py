"""Models of schemas and versions, in requests and answers. Those of requests also read them."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from registry.http.models.reading import DescribedAs, Int32, OrNull

#: The number of a version, or an id.
_Number = Annotated[Int32 | None, DescribedAs(int | None), Field(json_schema_extra={"format": "int32"})]


@with_config(ConfigDict(json_schema_extra={"required": ["entityPath", "entityType"]}))
class TaggedEntity(TypedDict, total=False):
    """A record or a field of a schema."""

    entityPath: Annotated[OrNull[str], Field(json_schema_extra={"minLength": 1})]
    entityType: Annotated[str | None, DescribedAs(Literal["sr_record", "sr_field"])]


@with_config(ConfigDict(json_schema_extra={"required": ["schemaEntity", "tags"]}))
class SchemaTags(TypedDict, total=False):
    """The tags of a record or a field."""

    schemaEntity: TaggedEntity
    tags: OrNull[list[str]]


@with_config(ConfigDict(json_schema_extra={"required": ["name", "subject", "version"]}))
class SchemaReference(TypedDict, total=False):
    """A reference from a schema to a version of a subject."""

    name: Annotated[OrNull[str], Field(description="What the text uses: a full name, a `$ref`, an import path.")]
    subject: OrNull[str]
    version: Annotated[
        Int32 | None, DescribedAs(int), Field(description="-1 is the latest, and is stored as its number.")
    ]


class Metadata(TypedDict, total=False):
    """The metadata of a data contract."""

    tags: OrNull[dict[str, list[str]]]
    properties: OrNull[dict[str, str]]
    sensitive: OrNull[list[str]]


_NAME = {"minLength": 1, "maxLength": 256, "pattern": "^[A-Za-z_][A-Za-z0-9_-]*$"}


class Rule(TypedDict, total=False):
    """A rule of a data contract."""

    name: Annotated[OrNull[str], Field(json_schema_extra=_NAME)]
    doc: OrNull[str]
    kind: Annotated[str | None, DescribedAs(Literal["TRANSFORM", "CONDITION"])]
    mode: Annotated[str | None, DescribedAs(Literal["UPGRADE", "DOWNGRADE", "UPDOWN", "WRITE", "READ", "WRITEREAD"])]
    type: OrNull[str]
    tags: OrNull[list[str]]
    params: OrNull[dict[str, str]]
    expr: OrNull[str]
    onSuccess: OrNull[str]
    onFailure: OrNull[str]
    disabled: OrNull[bool]


class RuleSet(TypedDict, total=False):
    """The rules of a data contract."""

    migrationRules: OrNull[list[Rule]]
    domainRules: OrNull[list[Rule]]
    encodingRules: OrNull[list[Rule]]
    enableAt: Annotated[str | None, DescribedAs(Literal["ALL", "CLIENT", "GATEWAY", "SERVER", "NONE"])]


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


class RegisterSchemaRequest(TypedDict, total=False):
    """A schema to register, to look up or to check."""

    schema: Annotated[str | None, Field(description="Empty: the text of the latest version again.")]
    schemaType: Annotated[str | None, Field(description="AVRO if it is absent.")]
    references: list[SchemaReference] | None
    metadata: Metadata | None
    ruleSet: RuleSet | None
    version: _Number
    id: _Number
    schemaTagsToAdd: list[SchemaTags] | None
    schemaTagsToRemove: list[SchemaTags] | None
    propagateSchemaTags: Annotated[bool | None, Field(description="Take over the tags of the latest version.")]


class TagSchemaRequest(TypedDict, total=False):
    """Changes that make a new version."""

    newVersion: _Number
    tagsToAdd: list[SchemaTags] | None
    tagsToRemove: list[SchemaTags] | None
    metadata: Metadata | None
    ruleSet: RuleSet | None
    rulesToMerge: RuleSet | None
    rulesToRemove: list[str] | None
