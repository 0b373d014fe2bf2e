"""Avro JSON: unions tagged with their branch's name, or plain; bytes as texts of U+0000 to U+00FF."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from compat.schema import Dependencies, SchemaText
from serdes.avro import compiled, record_name
from serdes.codec import AvroCodec, compile_codec
from serdes.codec.codec import text_decoder
from serdes.json_bytes import loads_written
from serdes.message.config import DeserializerConfig, SerializerConfig
from serdes.message.reading import Around, Decode, Finish, Resolved
from serdes.message.writing import Encoder
from serdes.rules.migrations.migrated import PLAIN, TAGGED, Read, avro_json
from serdes.rules.migrations.steps import Migration
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

    encode = convert if not codec.is_raw else lambda value: _without_length(convert(value))

    def with_rules() -> Encoder:
        # Rules see the datum of serializers, so the payload is decoded for them.
        plain = compiled(schema, dependencies, make=_exact)
        return Encoder(encode, datum_of=data_decoder(plain), unchecked=plain.encode_payload)

    return Encoder(encode, with_rules=with_rules)


def _without_length(payload: bytes) -> bytes:
    return payload[_size_of_length(payload) :]


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


def _around_rules(
    writer: Resolved,
    reader: Resolved | None,
    of_writer: bool,  # noqa: FBT001  # the signature of all types
    config: DeserializerConfig,
    options: TextOptions,
) -> Around:
    """The decoder to the datum that rules see, which is the reader's unless the rules are the writer's."""
    seen = writer if of_writer or reader is None else reader
    decode = data_decoder(compiled(*writer, None if seen is writer else reader, make=_exact))
    encode = compiled(*seen, make=_exact).encode_payload
    to_text = _decoder(writer, reader, config, options)
    changed_to_text = _decoder(seen, None if seen is reader else reader, config, options)

    def finish(datum: Any, message: bytes, offset: int, unchanged: bool) -> bytes:  # noqa: FBT001
        if unchanged:
            return to_text(message, offset)  # type: ignore[no-any-return]
        return changed_to_text(encode(datum), 0)  # type: ignore[no-any-return]

    return decode, finish


def _migrated(
    writer: Resolved, reader: Resolved, migration: Migration, config: DeserializerConfig, options: TextOptions
) -> tuple[Read, Finish]:
    from serdes.rules.migrations import avro  # noqa: PLC0415  # messages are seldom migrated

    forms = {PLAIN: avro.plain, TAGGED: avro.tagged}
    encode = compiled(*reader, make=_exact).encode_payload
    to_text = _decoder(reader, None, config, options)

    def finish(datum: Any, message: bytes, offset: int, unchanged: bool) -> bytes:  # noqa: ARG001, FBT001
        return to_text(encode(datum), 0)  # type: ignore[no-any-return]

    return forms[avro_json(migration)](writer, reader, record_names=True), finish


#: Makes codecs whose data keep the names of records in unions, so that data are encoded as they were decoded.
_exact = partial(compile_codec, record_names=True)


def data_decoder(codec: AvroCodec) -> Callable[..., Any]:
    """The function from a payload to the datum that rules see."""
    return (lambda payload, offset=0: payload[offset:]) if codec.is_raw else codec.decode


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


FORM = TextForm(
    _encoder,
    _decoder,
    _examiner,
    _record_name,
    SerializerConfig,
    DeserializerConfig,
    _around_rules,
    _migrated,
    loads_written,
)
