"""Request bodies: their shapes, and the errors for bodies of another shape."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.kit.errors import ApiError
from rest_proxy.errors import INVALID_ENTITY

S = TypeVar("S")
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*?)`")
#: The key or value of a record without one.
MISSING = Raw(b"null")
_UNRECOGNIZED = "Unrecognized field: "
_TOO_DEEP = "JSON is nested too deeply"


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

    topic: str
    partition: int


class OffsetPlace(Struct, forbid_unknown_fields=True):
    """An offset in a partition."""

    topic: str
    partition: int
    offset: int
    metadata: str | None = None


class TimestampPlace(Struct, forbid_unknown_fields=True):
    """An instant in a partition."""

    topic: str
    partition: int
    timestamp: str
    metadata: str | None = None


class Places(Struct, forbid_unknown_fields=True):
    """Partitions to assign, to seek, or whose committed offsets to return."""

    partitions: list[PartitionEntry] | None = None


class Offsets(Struct, forbid_unknown_fields=True):
    """Offsets to commit."""

    offsets: list[OffsetPlace] | None = None


class Positions(Struct, forbid_unknown_fields=True):
    """Positions to seek to, by offset or by time."""

    offsets: list[OffsetPlace] | None = None
    timestamps: list[TimestampPlace] | None = None


class Subscription(Struct, forbid_unknown_fields=True):
    """Topics by name or by a regular expression."""

    topics: list[str] | None = None
    topic_pattern: str | None = None


class ConsumerConfig(Struct, forbid_unknown_fields=True):
    """The configuration of a new consumer instance; the last three members are ours."""

    id: str | None = None
    name: str | None = None
    format: str | None = None
    auto_offset_reset: str | None = msgspec.field(default=None, name="auto.offset.reset")
    auto_commit: str | bool | None = msgspec.field(default=None, name="auto.commit.enable")
    fetch_min_bytes: int | None = msgspec.field(default=None, name="fetch.min.bytes")
    response_min_bytes: int | None = msgspec.field(default=None, name="responseMinBytes")
    request_timeout_ms: int | None = msgspec.field(default=None, name="consumer.request.timeout.ms")
    request_wait_ms: int | None = msgspec.field(default=None, name="requestWaitMs")
    isolation_level: str | None = msgspec.field(default=None, name="isolation.level")
    decode_errors: str | None = msgspec.field(default=None, name="decode.errors")
    avro_unions: str | None = msgspec.field(default=None, name="avro.unions")
    avro_logical_types: str | None = msgspec.field(default=None, name="avro.logical.types")


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
