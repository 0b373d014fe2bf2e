"""JSON to messages: the reverse of decoding, with the schema of an id or of a subject's version."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
import orjson

from compat.formats import parse
from compat.schema import JSON, PROTOBUF, InvalidSchema, Reference, SchemaText
from magicbyte.ui.messages.failure import ENDING, failure_of
from magicbyte.ui.messages.items import Items
from magicbyte.ui.messages.lookup import Lookup
from magicbyte.ui.messages.request import EncodeRequest, Proposal, Target
from serdes.client.clients import RegistryClient
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.console.produce.writing import DrySerializer
from serdes.error import SchemaCompileError
from serdes.json_bytes import compact
from serdes.message import wire
from serdes.message.serializer import Serializer
from serdes.schema import Schema
from serdes.serialization import SerializationContext
from serdes.text import TextOptions
from serdes.text.text_serdes import text_serializer


@dataclass(frozen=True, slots=True)
class Chosen:
    """The schema that a request means.

    Attributes:
        info: The schema.
        id: Its id; None if it is not registered.
        subject, version: The subject and version that hold it; None if the caller may not see any, or there is none.
        name: The full name of the record or message.
    """

    info: SchemaInfo | RegisteredSchema
    id: int | None
    subject: str | None
    version: int | None
    name: str | None

    def members(self) -> dict[str, Any]:
        """The members of an answer that say which schema it is."""
        schema = self.info.schema
        return {
            "schemaId": self.id,
            "guid": self.info.guid,
            "subject": self.subject,
            "version": self.version,
            "type": schema.schema_type,
            "name": self.name,
        }


def chosen(client: RegistryClient, request: Target) -> Chosen:
    """The schema that a request means.

    Raises:
        SerdesError: The registry does not know it, refuses, or does not answer; or a proposal is not a schema.
    """
    lookup = Lookup(client, request)
    if request.proposal is not None:
        schema = _checked(client, request, request.proposal)
        return Chosen(SchemaInfo(schema), None, request.name or None, None, request.message or lookup.name_of(schema))
    if request.schema_id is not None:
        schema_id, info = request.schema_id, lookup.info(request.schema_id)
        holder = lookup.holder(schema_id)
        return Chosen(info, schema_id, holder.subject, holder.version, request.message or lookup.name(schema_id))
    registered = client.version(request.name, request.version)
    name = request.message or lookup.name_of(registered.schema)
    return Chosen(registered, registered.id, registered.subject, registered.version, name)


def _checked(client: RegistryClient, request: Target, proposal: Proposal) -> SchemaText:
    references = [Reference(reference.name, reference.subject, reference.version) for reference in proposal.references]
    schema = SchemaText(proposal.schema_type, proposal.schema, tuple(references))
    try:
        parse(schema, client.dependencies(schema, request.name or None))
    except InvalidSchema as error:
        raise SchemaCompileError(schema.schema_type, error.detail) from error
    return schema


def encoded(client: RegistryClient, request: EncodeRequest, most_bytes: int) -> bytes:
    """The answer to a request, as JSON.

    Args:
        client: The registry's client, with the rights of the sender.
        request: The request.
        most_bytes: The largest total size of the items.

    Raises:
        SerdesError: The registry does not know the schema, refuses, or does not answer.
    """
    schema = chosen(client, request)
    writer = Writer(client, request, schema, framing=request.framing)
    items = Items(most_bytes)
    for raw in request.data:
        items.add(partial(_item, writer), raw)
    return items.joined()


def _item(writer: Writer, raw: msgspec.Raw) -> bytes:
    try:
        return orjson.dumps(writer.item(bytes(raw).decode()))
    except ENDING:
        raise
    except Exception as error:  # noqa: BLE001  hostile values and schemas may raise anything
        return orjson.dumps({**failure_of(error).members(), **writer.schema.members()})


class Writer:
    """Encodes values with one schema."""

    def __init__(
        self, client: RegistryClient, request: Target, schema: Chosen, *, framing: str = "prefix", unions: str = ""
    ) -> None:
        """Make the serializer; it asks the registry when it encodes the first value.

        Args:
            client: The registry's client.
            request: The request, which names topic, part and form.
            schema: The schema.
            framing: `prefix`, or `header`.
            unions: `plain` or `tagged`; by default as in the request.
        """
        self.schema = schema
        self._request = request
        subject = schema.subject or request.name
        conf: dict[str, Any] = {
            "subject.name.strategy": lambda _context, _name: subject or "-",
            "schema.id.serializer": f"{framing}_schema_id_serializer",
        }
        text = schema.info.schema
        self._type = text.schema_type
        own_schema: Schema | None = None
        kind = Serializer
        if schema.id is None:
            # Encode with the text itself; a dry run neither registers it nor looks it up.
            own_schema, kind = Schema(text.text, text.schema_type, text.references), DrySerializer
        else:
            conf["use.schema.id"] = schema.id
        options = TextOptions(
            plain_unions=(unions or request.unions) == "plain",
            logical=request.logical,
            message=request.message if self._type == PROTOBUF else None,
        )
        self._serializer: Serializer = text_serializer(client, own_schema, self._type, conf, options, kind)

    def item(self, text: str) -> dict[str, Any]:
        """The answer to a value's text.

        Raises:
            SerdesError: The value does not fit the schema.
        """
        data, headers = self.message(text)
        header = headers[0][1] if headers else None
        indexes = self._serializer_indexes(data, header)
        source = data if header is None else header
        size = wire.V0_SIZE if header is None else wire.V1_SIZE
        parts = {"magic": source[:1].hex(), "id" if header is None else "guid": source[1:size].hex()}
        if self._type == PROTOBUF:
            parts["index"] = indexes.hex()
        place = {} if header is None else {"header": base64.b64encode(header).decode()}
        return {"data": base64.b64encode(data).decode(), **place, **self.schema.members(), "bytes": parts}

    def message(self, text: str) -> tuple[bytes, list[tuple[str, bytes]]]:
        """The bytes of a value's text, and the headers that they need."""
        headers: list[tuple[str, bytes]] = []
        context = SerializationContext(self._request.topic or "", self._request.part, headers)
        data = self._serializer(text, context)
        assert data is not None
        if self._type == JSON:
            # The text itself, because numbers beyond a float's precision keep their digits in it.
            data = (b"" if headers else data[: wire.V0_SIZE]) + compact(text.encode())
        return data, headers

    def _serializer_indexes(self, data: bytes, header: bytes | None) -> bytes:
        if self._type != PROTOBUF:
            return b""
        source, offset = (data, wire.V0_SIZE) if header is None else (header, wire.V1_SIZE)
        return source[offset : wire.read_indexes(source, offset)[1]]
