"""Messages to JSON: frame, schema, value; each message is decoded by itself, so a bad one hides no other."""

from __future__ import annotations

import base64
import binascii
from dataclasses import asdict
from time import monotonic
from typing import Any
from uuid import UUID

import orjson

from compat.schema import JSON, PROTOBUF
from magicbyte.ui.messages.failure import ENDING, Failure, failure_of
from magicbyte.ui.messages.items import Items
from magicbyte.ui.messages.lookup import Lookup, SchemaId
from magicbyte.ui.messages.request import LARGEST_DATA, BadRequest, DecodeRequest, Framed
from serdes.client.clients import RegistryClient
from serdes.error import SchemaNotFound
from serdes.message import wire
from serdes.message.deserializer import Deserializer
from serdes.serialization import SerializationContext
from serdes.text import Remarked, TextOptions
from serdes.text.remark import Remarks
from serdes.text.text_serdes import remarking_deserializer, text_deserializer

#: The seconds of a request in which messages are also examined for remarks: a validation may take half a second.
_EXAMINED_SECONDS = 5.0
#: The bytes of a preview.
PREVIEW = 2_000


def decoded(client: RegistryClient, request: DecodeRequest, most_bytes: int) -> bytes:
    """The answer to a request, as JSON.

    Args:
        client: The registry's client, with the rights of the sender.
        request: The request.
        most_bytes: The largest total size of the values: field names repeat, so a value may be larger than its message.

    Raises:
        BadRequest: The messages have more than 1 MiB.
    """
    reader = MessageReader(client, request, most_bytes)
    messages = [_bytes(item) for item in request.data]
    size = sum(len(message[0]) for message in messages if isinstance(message, tuple))
    if size > LARGEST_DATA:
        raise BadRequest(f"data has {size} bytes; at most {LARGEST_DATA} are read")
    items = Items(most_bytes)
    for message in messages:
        items.add(reader.item, message)
    return items.joined()


def _bytes(item: str | Framed | None) -> tuple[bytes, bytes | None] | Failure | None:
    """A message's bytes, and those of its header."""
    if item is None:
        return None
    data, header = (item, None) if isinstance(item, str) else (item.data, item.header)
    try:
        header_bytes = None if header is None else base64.b64decode(header, validate=True)
        return base64.b64decode(data, validate=True), header_bytes
    except (binascii.Error, ValueError) as error:
        return Failure("base64", f"it is no base64: {error}")


def _json(failure: Failure, **members: Any) -> bytes:
    return orjson.dumps({**failure.members(), **members})


