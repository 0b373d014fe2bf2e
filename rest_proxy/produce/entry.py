"""A record in the JSON of v3: its shape, its timestamp and headers, and which schema its key and value name."""

from __future__ import annotations

import binascii
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from msgspec import Raw, Struct

from compat.schema import Reference
from rest_proxy.errors import BAD_REQUEST, PARTITION_NOT_FOUND
from rest_proxy.exchange.bodies import MISSING, SchemaReference, reader_of
from rest_proxy.formats.frame_places import ID_SERIALIZERS, Headers
from rest_proxy.formats.schemas import LATEST, Source
from serdes.message.subject import STRATEGIES, Strategy

#: Type -> name of the embedded format, for the types whose data a schema describes.
SCHEMA_TYPES = {"AVRO": "avro", "JSONSCHEMA": "jsonschema", "PROTOBUF": "protobuf"}
PLAIN_TYPES = ("BINARY", "STRING", "JSON")
_STRATEGIES: dict[str, Strategy] = {
    "TOPIC_NAME": STRATEGIES["TOPIC"],
    "RECORD_NAME": STRATEGIES["RECORD"],
    "TOPIC_RECORD_NAME": STRATEGIES["TOPIC_RECORD"],
}
#: The members that name a schema.
_NAMING = ("schema_id", "schema_guid", "schema_version", "schema")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?([Zz]|[+-]\d\d(:?\d\d)?)")
_NUMBER = re.compile(r"-?\d{1,18}(\.\d+)?")
_MAX_PARTITION = 2**31 - 1
_MAX_ID = 2**31 - 1
_MAX_TIMESTAMP_MS = 253402300799999


class Data(Struct, forbid_unknown_fields=True, gc=False):
    """A key or value: its data as JSON text, and how to encode it.

    `size` has no effect; it is accepted so that the result of a read can be produced unchanged. `schema_guid` and
    `schema_id_serializer` are ours.
    """

    type: str | None = None
    subject: str | None = None
    subject_name_strategy: str | None = None
    schema_id_serializer: str | None = None
    schema_id: int | None = None
    schema_guid: str | None = None
    schema_version: int | None = None
    schema: str | None = None
    references: list[SchemaReference] | None = None
    data: Raw = MISSING
    size: Any = None


class Header(Struct, forbid_unknown_fields=True, gc=False):
    """A header; its value is base64."""

    name: str
    value: str | None = None


class Entry(Struct, forbid_unknown_fields=True, gc=False):
    """A record; the last three members have no effect, like `size` of its data."""

    partition_id: int | None = None
    headers: list[Header] | None = None
    key: Data | None = None
    value: Data | None = None
    timestamp: str | int | float | None = None
    topic_name: Any = None
    offset: Any = None
    timestamp_type: Any = None


class BatchEntry(Entry):
    """A record of a batch."""

    id: Any = None


ENTRY: msgspec.json.Decoder[Entry] = reader_of(Entry)


class DataForm(NamedTuple):
    """The form of data to encode: a plain type, or a schema's type (None if the registry knows it) and source."""

    type: str | None
    source: Source | None


def partition_of(entry: Entry) -> int:
    """The partition of a record; -1 if it names none.

    Raises:
        ApiError: PARTITION_NOT_FOUND for a number that no partition has.
    """
    partition = entry.partition_id
    if partition is None:
        return -1
    if not 0 <= partition <= _MAX_PARTITION:
        raise PARTITION_NOT_FOUND()
    return partition


def headers_of(entry: Entry) -> Headers | None:
    """The headers of a record, in their order.

    Raises:
        ApiError: BAD_REQUEST for a value that is not base64; names the header.
    """
    if not entry.headers:
        return None
    headers: list[tuple[str, bytes | None]] = []
    for name, text in ((header.name, header.value) for header in entry.headers):
        try:
            # The library reads names up to a null character.
            value = None if text is None or "\0" in name else binascii.a2b_base64(text, strict_mode=True)
        except ValueError:
            raise BAD_REQUEST(detail=f"the value of header {name[:64]} is not a valid base64 string.") from None
        if "\0" in name:
            raise BAD_REQUEST(detail="the name of a header must not hold a null character.")
        headers.append((name, value))
    return headers


def timestamp_of(entry: Entry) -> int:
    """The timestamp of a record in ms since the epoch; 0 if it has none.

    Raises:
        ApiError: BAD_REQUEST for a text that is not an instant, and for a time that Kafka does not accept.
    """
    timestamp = entry.timestamp
    if timestamp is None:
        return 0
    milliseconds = _milliseconds(timestamp)
    if milliseconds is None:
        text = "is neither an ISO-8601 instant with an offset nor seconds since the epoch."
        raise BAD_REQUEST(detail=f"timestamp={str(timestamp)[:64]} {text}")
    if not 0 < milliseconds <= _MAX_TIMESTAMP_MS:
        # The library takes 0 to mean the current time.
        text = f"timestamp={str(timestamp)[:64]} must be after 1970-01-01T00:00:00Z and before the year 10000."
        raise BAD_REQUEST(detail=text)
    return milliseconds


