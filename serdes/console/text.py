"""Texts instead of data: serializers whose data are JSON texts, and deserializers that give them.

Avro is Avro JSON (unions tagged, or plain), JSON Schema is JSON, Protobuf is proto3's JSON. Each schema type is one
`TextFormat` in `TEXT_FORMATS`; its parts import what they need when they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from json import JSONDecodeError
from typing import Any

from compat.schema import AVRO, JSON, PROTOBUF, Dependencies, SchemaText
from serdes.client import RegistryClient
from serdes.config import (
    DeserializerConfig,
    JSONDeserializerConfig,
    JSONSerializerConfig,
    ProtobufDeserializerConfig,
    ProtobufSerializerConfig,
    SerializerConfig,
)
from serdes.console import protobuf_text
from serdes.console.misfit import BadText, TextOptions, Unfit
from serdes.console.place import offset_of
from serdes.deserializer import Decode, Deserializer, ReaderFormat, Resolved
from serdes.error import PayloadError, SchemaCompileError, SerializationError
from serdes.flow import Flow
from serdes.json_bytes import dumps, loads
from serdes.schema import Schema
from serdes.serialization import Context
from serdes.serializer import Encoder, Serializer, WriterFormat


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A schema type's part in reading and writing texts.

    Attributes:
        encoder: Makes the encoder of a schema from texts.
        decoder: Makes the decoder to texts in UTF-8.
        record_name: The name that the record subject strategies use.
        writing, reading: The types of the settings.
    """

    encoder: Callable[[SchemaText, Dependencies, SerializerConfig, TextOptions], Encoder]
    decoder: Callable[[Resolved, Resolved | None, DeserializerConfig, TextOptions], Decode]
    record_name: Callable[[SchemaText, TextOptions], str | None]
    writing: type[SerializerConfig]
    reading: type[DeserializerConfig]


def writer_form(own: Schema | None, schema_type: str, config: SerializerConfig, options: TextOptions) -> WriterFormat:
    """The part of a schema type in serializing texts with a schema of one's own, or with one the settings name."""
    text_format = TEXT_FORMATS[schema_type]
    text = own.text if own else None

    def own_schema(ctx: Context | None, subject: str) -> Flow[SchemaText | None]:  # noqa: ARG001
        yield from ()
        return text

    def encoder(schema: SchemaText, dependencies: Dependencies) -> Encoder:
        return text_format.encoder(schema, dependencies, config, options)

    name = text_format.record_name(text, options) if text else None
    return WriterFormat(schema_type, name, own_schema, encoder, (ValueError, RecursionError, Unfit), explain_text)


def text_serializer(
    client: RegistryClient, own: Schema | None, schema_type: str, conf: Mapping[str, Any], options: TextOptions
) -> Serializer:
    """A serializer of texts.

    Raises:
        ConfigError: A setting is unknown or contradicts another.
        SchemaCompileError: The schema is none.
    """
    config = TEXT_FORMATS[schema_type].writing.load(conf)
    return Serializer(client, writer_form(own, schema_type, config, options), config, own)


def text_deserializer(
    client: RegistryClient, schema_type: str, conf: Mapping[str, Any], options: TextOptions
) -> Deserializer:
    """A deserializer that gives texts in UTF-8.

    Raises:
        ConfigError: A setting is unknown or contradicts another.
    """
    text_format = TEXT_FORMATS[schema_type]
    config = text_format.reading.load(conf)

    def decoder(writer: Resolved | None, reader: Resolved | None) -> Decode:
        assert writer is not None
        return text_format.decoder(writer, reader, config, options)

    form = ReaderFormat(
        schema_type,
        lambda schema: text_format.record_name(schema, options),
        decoder,
        (ValueError, RecursionError, Unfit),
        _explain_payload,
        indexed=schema_type == PROTOBUF,
    )
    return Deserializer(client, form, config)


def explain_text(error: Exception, text: Any) -> Exception:
    """The exception for what an encoder raised about a text."""
    if isinstance(error, JSONDecodeError):
        return BadText(f"it is not JSON: {error.msg}", error.pos)
    if isinstance(error, SerializationError | SchemaCompileError):
        return error
    path = getattr(error, "path", None)
    if path is None:
        return BadText(str(error) or type(error).__name__, 0)
    return BadText(str(error).removeprefix(f"{path}: "), offset_of(text, path), path)


def _explain_payload(error: Exception, message: bytes) -> Exception:  # noqa: ARG001  # as of every type
    if isinstance(error, SerializationError | SchemaCompileError):
        return error
    if isinstance(error, Unfit):
        return PayloadError(f"{error.path}: {error}")
    position = getattr(error, "position", None)
    if position is not None and hasattr(error, "detail") and hasattr(error, "path"):
        return PayloadError(f"{error.path}: {error.detail}", position)
    return PayloadError(str(error) or type(error).__name__)