class MessageReader:
    """Decodes the messages of one request."""

    def __init__(
        self, client: RegistryClient, request: DecodeRequest, most_bytes: int, *, shown: int | None = None
    ) -> None:
        """Decode with the rights of a client.

        Args:
            client: The registry's client.
            request: How to decode; its data is not read.
            most_bytes: The largest size of a value's JSON.
            shown: The longest JSON of an item's value; of a longer one, the item has the beginning. None for no limit.
        """
        self._shown = shown
        self._client = client
        self._request = request
        self._lookup = Lookup(client, request)
        self._options = TextOptions(
            plain_unions=request.unions == "plain", logical=request.logical, most_bytes=most_bytes
        )
        self._deserializers: dict[tuple[str, bool], Deserializer] = {}
        self._examined_until = monotonic() + _EXAMINED_SECONDS

    def item(self, message: tuple[bytes, bytes | None] | Failure | None) -> bytes:
        """The answer to a message, as JSON."""
        if message is None:
            return b'{"value":null}'
        if isinstance(message, Failure):
            return _json(message)
        data, header = message
        described: dict[str, Any] = {}
        try:
            return self._decoded(data, header, described)
        except SchemaNotFound:
            name = f"id {described['schemaId']}" if "schemaId" in described else f"guid {described['guid']}"
            return _json(Failure("unknown", f"{name} is unknown", 1), **described)
        except ENDING:
            raise
        except Exception as error:  # noqa: BLE001  hostile bytes and schemas may raise anything
            return _json(failure_of(error), **described)

    def _decoded(self, data: bytes, header: bytes | None, described: dict[str, Any]) -> bytes:
        frame = self._frame(data, header)
        schema_id: SchemaId = frame.guid if isinstance(frame.guid, UUID) else int(frame.schema_id or 0)
        described.update(_named(schema_id))
        described["bytes"] = _parts(data, header, frame)
        info = self._lookup.info(schema_id)
        described["type"] = info.schema.schema_type
        holder = self._lookup.holder(schema_id)
        described.update(subject=holder.subject, version=holder.version, guid=info.guid)
        indexes = self._indexes(data, header, frame, info.schema.schema_type, described)
        described["name"] = self._lookup.name(schema_id, indexes)
        remarked = self._remarked(info.schema.schema_type, data, self._context(header))
        described["remarks"] = [asdict(remark) for remark in remarked.remarks.listed]
        if remarked.remarks.left_out:
            described["remarksLeftOut"] = remarked.remarks.left_out
        if self._shown is not None and len(remarked.text) > self._shown:
            return orjson.dumps({**described, **cut_value(remarked.text)})
        # The value's text is inserted as it is: reading it again would round its numbers.
        return orjson.dumps(described)[:-1] + b',"value":' + remarked.text + b"}"

    def text(self, data: bytes, header: bytes | None) -> tuple[bytes, int | None]:
        """The value's JSON, without a look for remarks, and the schema's id; None for a guid.

        Raises:
            SerdesError: The message does not decode.
        """
        frame = self._frame(data, header)
        schema_id: SchemaId = frame.guid if isinstance(frame.guid, UUID) else int(frame.schema_id or 0)
        schema_type = self._lookup.info(schema_id).schema.schema_type
        text: bytes = self._deserializer(schema_type, is_examined=False)(data, self._context(header))
        return text, schema_id if isinstance(schema_id, int) else None

    def _remarked(self, schema_type: str, data: bytes, context: SerializationContext | None) -> Remarked:
        is_examined = monotonic() < self._examined_until
        datum = self._deserializer(schema_type, is_examined=is_examined)(data, context)
        if is_examined:
            remarked: Remarked = datum
            return remarked
        remarks = Remarks()
        remarks.add("$", "not-examined", "the messages before it took the time for remarks; ask for fewer messages")
        return Remarked(datum, remarks)

    def _frame(self, data: bytes, header: bytes | None) -> wire.Frame:
        if self._request.schema_id is not None:
            return wire.Frame(self._request.schema_id, None, 0)
        return wire.read_prefix(data) if header is None else wire.read_header(header)

    def _indexes(
        self, data: bytes, header: bytes | None, frame: wire.Frame, schema_type: str, described: dict[str, Any]
    ) -> tuple[int, ...]:
        if schema_type != PROTOBUF or self._request.schema_id is not None:
            return (0,)
        source, offset = (data, frame.offset) if header is None else (frame.rest, 0)
        indexes, end = wire.read_indexes(source, offset)
        described["bytes"]["index"] = source[offset:end].hex()
        described["indexes"] = list(indexes)
        return indexes

    def _context(self, header: bytes | None) -> SerializationContext | None:
        request = self._request
        if header is None and not request.topic and not request.context:
            return None
        headers = [] if header is None else [(wire.header_name(is_key=request.is_key), header)]
        return SerializationContext(request.topic or "", request.part, headers)

    def _deserializer(self, schema_type: str, *, is_examined: bool) -> Deserializer:
        deserializer = self._deserializers.get((schema_type, is_examined))
        if deserializer is None:
            request = self._request
            conf: dict[str, Any] = {"context.name.strategy": request.context}
            if request.schema_id is not None:
                conf |= {"schema.id.deserializer": "config", "use.schema.id": request.schema_id}
            if schema_type == JSON:
                # People want to see the data, valid or not: a violation is a remark.
                conf["validate"] = False
            make = remarking_deserializer if is_examined else text_deserializer
            deserializer = make(self._client, schema_type, conf, self._options)
            self._deserializers[schema_type, is_examined] = deserializer
        return deserializer


def cut_value(text: bytes) -> dict[str, Any]:
    """The members of an item instead of its value: the beginning of the JSON text, and the size of all of it."""
    return {"preview": text[:PREVIEW].decode(errors="ignore"), "size": len(text)}


def _named(schema_id: SchemaId) -> dict[str, Any]:
    return {"schemaId": schema_id} if isinstance(schema_id, int) else {"guid": str(schema_id)}


def _parts(data: bytes, header: bytes | None, frame: wire.Frame) -> dict[str, str]:
    """The parts of the frame in hexadecimal, by their names."""
    source = data[: frame.offset] if header is None else header[: wire.V1_SIZE]
    if not source:
        return {}
    return {"magic": source[:1].hex(), "id" if frame.guid is None else "guid": source[1:].hex()}
