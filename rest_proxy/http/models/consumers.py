"""Models of consumer instances, their records and offsets."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, WithJsonSchema, with_config
from typing_extensions import TypedDict

from rest_proxy.http.models.produced import PartitionNumber

_TopicName = Annotated[str, Field(min_length=1)]
_Instant = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]


@with_config(ConfigDict(extra="forbid"))
class ConsumerConfig(TypedDict):
    """The configuration of a new consumer instance."""

    id: NotRequired[Annotated[str | None, Field(description="As name, which it goes before; deprecated.")]]
    name: NotRequired[Annotated[str | None, Field(description="Generated if it is missing.")]]
    format: NotRequired[
        Annotated[str | None, Field(description="binary (the default), json, avro, jsonschema or protobuf.")]
    ]
    auto_offset_reset: NotRequired[
        Annotated[
            str | None,
            Field(alias="auto.offset.reset", description="earliest, latest or none; in v1 smallest or largest."),
        ]
    ]
    auto_commit: NotRequired[
        Annotated[
            str | bool | None,
            Field(alias="auto.commit.enable", description="true in v2 and false in v1 if it is missing."),
        ]
    ]
    fetch_min_bytes: NotRequired[
        Annotated[
            int | None, Field(alias="fetch.min.bytes", description="Bytes that a read waits for within its timeout.")
        ]
    ]
    response_min_bytes: NotRequired[
        Annotated[int | None, Field(alias="responseMinBytes", description="Another name of fetch.min.bytes.")]
    ]
    request_timeout_ms: NotRequired[
        Annotated[int | None, Field(alias="consumer.request.timeout.ms", description="The longest wait of a read.")]
    ]
    request_wait_ms: NotRequired[
        Annotated[int | None, Field(alias="requestWaitMs", description="Another name of consumer.request.timeout.ms.")]
    ]
    isolation_level: NotRequired[
        Annotated[
            str | None,
            Field(alias="isolation.level", description="read_uncommitted (the default) or read_committed."),
        ]
    ]
    decode_errors: NotRequired[
        Annotated[
            str | None,
            Field(
                alias="decode.errors",
                description="fail (the default), or report: a record that does not decode is shown with its error.",
            ),
        ]
    ]
    avro_unions: NotRequired[
        Annotated[str | None, Field(alias="avro.unions", description="tagged (the default) or plain.")]
    ]
    avro_logical_types: NotRequired[
        Annotated[
            str | None,
            Field(alias="avro.logical.types", description="text (the default), or stored: the reference's form."),
        ]
    ]


class CreatedConsumer(TypedDict):
    """The instance's name, and the URL of its further operations."""

    instance_id: str
    base_uri: str


@with_config(ConfigDict(extra="forbid"))
class Subscription(TypedDict):
    """Topics by name or by a regular expression."""

    topics: NotRequired[list[str] | None]
    topic_pattern: NotRequired[str | None]


class Topics(TypedDict):
    """The topics; of a pattern those of which partitions came to this instance."""

    topics: list[str]


class Record(TypedDict):
    """A record."""

    topic: str
    key: Any
    value: Any
    partition: int
    offset: int
    error_code: NotRequired[
        Annotated[
            int,
            Field(
                description="40301 if the client may not read the schema of the key or value, which then is base64; "
                "40801 only if decode.errors is report."
            ),
        ]
    ]
    error: NotRequired[str]


@with_config(ConfigDict(extra="forbid"))
class Offset(TypedDict):
    """An offset in a partition."""

    topic: _TopicName
    partition: PartitionNumber
    offset: Annotated[int, Field(ge=0)]
    metadata: NotRequired[str | None]


@with_config(ConfigDict(extra="forbid"))
class Timestamp(TypedDict):
    """An instant in a partition."""

    topic: _TopicName
    partition: PartitionNumber
    timestamp: _Instant
    metadata: NotRequired[str | None]


@with_config(ConfigDict(extra="forbid"))
class PartitionEntry(TypedDict):
    """A partition."""

    topic: _TopicName
    partition: PartitionNumber


@with_config(ConfigDict(extra="forbid"))
class Places(TypedDict):
    """The partitions."""

    partitions: NotRequired[list[PartitionEntry] | None]


@with_config(ConfigDict(extra="forbid"))
class OffsetsToCommit(TypedDict):
    """Offsets of the last records that were read."""

    offsets: NotRequired[list[Offset] | None]


@with_config(ConfigDict(extra="forbid"))
class Positions(TypedDict):
    """Positions to continue at, by offset or by time."""

    offsets: NotRequired[list[Offset] | None]
    timestamps: NotRequired[list[Timestamp] | None]


class Offsets(TypedDict):
    """The offsets; partitions that were never committed are left out."""

    offsets: list[Offset]


class CommittedV1(TypedDict):
    """A committed offset, which in v1 is that of the last record."""

    topic: str
    partition: int
    consumed: int
    committed: int
