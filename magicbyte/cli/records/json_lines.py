"""Converts between whole records and JSON lines."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from serdes.console.produce.lines import BadLine
from serdes.console.produce.loop import convert
from serdes.console.produce.outbox import Record
from serdes.text.field_reader import FieldReader

Serialize = Callable[[str, list[tuple[str, bytes | None]]], bytes | None]

_MEMBERS = frozenset(
    ("topic", "partition", "offset", "timestamp", "headers", "keySchemaId", "valueSchemaId", "key", "value")
)


@dataclass(frozen=True, slots=True)
class RecordLines:
    """Writes one JSON object per record: its position, its headers, and key and value with their schema ids."""

    key: FieldReader
    value_reader: FieldReader

    def record(self, message: Any) -> bytes:
        """The line of a whole record; raises Undecodable."""
        headers = message.headers()
        kind, timestamp = message.timestamp()
        place = {
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
            "timestamp": timestamp if kind else None,
            "headers": [{"name": name, **_header(value)} for name, value in headers or []],
        }
        members = orjson.dumps(place)[:-1]
        texts = b""
        for name, reader, data in (("key", self.key, message.key()), ("value", self.value_reader, message.value())):
            text = b"null"
            if data is not None:
                text = reader.text(data, message.topic(), headers)
                if reader.is_framed(data, headers):
                    schema_id = reader.schema_id(data, headers)
                    members += b',"%sSchemaId":%s' % (
                        name.encode(),
                        schema_id.encode() if schema_id.isdigit() else orjson.dumps(schema_id),
                    )
            texts += b',"%s":%s' % (name.encode(), text)
        return members + texts + b"}\n"

    def value(self, message: Any) -> bytes:
        """The line of a record's value; raises Undecodable."""
        data = message.value()
        if data is None:
            return b"null\n"
        return self.value_reader.text(data, message.topic(), message.headers()) + b"\n"


def _header(value: bytes | None) -> dict[str, str | None]:
    if value is None:
        return {"value": None}
    try:
        return {"value": value.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def record_of_line(text: str, number: int, key: Serialize | None, value: Serialize | None) -> Record:
    """The record in a line that `RecordLines.record` wrote.

    Members other than key, value, headers, partition and timestamp describe the old position and are ignored. A key or
    value without a serializer is sent as text: a JSON string without its quotes, other JSON as it stands.

    Raises:
        BadLine: The line is not such an object, or its key or value does not fit the schema.
    """
    from serdes.text.json_position import offset_of  # noqa: PLC0415 - small

    try:
        members = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadLine(number, error.pos + 1, f"it is not JSON: {error.msg}") from error
    if not isinstance(members, dict):
        raise BadLine(number, 1, "expected an object with key, value and headers")
    unknown = sorted(members.keys() - _MEMBERS)
    if unknown:
        raise BadLine(number, offset_of(text, f"$.{unknown[0]}") + 1, f"{unknown[0]} is no member of a record")
    headers = _headers(members.get("headers") or [], number)
    sent: list[bytes | None] = []
    for part, serialize in (("key", key), ("value", value)):
        if members.get(part) is None:
            sent.append(None)
            continue
        start = offset_of(text, f"$.{part}")
        piece = _piece(text, start)
        if serialize is None:
            text_or_json = members[part]
            sent.append((text_or_json if isinstance(text_or_json, str) else piece).encode())
        else:
            sent.append(convert(_with(serialize, headers), piece, number, start + 1, part))
    partition, timestamp = members.get("partition"), members.get("timestamp")
    for name, member in (("partition", partition), ("timestamp", timestamp)):
        if member is not None and (not isinstance(member, int) or isinstance(member, bool) or member < 0):
            raise BadLine(number, offset_of(text, f"$.{name}") + 1, f"{name} must be a number that is not negative")
    return Record(sent[0], sent[1], headers, partition, timestamp)


def _with(serialize: Serialize, headers: list[tuple[str, bytes | None]]) -> Callable[[str], bytes | None]:
    return lambda text: serialize(text, headers)


def _piece(text: str, start: int) -> str:
    """The text of the value that begins at an index."""
    from json import JSONDecoder  # noqa: PLC0415 - orjson has imported it

    return text[start : JSONDecoder().raw_decode(text, start)[1]]


def _headers(members: Any, number: int) -> list[tuple[str, bytes | None]]:
    headers: list[tuple[str, bytes | None]] = []
    try:
        for header in members:
            encoded = base64.b64decode(header["base64"], validate=True) if "base64" in header else header["value"]
            headers.append((str(header["name"]), encoded.encode() if isinstance(encoded, str) else encoded))
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise BadLine(number, 1, "headers must be an array of objects with name and value") from error
    # Drop headers with a schema id: the serializer writes them again.
    return [(name, value) for name, value in headers if name not in {"__key_schema_id", "__value_schema_id"}]