def _avro_codec(schema: SchemaText, dependencies: Dependencies, options: TextOptions, reader: Resolved | None) -> Any:
    from serdes.codec import SchemaError, compile_codec  # noqa: PLC0415  # other types do without

    try:
        return compile_codec(
            _quoted(schema.text),
            None if reader is None else _quoted(reader[0].text),
            [dependency.text for dependency in dependencies],
            reader_named=None if reader is None else [dependency.text for dependency in reader[1]],
            plain_unions=options.plain_unions,
            json_defaults=options.plain_unions,
        )
    except SchemaError as error:
        raise SchemaCompileError(AVRO, str(error)) from error


def _quoted(text: str) -> str:
    return f'"{text.strip()}"' if text.strip().isalpha() else text


def _avro_encoder(
    schema: SchemaText,
    dependencies: Dependencies,
    config: SerializerConfig,  # noqa: ARG001  # as of every type
    options: TextOptions,
) -> Encoder:
    codec = _avro_codec(schema, dependencies, options, None)
    to_avro: Callable[[Any], bytes] = codec.json_to_avro
    # Bytes as a whole schema are written without a length.
    length = wire_length if codec.schema.kind == "bytes" and codec.schema.logical is None else None

    def encode(text: str) -> bytes:
        payload = to_avro(loads(text))
        return payload if length is None else payload[length(payload) :]

    return Encoder(encode)


def wire_length(payload: bytes) -> int:
    """The size of the varint that a payload begins with."""
    return next(index for index, byte in enumerate(payload) if byte < 0x80) + 1


def _avro_decoder(
    writer: Resolved,
    reader: Resolved | None,
    config: DeserializerConfig,  # noqa: ARG001  # as of every type
    options: TextOptions,
) -> Decode:
    codec = _avro_codec(*writer, options, reader)
    if codec.schema.kind == "bytes" and codec.schema.logical is None:
        return lambda message, offset: dumps(message[offset:].decode("iso-8859-1"))
    decode: Decode = codec.avro_to_json_bytes
    return decode


def _avro_name(schema: SchemaText, options: TextOptions) -> str | None:  # noqa: ARG001  # as of every type
    from serdes.avro import record_name  # noqa: PLC0415  # other types do without

    return record_name(schema)


def _json_encoder(
    schema: SchemaText,
    dependencies: Dependencies,
    config: SerializerConfig,
    options: TextOptions,  # noqa: ARG001  # as of every type
) -> Encoder:
    assert isinstance(config, JSONSerializerConfig)
    check = _check(schema, dependencies, config.dialect) if config.validate else None

    def encode(text: str) -> bytes:
        datum = loads(text)
        payload = dumps(datum)
        if check is not None:
            check(datum, payload)
        return payload

    return Encoder(encode)


def _json_decoder(
    writer: Resolved,
    reader: Resolved | None,
    config: DeserializerConfig,
    options: TextOptions,  # noqa: ARG001  # as of every type
) -> Decode:
    assert isinstance(config, JSONDeserializerConfig)
    check = _check(*(reader or writer), config.dialect) if config.validate else None

    def decode(message: bytes, offset: int) -> bytes:
        try:
            datum = loads(message[offset:].decode())
        except ValueError as error:
            raise PayloadError(f"it is not JSON: {error}", offset) from error
        payload = dumps(datum)
        if check is not None:
            check(datum, payload)
        return payload

    return decode


def _check(schema: SchemaText, dependencies: Dependencies, dialect: str) -> Callable[[Any, bytes], None]:
    from serdes.validation import JsonValidator, ValueRefused  # noqa: PLC0415  # other types do without
    from serdes.validation.refusal import data_path  # noqa: PLC0415

    validator = JsonValidator(schema.text, dependencies, dialect)

    def check(datum: Any, text: bytes) -> None:
        try:
            validator.check(datum, text)
        except ValueRefused as error:
            raise Unfit(data_path(error.refusal.path), error.refusal.reason) from error

    return check


def _json_name(schema: SchemaText, options: TextOptions) -> str | None:  # noqa: ARG001  # as of every type
    from serdes.json_schema import title  # noqa: PLC0415  # other types do without

    return title(schema)


TEXT_FORMATS: Mapping[str, TextFormat] = {
    AVRO: TextFormat(_avro_encoder, _avro_decoder, _avro_name, SerializerConfig, DeserializerConfig),
    JSON: TextFormat(_json_encoder, _json_decoder, _json_name, JSONSerializerConfig, JSONDeserializerConfig),
    PROTOBUF: TextFormat(
        protobuf_text.encoder,
        protobuf_text.decoder,
        protobuf_text.record_name,
        ProtobufSerializerConfig,
        ProtobufDeserializerConfig,
    ),
}