def _milliseconds(timestamp: str | float) -> int | None:
    if isinstance(timestamp, str) and _INSTANT.fullmatch(timestamp):
        try:
            since = datetime.fromisoformat(timestamp.upper()) - datetime.fromtimestamp(0, UTC)
        except (ValueError, OverflowError):
            return None
        return since // timedelta(milliseconds=1)
    if isinstance(timestamp, str) and not _NUMBER.fullmatch(timestamp):
        return None
    seconds = float(timestamp)
    return round(seconds * 1000) if abs(seconds) < _MAX_TIMESTAMP_MS else _MAX_TIMESTAMP_MS + 1


def data_form(data: Data, side: str) -> DataForm:
    """Return the form in which to encode a key or value (spec 3.3).

    Args:
        data: The key or value.
        side: `key` or `value`, for error texts.

    Raises:
        ApiError: BAD_REQUEST for members that do not go together; says which.
    """
    if data.type in PLAIN_TYPES:
        _refuse_schema_members(data, side)
        return DataForm(data.type, None)
    if data.type is not None and data.type not in SCHEMA_TYPES:
        allowed = ", ".join((*PLAIN_TYPES, *SCHEMA_TYPES))
        raise BAD_REQUEST(detail=f"{side}: there is no type {data.type[:64]}; it must be one of {allowed}.")
    named = [name for name in _NAMING if getattr(data, name) is not None]
    if len(named) > 1:
        if "schema_guid" in named:
            names = " and ".join(f"'{name}'" for name in named)
            raise BAD_REQUEST(detail=f"{side}: {names} both name a schema: give one of them.")
        raise BAD_REQUEST(detail=f"{side}: Only one of 'schema_id', 'schema_version' or 'schema' can be used.")
    if data.subject is not None and data.subject_name_strategy is not None:
        raise BAD_REQUEST(detail=f"{side}: Only one of 'subject_name_strategy' or 'subject' can be used.")
    if data.type is not None and not named:
        raise BAD_REQUEST(detail=f"{side}: with type {data.type} give schema, schema_id or schema_version.")
    if data.type is None and data.schema is not None:
        raise BAD_REQUEST(detail=f"{side}: with schema give type, one of {', '.join(SCHEMA_TYPES)}.")
    if data.references and data.schema is None:
        raise BAD_REQUEST(detail=f"{side}: references belong to a schema, which is missing.")
    return DataForm(data.type, _source(data, side))


def _refuse_schema_members(data: Data, side: str) -> None:
    for name in (*_NAMING, "subject", "subject_name_strategy", "references", "schema_id_serializer"):
        if getattr(data, name) is not None:
            raise BAD_REQUEST(detail=f"{side}: 'type={data.type}' cannot be used with '{name}'.")


def _source(data: Data, side: str) -> Source:
    for name in ("schema_id", "schema_version"):
        number = getattr(data, name)
        if number is not None and not 0 <= number <= _MAX_ID:
            raise BAD_REQUEST(detail=f"{side}: {name} must be between 0 and {_MAX_ID} (was {number}).")
    naming = None
    if data.subject_name_strategy is not None:
        naming = _STRATEGIES.get(data.subject_name_strategy)
        if naming is None:
            allowed = ", ".join(_STRATEGIES)
            name = data.subject_name_strategy[:64]
            raise BAD_REQUEST(detail=f"{side}: there is no subject_name_strategy {name}; it must be one of {allowed}.")
    by_name = data.schema is None and data.schema_id is None and data.schema_guid is None
    if by_name and naming not in (None, _STRATEGIES["TOPIC_NAME"]):
        name = str(data.subject_name_strategy)
        raise BAD_REQUEST(detail=f"Cannot use schema_subject_strategy={name} without schema_id or schema.")
    version = (LATEST if data.schema_version is None else data.schema_version) if by_name else None
    return Source(
        data.schema,
        data.schema_id if data.schema_guid is None else _guid(data.schema_guid, side),
        _pinned(data.references),
        version,
        data.subject,
        naming,
        _in_header(data.schema_id_serializer, side),
    )


def _guid(text: str, side: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        detail = f"{side}: schema_guid must be a guid such as 89791762-2336-4186-9674-299b90a802e2 (was {text[:64]})."
        raise BAD_REQUEST(detail=detail) from None


def _in_header(name: str | None, side: str) -> bool | None:
    """Whether the frame goes into a header; None as the settings say."""
    if name is not None and name not in ID_SERIALIZERS:
        allowed = ", ".join(ID_SERIALIZERS)
        raise BAD_REQUEST(detail=f"{side}: there is no schema_id_serializer {name[:64]}; it must be one of {allowed}.")
    return None if name is None else ID_SERIALIZERS[name]


def _pinned(references: Sequence[SchemaReference] | None) -> tuple[Reference, ...]:
    return tuple(Reference(reference.name, reference.subject, reference.version) for reference in references or ())
