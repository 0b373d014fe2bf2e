"""Avro JSON: unions tagged with their branch's name, or plain; bytes as texts of U+0000 to U+00FF."""

from __future__ import annotations

from functools import partial
from typing import Any

from compat.schema import Dependencies, SchemaText
from serdes.avro import compiled, record_name
from serdes.codec import AvroCodec, compile_codec
from serdes.codec.codec import text_decoder
from serdes.json_bytes import loads_written
from serdes.message.config import DeserializerConfig, SerializerConfig
from serdes.message.reading import Decode, Resolved
from serdes.message.writing import Encoder
from serdes.text.form import TextForm, TextOptions
from serdes.text.remark import Examine


def _codec(schema: SchemaText, dependencies: Dependencies, reader: Resolved | None, options: TextOptions) -> AvroCodec:
    make = partial(compile_codec, plain_unions=options.plain_unions, json_defaults=options.defaults)
    return compiled(schema, dependencies, reader, make=make)


def _encoder(
    schema: SchemaText,
    dependencies: Dependencies,
    config: SerializerConfig,  # noqa: ARG001  # the signature of all types
    options: TextOptions,
) -> Encoder:
    codec = _codec(schema, dependencies, None, options)
    convert = codec.json_to_avro
    if options.logical:
        from serdes.codec.readable import readable_encoder  # noqa: PLC0415  # consumers do not need it

        convert = readable_encoder(codec, plain_unions=options.plain_unions, defaults=options.defaults)
    if not codec.is_raw:
        return Encoder(convert)

    def encode(value: Any) -> bytes:
        payload = convert(value)
        return payload[_size_of_length(payload) :]

    return Encoder(encode)


def _size_of_length(payload: bytes) -> int:
    return next(index for index, byte in enumerate(payload) if byte < 0x80) + 1


def _decoder(
    writer: Resolved,
    reader: Resolved | None,
    config: DeserializerConfig,  # noqa: ARG001  # the signature of all types
    options: TextOptions,
) -> Decode:
    codec = _codec(*writer, reader, options)
    if options.logical and not codec.is_raw:
        from serdes.codec.readable import readable_decoder  # noqa: PLC0415  # producers do not need it

        return readable_decoder(codec, plain_unions=options.plain_unions, most_bytes=options.most_bytes)
    if options.most_bytes is None or codec.is_raw:
        return codec.payload_to_json_bytes
    return text_decoder(codec.avro_to_json, codec.schema, options.most_bytes)


def _examiner(
    writer: Resolved,
    reader: Resolved | None,
    config: DeserializerConfig,  # noqa: ARG001  # the signature of all types
    options: TextOptions,
) -> Examine:
    from serdes.text.avro_remarks import examiner  # noqa: PLC0415  # few decoders need it

    return examiner(_codec(*writer, reader, options))


def _record_name(schema: SchemaText, options: TextOptions) -> str | None:  # noqa: ARG001  # the signature of all types
    return record_name(schema)


FORM = TextForm(_encoder, _decoder, _examiner, _record_name, SerializerConfig, DeserializerConfig, loads_written)
