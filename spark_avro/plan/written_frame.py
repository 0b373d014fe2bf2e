"""The frame of encoded payloads: before the payload, or in a header of the record."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.client.models import RegisteredSchema
from serdes.message import wire
from spark_avro.errors import PlanError

PREFIX, HEADER = "prefix", "header"
#: The places of a frame.
SCHEMA_ID_IN = (PREFIX, HEADER)


def check_schema_id(schema_id: str) -> None:
    """Check the place of a frame, before anything is registered.

    Raises:
        PlanError: there is no such place.
    """
    if schema_id not in SCHEMA_ID_IN:
        raise PlanError(f"schema_id is {PREFIX} or {HEADER}, not {schema_id!r}")


def frame_before(registered: RegisteredSchema, schema_id: str, indexes: bytes = b"") -> bytes:
    """The bytes before a payload: none if the frame is in a header."""
    return wire.prefix(registered.id) + indexes if schema_id == PREFIX else b""


def framed(payload: Column, source: Column, registered: RegisteredSchema, schema_id: str, *, is_key: bool) -> Column:
    """The encoded column of a payload that has no frame yet; see `with_frame`."""
    before = frame_before(registered, schema_id)
    payload = F.concat(F.lit(before), payload) if before else payload
    return with_frame(payload, source, registered, schema_id, is_key=is_key)


def with_frame(
    payload: Column, source: Column, registered: RegisteredSchema, schema_id: str, *, is_key: bool, indexes: bytes = b""
) -> Column:
    """The encoded column: the payload, or a struct of the payload and its header.

    Args:
        payload: The payload with the bytes of `frame_before`.
        source: The column that was encoded; a NULL has no header.
        registered: The schema.
        schema_id: Where the frame is.
        is_key: Whether the payload is a key.
        indexes: The message indexes of Protobuf.

    Raises:
        PlanError: the registry gives no guid.
    """
    if schema_id == PREFIX:
        return payload
    if registered.guid is None:
        raise PlanError("the registry gives no guid, which the header mode of the wire format needs")
    name, value = wire.header_name(is_key=is_key), wire.guid_bytes(registered.guid) + indexes
    headers = F.array(F.struct(F.lit(name).alias("key"), F.lit(value).alias("value")))
    headers = F.when(source.isNotNull(), headers).otherwise(F.slice(headers, 1, 0))
    return F.struct(payload.alias("key" if is_key else "value"), headers.alias("headers"))
