"""Request bodies: the shapes that read them, which also describe them, and the errors for bodies of another shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct, field

from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.kit.errors import ApiError
from rest_proxy.errors import INVALID_ENTITY

S = TypeVar("S")
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*?)`")
#: The key or value of a record without one.
MISSING = Raw(b"null")
_UNRECOGNIZED = "Unrecognized field: "
_TOO_DEEP = "JSON is nested too deeply"

# The bounds describe; handlers check them, because their errors name the value.
_TopicName = Annotated[str, Meta(extra_json_schema={"minLength": 1})]
_PartitionNumber = Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": 2**31 - 1})]
_OffsetNumber = Annotated[int, Meta(extra_json_schema={"minimum": 0})]
_Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


class SchemaReference(Struct, forbid_unknown_fields=True):
    """A reference of a schema text."""

    name: str
    subject: str
    version: int


class RawRecord(Struct, forbid_unknown_fields=True, gc=False):
    """A record whose key and value stay JSON text."""

    key: Raw = MISSING
    value: Raw = MISSING
    partition: int | None = None


class BytesRecord(Struct, forbid_unknown_fields=True, gc=False):
    """A record whose key and value are padded base64 or null."""

    key: bytes | None = None
    value: bytes | None = None
    partition: int | None = None


class DataRecord(Struct, forbid_unknown_fields=True, gc=False):
    """A record whose key and value are parsed JSON, to be encoded with schemas."""

    key: Any = None
    value: Any = None
    partition: int | None = None


class ProduceRequest(Struct, forbid_unknown_fields=True):
    """The members that all produce requests share, without the records."""

    key_schema: str | None = None
    key_schema_id: int | None = None
    key_schema_references: list[SchemaReference] | None = None
    value_schema: str | None = None
    value_schema_id: int | None = None
    value_schema_references: list[SchemaReference] | None = None


class RawProduceRequest(ProduceRequest):
    """A produce request of a format without schemas."""

    records: list[RawRecord] | None = None


class BytesProduceRequest(ProduceRequest):
    """A produce request of bytes."""

    records: list[BytesRecord] | None = None


class DataProduceRequest(ProduceRequest):
    """A produce request of a format with schemas; the first two members are ours."""

    key_schema_id_serializer: str | None = None
    value_schema_id_serializer: str | None = None
    records: list[DataRecord] | None = None


class PartitionEntry(Struct, forbid_unknown_fields=True):
    """A partition."""

    topic: _TopicName
    partition: _PartitionNumber


class Offset(Struct, forbid_unknown_fields=True):
    """An offset in a partition."""

    topic: _TopicName
    partition: _PartitionNumber
    offset: _OffsetNumber
    metadata: str | None = None


class Timestamp(Struct, forbid_unknown_fields=True):
    """An instant in a partition."""

    topic: _TopicName
    partition: _PartitionNumber
    timestamp: _Instant
    metadata: str | None = None


class Places(Struct, forbid_unknown_fields=True):
    """The partitions."""

    partitions: list[PartitionEntry] | None = None


class OffsetsToCommit(Struct, forbid_unknown_fields=True):
    """Offsets of the last records that were read."""

    offsets: list[Offset] | None = None


class Positions(Struct, forbid_unknown_fields=True):
    """Positions to continue at, by offset or by time."""

    offsets: list[Offset] | None = None
    timestamps: list[Timestamp] | None = None


class Subscription(Struct, forbid_unknown_fields=True):
    """Topics by name or by a regular expression."""

    topics: list[str] | None = None
    topic_pattern: str | None = None


class ConsumerConfig(Struct, forbid_unknown_fields=True):
    """The configuration of a new consumer instance."""

    id: Annotated[str | None, Meta(description="As name, which it goes before; deprecated.")] = None
    name: Annotated[str | None, Meta(description="Generated if it is missing.")] = None
    format: Annotated[str | None, Meta(description="binary (the default), json, avro, jsonschema or protobuf.")] = None
    auto_offset_reset: Annotated[
        str | None, Meta(description="earliest, latest or none; in v1 smallest or largest.")
    ] = field(default=None, name="auto.offset.reset")
    auto_commit: Annotated[str | bool | None, Meta(description="true in v2 and false in v1 if it is missing.")] = field(
        default=None, name="auto.commit.enable"
    )
    fetch_min_bytes: Annotated[int | None, Meta(description="Bytes that a read waits for within its timeout.")] = field(
        default=None, name="fetch.min.bytes"
    )
    response_min_bytes: Annotated[int | None, Meta(description="Another name of fetch.min.bytes.")] = field(
        default=None, name="responseMinBytes"
    )
    request_timeout_ms: Annotated[int | None, Meta(description="The longest wait of a read.")] = field(
        default=None, name="consumer.request.timeout.ms"
    )
    request_wait_ms: Annotated[int | None, Meta(description="Another name of consumer.request.timeout.ms.")] = field(
        default=None, name="requestWaitMs"
    )
    isolation_level: Annotated[str | None, Meta(description="read_uncommitted (the default) or read_committed.")] = (
        field(default=None, name="isolation.level")
    )
    # The last three are ours.
    decode_errors: Annotated[
        str | None,
        Meta(description="fail (the default), or report: a record that does not decode is shown with its error."),
    ] = field(default=None, name="decode.errors")
    avro_unions: Annotated[str | None, Meta(description="tagged (the default) or plain.")] = field(
        default=None, name="avro.unions"
    )
    avro_logical_types: Annotated[
        str | None, Meta(description="text (the default), or stored: the reference's form.")
    ] = field(default=None, name="avro.logical.types")


def reader_of(shape: Any, *, float_hook: Callable[[str], Any] | None = None) -> msgspec.json.Decoder[Any]:
    """A decoder of bodies with a shape, for `read`; as in Jackson, "5" is accepted as a number.

    Args:
        shape: The type of the body.
        float_hook: Makes the untyped numbers with a fraction or an exponent from their texts.
    """
    return msgspec.json.Decoder(shape, strict=False, float_hook=float_hook)


def is_null(body: bytes) -> bool:
    """Tell whether a body is JSON's null or empty, which the reference treats alike."""
    return body.strip() in (b"", b"null")


def read(decoder: msgspec.json.Decoder[S], body: bytes) -> S:
    """Read a required body.

    Raises:
        ApiError: 400 if the text is not JSON or has wrong types; 422 if it has an unknown member, or is null or empty.
    """
    try:
        if not body.isascii():
            body.decode()
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _nothing() if is_null(body) else _refused(error) from None
    except RecursionError:
        raise MALFORMED_BODY(detail=_TOO_DEEP) from None
    except UnicodeDecodeError:
        raise MALFORMED_BODY(detail="JSON is malformed: not UTF-8") from None
    except ValueError as error:
        raise _nothing() if is_null(body) else MALFORMED_BODY(detail=str(error)) from None


def _nothing() -> ApiError:
    return INVALID_ENTITY(detail="the request's body must not be null (was null)")


def _refused(error: msgspec.ValidationError) -> ApiError:
    text = text_of_refusal(error)
    return INVALID_ENTITY(detail=text) if text.startswith(_UNRECOGNIZED) else MALFORMED_BODY(detail=text)


def text_of_refusal(error: msgspec.ValidationError) -> str:
    """The fault in the shape of a JSON value, in words."""
    unknown = _UNKNOWN_FIELD.match(str(error))
    return f"{_UNRECOGNIZED}{unknown[1]}" if unknown else str(error)
