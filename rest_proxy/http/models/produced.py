"""Models of produce requests and their answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

PartitionNumber = Annotated[int, Field(ge=0, le=2**31 - 1)]
_IdSerializer = Annotated[
    Literal["PREFIX", "HEADER"] | None,
    Field(
        description="Ours, for formats with schemas. Whether the schema's id is before the data, or its guid in a "
        "header of the record; by default as the settings say."
    ),
]
_Base64 = Annotated[str | None, Field(description="Base64.")]


@with_config(ConfigDict(extra="forbid"))
class SchemaReference(TypedDict):
    """A reference of a schema's text."""

    name: str
    subject: str
    version: int


class _Schemas(TypedDict):
    key_schema: NotRequired[str | None]
    key_schema_id: NotRequired[int | None]
    key_schema_references: NotRequired[list[SchemaReference] | None]
    value_schema: NotRequired[str | None]
    value_schema_id: NotRequired[int | None]
    value_schema_references: NotRequired[list[SchemaReference] | None]


@with_config(ConfigDict(extra="forbid"))
class ProducedRecord(TypedDict):
    """A record."""

    key: NotRequired[Any]
    value: NotRequired[Any]
    partition: NotRequired[PartitionNumber | None]


@with_config(ConfigDict(extra="forbid"))
class BinaryRecord(TypedDict):
    """A record of bytes."""

    key: NotRequired[_Base64]
    value: NotRequired[_Base64]
    partition: NotRequired[PartitionNumber | None]


@with_config(ConfigDict(extra="forbid"))
class ProduceRequest(_Schemas):
    """Records to produce, with their schemas if the format has schemas."""

    key_schema_id_serializer: NotRequired[_IdSerializer]
    value_schema_id_serializer: NotRequired[_IdSerializer]
    records: Annotated[list[ProducedRecord], Field(min_length=1)]


@with_config(ConfigDict(extra="forbid"))
class BinaryProduceRequest(_Schemas):
    """Records of bytes to produce."""

    records: Annotated[list[BinaryRecord], Field(min_length=1)]


class RecordOutcome(TypedDict):
    """The outcome of a record."""

    partition: int | None
    offset: Annotated[int | None, Field(description="-1 if the brokers returned none.")]
    error_code: int | None
    error: str | None


class ProduceResponse(TypedDict):
    """The outcome of each record, in order; a record's outcome has its error, too."""

    key_schema_id: int | None
    value_schema_id: int | None
    offsets: list[RecordOutcome]
