"""The proto3 JSON mapping, to and from messages of dynamic classes made from the schema."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from google.protobuf import json_format
from google.protobuf.message import DecodeError, EncodeError

from compat.schema import PROTOBUF, Dependencies, InvalidSchema, SchemaText
from serdes.error import PayloadError, SchemaCompileError
from serdes.json_bytes import dumps, require_size
from serdes.message import wire
from serdes.message.config import (
    DeserializerConfig,
    ProtobufDeserializerConfig,
    ProtobufSerializerConfig,
    SerializerConfig,
)
from serdes.message.protobuf_schema import parse
from serdes.message.reading import Around, Decode, Finish, Resolved
from serdes.message.writing import Encoder
from serdes.protobuf import decoder_of_schema, new_message
from serdes.rules.migrations.migrated import Read
from serdes.rules.migrations.steps import Migration
from serdes.text.form import JSON_TYPES, TextForm, TextOptions, Unfit
from serdes.text.remark import Examine

if TYPE_CHECKING:
    from compat.protobuf.schema import ProtobufSchema

#: The JSON of this package's messages may have a type other than object.
_WELL_KNOWN = "google.protobuf"


def _encoder(schema: SchemaText, dependencies: Dependencies, config: SerializerConfig, options: TextOptions) -> Encoder:
    assert isinstance(config, ProtobufSerializerConfig)
    try:
        parsed = parse(schema, dependencies)
        parsed.linked  # noqa: B018  # raises here if a name is undefined
    except InvalidSchema as error:
        raise SchemaCompileError(PROTOBUF, error.detail) from error
    name = _message_name(parsed, options)
    try:
        indexes = parsed.message_indexes(name)
        message_class = parsed.message_class(name)
    except KeyError as error:
        raise SchemaCompileError(PROTOBUF, f"the schema declares no message {name}") from error
    pool: Any = message_class.DESCRIPTOR.file.pool
    takes_objects_only = name.rpartition(".")[0] != _WELL_KNOWN

    def encode(value: Any) -> bytes:
        if takes_objects_only and not isinstance(value, dict):
            actual = JSON_TYPES.get(type(value).__name__, "another type")
            raise Unfit("$", f"expected an object of message {name}", f"expected an object, got {actual}")
        try:
            message = json_format.ParseDict(value, message_class(), descriptor_pool=pool)
            serialized: bytes = message.SerializeToString()
        except (json_format.ParseError, EncodeError) as error:
            raise _unfit(str(error)) from error
        return serialized

    index_bytes = wire.write_indexes(indexes, zigzag=not config.plain_indexes)
    ruled = Encoder(encode, index_bytes, datum_of=message_class.FromString, unchecked=_serialized)
    return Encoder(encode, index_bytes, with_rules=lambda: ruled)


def _serialized(message: Any) -> bytes:
    try:
        serialized: bytes = message.SerializeToString()
    except EncodeError as error:
        raise _unfit(str(error)) from error
    return serialized


def _message_name(parsed: ProtobufSchema, options: TextOptions) -> str:
    if options.message is None and not parsed.tree.messages:
        raise SchemaCompileError(PROTOBUF, "the schema declares no message")
    return options.message or parsed.message_name((0,))


_FIELD = re.compile(r"Failed to parse (\S+) field: ")
_NO_FIELD = re.compile(r'has no field named "([^"]+)"')


def _unfit(message: str) -> Unfit:
    """The error for the runtime's message, which names the fields on the path, outermost first."""
    names = _FIELD.findall(message)
    reason = _FIELD.sub("", message).partition("\n")[0].rstrip(".")
    unknown = _NO_FIELD.search(reason)
    if unknown:
        names.append(unknown[1])
    return Unfit("$" + "".join(f".{name}" for name in names), reason, message)


def _decoder(writer: Resolved, reader: Resolved | None, config: DeserializerConfig, options: TextOptions) -> Decode:
    """The decoder of messages to proto3 JSON, which always includes fields without presence."""
    assert isinstance(config, ProtobufDeserializerConfig)
    decode_message = decoder_of_schema(writer, reader, zigzag=not config.plain_indexes)
    to_text = _texts(options)

    def decode(message: bytes, offset: int) -> bytes:
        try:
            return to_text(decode_message(message, offset))
        except DecodeError as error:
            raise PayloadError(str(error)) from error

    return decode


def _around_rules(
    writer: Resolved,
    reader: Resolved | None,
    of_writer: bool,  # noqa: ARG001, FBT001  # the signature of all types
    config: DeserializerConfig,
    options: TextOptions,
) -> Around:
    """Rules see the message."""
    assert isinstance(config, ProtobufDeserializerConfig)
    decode_message = decoder_of_schema(writer, reader, zigzag=not config.plain_indexes)
    to_text = _texts(options)

    def decode(message: bytes, offset: int) -> Any:
        try:
            return decode_message(message, offset)
        except DecodeError as error:
            raise PayloadError(str(error)) from error

    def finish(datum: Any, message: bytes, offset: int, unchanged: bool) -> bytes:  # noqa: ARG001, FBT001
        return to_text(datum)

    return decode, finish


def _migrated(
    writer: Resolved,
    reader: Resolved,
    migration: Migration,  # noqa: ARG001  # the signature of all types
    config: DeserializerConfig,
    options: TextOptions,
) -> tuple[Read, Finish]:
    """Rules see the message's JSON."""
    from serdes.rules.migrations.protobuf import json_form  # noqa: PLC0415  # messages are seldom migrated

    assert isinstance(config, ProtobufDeserializerConfig)
    to_text = _texts(options)

    def finish(datum: Any, message: bytes, offset: int, unchanged: bool) -> bytes:  # noqa: ARG001, FBT001
        return to_text(datum)

    decode = decoder_of_schema(writer, None, zigzag=not config.plain_indexes)
    return json_form(decode, new_message(reader)), finish


def _texts(options: TextOptions) -> Callable[[Any], bytes]:
    """The function from a message to its JSON text."""

    def to_text(datum: Any) -> bytes:
        try:
            value = json_format.MessageToDict(
                datum,
                always_print_fields_with_no_presence=True,
                preserving_proto_field_name=options.proto_names,
                descriptor_pool=datum.DESCRIPTOR.file.pool,
            )
            if options.most_bytes is not None:
                require_size(value, options.most_bytes)
            return dumps(value)
        except (json_format.Error, TypeError) as error:
            raise PayloadError(str(error)) from error

    return to_text


def _examiner(writer: Resolved, reader: Resolved | None, config: DeserializerConfig, options: TextOptions) -> Examine:
    from serdes.text.protobuf_remarks import examiner  # noqa: PLC0415  # few decoders need it

    return examiner(writer, reader, config, options)


def _record_name(schema: SchemaText, options: TextOptions) -> str | None:
    """The full name of the message that is written."""
    try:
        return options.message or parse(schema).full_name
    except InvalidSchema as error:
        raise SchemaCompileError(PROTOBUF, error.detail) from error


FORM = TextForm(
    _encoder,
    _decoder,
    _examiner,
    _record_name,
    ProtobufSerializerConfig,
    ProtobufDeserializerConfig,
    _around_rules,
    _migrated,
)
