"""Protobuf's part in texts: proto3 JSON to and from messages of a schema's own dynamic classes."""

from __future__ import annotations

import re
from typing import Any

from compat.schema import PROTOBUF, Dependencies, SchemaText
from serdes import wire
from serdes.config import DeserializerConfig, ProtobufDeserializerConfig, ProtobufSerializerConfig, SerializerConfig
from serdes.console.misfit import TextOptions, Unfit
from serdes.deserializer import Decode, Resolved
from serdes.error import PayloadError, SchemaCompileError
from serdes.json_bytes import dumps, loads
from serdes.serializer import Encoder


def _protobuf(schema: SchemaText, dependencies: Dependencies) -> Any:
    from compat.schema import InvalidSchema  # noqa: PLC0415
    from serdes.protobuf_schema import parse  # noqa: PLC0415  # other types do without

    try:
        parsed = parse(schema, dependencies)
        parsed.linked  # noqa: B018  # a name that leads nowhere is told now
    except InvalidSchema as error:
        raise SchemaCompileError(PROTOBUF, error.detail) from error
    return parsed


def _message_name(parsed: Any, options: TextOptions) -> str:
    name: str | None = options.message or (parsed.message_name((0,)) if parsed.tree.messages else None)
    if name is None:
        raise SchemaCompileError(PROTOBUF, "it declares no message")
    return name


def encoder(schema: SchemaText, dependencies: Dependencies, config: SerializerConfig, options: TextOptions) -> Encoder:
    """The encoder of proto3 JSON to messages with their indexes."""
    from google.protobuf import json_format  # noqa: PLC0415  # other types do without

    assert isinstance(config, ProtobufSerializerConfig)
    parsed = _protobuf(schema, dependencies)
    name = _message_name(parsed, options)
    try:
        indexes = parsed.message_indexes(name)
        made = parsed.message_class(name)
    except KeyError as error:
        raise SchemaCompileError(PROTOBUF, f"it declares no message {name}") from error
    pool = made.DESCRIPTOR.file.pool

    def encode(text: str) -> bytes:
        try:
            loads(text)  # for the place of what is not JSON
            message = json_format.Parse(text, made(), descriptor_pool=pool)
            if not text.lstrip().startswith("{") and name.rpartition(".")[0] != "google.protobuf":
                raise Unfit("$", f"expected an object of message {name}")
            serialized: bytes = message.SerializeToString()
        except json_format.ParseError as error:
            raise _unfit_message(str(error)) from error
        return serialized

    return Encoder(encode, wire.write_indexes(indexes, zigzag=not config.plain_indexes))


_FIELD = re.compile(r"Failed to parse (\S+) field: ")
_NO_FIELD = re.compile(r'has no field named "([^"]+)"')


def _unfit_message(problem: str) -> Unfit:
    """What the runtime says about a message, which names the fields on the way from the outermost."""
    names = _FIELD.findall(problem)
    reason = _FIELD.sub("", problem).partition("\n")[0].rstrip(".")
    unknown = _NO_FIELD.search(reason)
    if unknown:
        names.append(unknown[1])
    return Unfit("$" + "".join(f".{name}" for name in names), reason)


def decoder(writer: Resolved, reader: Resolved | None, config: DeserializerConfig, options: TextOptions) -> Decode:
    """The decoder of messages to proto3 JSON, fields without presence always shown."""
    from google.protobuf import json_format  # noqa: PLC0415  # other types do without

    from serdes.protobuf import decoder_of_schema  # noqa: PLC0415

    assert isinstance(config, ProtobufDeserializerConfig)
    decode_message = decoder_of_schema(writer, reader, zigzag=not config.plain_indexes)

    def decode(message: bytes, offset: int) -> bytes:
        try:
            datum = decode_message(message, offset)
            return dumps(
                json_format.MessageToDict(
                    datum,
                    always_print_fields_with_no_presence=True,
                    preserving_proto_field_name=options.proto_names,
                    descriptor_pool=datum.DESCRIPTOR.file.pool,
                )
            )
        except (json_format.Error, TypeError) as error:
            raise PayloadError(str(error)) from error
        except _decode_error() as error:
            raise PayloadError(str(error)) from error

    return decode


def _decode_error() -> type[Exception]:
    from google.protobuf.message import DecodeError  # noqa: PLC0415  # only where something went wrong

    return DecodeError


def record_name(schema: SchemaText, options: TextOptions) -> str | None:
    """The full name of the message that is written."""
    from serdes.protobuf_schema import parse  # noqa: PLC0415  # other types do without

    return options.message or parse(schema).full_name
