"""Models of records to produce, and of their reports."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, WithJsonSchema, with_config
from typing_extensions import TypeAliasType, TypedDict

from rest_proxy.v3.models.frame import Error

DataType = TypeAliasType("DataType", Literal["BINARY", "STRING", "JSON", "AVRO", "JSONSCHEMA", "PROTOBUF"])


@with_config(ConfigDict(extra="forbid"))
class RecordHeader(TypedDict):
    """A header of a record; its value is base64."""

    name: str
    value: NotRequired[Annotated[str | None, WithJsonSchema({"type": ["string", "null"], "contentEncoding": "base64"})]]


@with_config(ConfigDict(extra="forbid"))
class SchemaReference(TypedDict):
    """A reference of a schema's text."""

    name: str
    subject: str
    version: int


@with_config(ConfigDict(extra="forbid"))
class RecordData(TypedDict):
    """A key or value.

    BINARY, STRING and JSON stand without a schema. Others are written with a schema, by text (with its type), id, or
    version; with none of these with the latest version of the subject.
    """

    type: NotRequired[DataType | None]
    subject: NotRequired[str | None]
    subject_name_strategy: NotRequired[Literal["TOPIC_NAME", "RECORD_NAME", "TOPIC_RECORD_NAME"] | None]
    schema_id_serializer: NotRequired[
        Annotated[
            Literal["PREFIX", "HEADER"] | None,
            Field(
                description="Ours. Whether the schema's id is before the data, or its guid in a header of the record; "
                "by default as the settings say."
            ),
        ]
    ]
    schema_id: NotRequired[int | None]
    schema_guid: NotRequired[
        Annotated[
            str | None,
            Field(description="Ours. The guid of the schema, instead of its id."),
            WithJsonSchema({"type": ["string", "null"], "format": "uuid"}),
        ]
    ]
    schema_version: NotRequired[int | None]
    schema: NotRequired[str | None]
    references: NotRequired[
        Annotated[list[SchemaReference] | None, Field(description="Ours. What the schema's text refers to.")]
    ]
    data: NotRequired[Any]
    size: NotRequired[Annotated[Any, Field(description="Has no effect: a record that was read has it.")]]


@with_config(ConfigDict(extra="forbid"))
class ProduceRecord(TypedDict):
    """A record to produce."""

    partition_id: NotRequired[int | None]
    headers: NotRequired[list[RecordHeader] | None]
    key: NotRequired[RecordData | None]
    value: NotRequired[RecordData | None]
    timestamp: NotRequired[
        Annotated[
            str | float | None,
            Field(description="An ISO-8601 instant with an offset, or seconds since the epoch."),
        ]
    ]
    topic_name: NotRequired[Annotated[Any, Field(description="Has no effect: a record that was read has it.")]]
    offset: NotRequired[Annotated[Any, Field(description="Has no effect: a record that was read has it.")]]
    timestamp_type: NotRequired[Annotated[Any, Field(description="Has no effect: a record that was read has it.")]]


@with_config(ConfigDict(extra="forbid"))
class BatchEntry(ProduceRecord):
    """A record of a batch."""

    id: Annotated[str, Field(pattern="^[0-9A-Za-z_-]{1,80}$")]


@with_config(ConfigDict(extra="forbid"))
class ProduceBatch(TypedDict):
    """Records to produce."""

    entries: Annotated[
        list[BatchEntry],
        Field(
            min_length=1,
            max_length=10,
            description="At most `api.v3.produce.batch.maximum.entries` (10); their ids are distinct.",
        ),
    ]


class DataReport(TypedDict):
    """The data that was written as a key or value."""

    type: DataType
    subject: NotRequired[str]
    schema_id: NotRequired[int]
    schema_version: NotRequired[int]
    size: Annotated[int, Field(description="The bytes in the topic; -1 for null.")]


class _Report(TypedDict):
    cluster_id: str
    topic_name: str
    partition_id: int
    offset: Annotated[int, Field(description="-1 if it is not known.")]
    timestamp: NotRequired[Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]]
    key: NotRequired[DataReport]
    value: NotRequired[DataReport]


class RecordReport(_Report):
    """The outcome of a record."""

    error_code: Literal[200]


class BatchSuccess(_Report):
    """A record of a batch that was produced."""

    id: str
    error_code: NotRequired[Literal[200]]


class BatchFailure(Error):
    """A record of a batch that was not produced."""

    id: str


class ProduceBatchReport(TypedDict):
    """The outcomes of the records."""

    successes: list[BatchSuccess]
    failures: list[BatchFailure]
