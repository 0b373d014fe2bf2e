"""Models of records that are read."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from rest_proxy.v3.models.frame import Collection
from rest_proxy.v3.models.produced import DataType, RecordHeader


class ReadData(TypedDict):
    """A key or value; the error and the base64 if it does not decode (40801) or its schema is hidden (40301)."""

    type: NotRequired[DataType]
    schema_id: NotRequired[int]
    schema_guid: NotRequired[
        Annotated[
            str,
            Field(description="Instead of the id, if the record names its schema by guid."),
            WithJsonSchema({"type": "string", "format": "uuid"}),
        ]
    ]
    schema_id_serializer: NotRequired[Annotated[Literal["HEADER"], Field(description="A header names the schema.")]]
    size: NotRequired[int]
    data: NotRequired[Any]
    error_code: NotRequired[Literal[40301, 40801]]
    error: NotRequired[str]
    raw: NotRequired[str]


class KafkaRecord(TypedDict):
    """A record. It can be produced again as it is."""

    topic_name: str
    partition_id: int
    offset: int
    timestamp: str | None
    timestamp_type: Literal["CREATE_TIME", "LOG_APPEND_TIME"]
    headers: list[RecordHeader]
    key: ReadData | None
    value: ReadData | None


class KafkaRecordList(Collection):
    """The records."""

    kind: Literal["KafkaRecordList"]
    next_offset: NotRequired[Annotated[int, Field(description="Where the next read of the partition begins.")]]
    earliest_offset: NotRequired[int]
    latest_offset: NotRequired[int]
    cursor: NotRequired[Annotated[str, Field(description="Where the next read of the topic begins.")]]
    data: list[KafkaRecord]


class ConsumedPartition(TypedDict):
    """The records of one partition."""

    partition_id: int
    next_offset: int
    records: list[dict[str, Any]]


class ConsumeAnswer(TypedDict):
    """The records."""

    cluster_id: str
    topic_name: str
    partition_data_list: list[ConsumedPartition]
