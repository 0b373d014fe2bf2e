"""JSON with a JSON Schema: validated if the settings say so, and otherwise unchanged."""

from __future__ import annotations

from compat.schema import Dependencies, SchemaText
from serdes.json_bytes import compacted, dumps, loads
from serdes.json_schema import title
from serdes.message.config import DeserializerConfig, JSONDeserializerConfig, JSONSerializerConfig, SerializerConfig
from serdes.message.json_validation import encoder_of
from serdes.message.reading import Decode, Resolved
from serdes.message.writing import Encoder
from serdes.text.form import TextForm, TextOptions
from serdes.text.remark import Examine
from serdes.validation import JsonValidator


def _encoder(schema: SchemaText, dependencies: Dependencies, config: SerializerConfig, options: TextOptions) -> Encoder:
    assert isinstance(config, JSONSerializerConfig)
    if not config.validate:
        return Encoder(dumps)
    validator = JsonValidator(schema.text, dependencies, config.dialect, holds_up_others=options.holds_up_others)
    return encoder_of(validator, dumps, is_awaited=options.holds_up_others)


def _decoder(
    writer: Resolved,
    reader: Resolved | None,
    config: DeserializerConfig,
    options: TextOptions,  # noqa: ARG001  # the signature of all types
) -> Decode:
    assert isinstance(config, JSONDeserializerConfig)
    if not config.validate:
        return lambda message, offset: compacted(message[offset:])
    schema, dependencies = reader or writer
    check = JsonValidator(schema.text, dependencies, config.dialect).check

    def decode(message: bytes, offset: int) -> bytes:
        text = compacted(message[offset:])
        check(loads(text.decode()), text)
        return text

    return decode


def _examiner(writer: Resolved, reader: Resolved | None, config: DeserializerConfig, options: TextOptions) -> Examine:
    from serdes.text.json_remarks import examiner  # noqa: PLC0415  # few decoders need it

    return examiner(writer, reader, config, options)


def _record_name(schema: SchemaText, options: TextOptions) -> str | None:  # noqa: ARG001  # the signature of all types
    return title(schema)


FORM = TextForm(_encoder, _decoder, _examiner, _record_name, JSONSerializerConfig, JSONDeserializerConfig)
