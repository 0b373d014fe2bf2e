"""JSON with a JSON Schema: validated if the settings say so, and otherwise unchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from compat.schema import Dependencies, SchemaText
from serdes.json_bytes import compacted, dumps, loads
from serdes.json_schema import title
from serdes.message.config import DeserializerConfig, JSONDeserializerConfig, JSONSerializerConfig, SerializerConfig
from serdes.message.json_validation import encoder_of
from serdes.message.reading import Around, Decode, Finish, Resolved
from serdes.message.writing import Encoder
from serdes.rules.migrations.migrated import Read
from serdes.rules.migrations.steps import Migration
from serdes.text.form import TextForm, TextOptions
from serdes.text.remark import Examine
from serdes.validation.validator import JsonValidator


def _encoder(schema: SchemaText, dependencies: Dependencies, config: SerializerConfig, options: TextOptions) -> Encoder:
    assert isinstance(config, JSONSerializerConfig)
    if not config.validate:
        return Encoder(dumps, with_rules=lambda: Encoder(dumps, datum_of=_parsed, unchecked=dumps))
    validator = JsonValidator(schema.text, dependencies, config.dialect, blocks_other_work=options.blocks_other_work)
    checked = encoder_of(validator, dumps, is_awaited=options.blocks_other_work)
    if config.validate_before_rules is False:
        ruled = Encoder(dumps, b"", checked.covers, checked.encode, _parsed, checks_after=True)
    else:
        ruled = replace(checked, datum_of=_parsed, unchecked=dumps)
    return replace(checked, with_rules=lambda: ruled)


def _parsed(payload: bytes) -> Any:
    return loads(payload.decode())


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


def _around_rules(
    writer: Resolved,
    reader: Resolved | None,
    of_writer: bool,  # noqa: ARG001, FBT001  # the signature of all types
    config: DeserializerConfig,
    options: TextOptions,
) -> Around:
    """Rules see the parsed JSON, which is validated after them."""
    to_text = _decoder(writer, reader, config, options)

    def finish(datum: Any, message: bytes, offset: int, unchanged: bool) -> bytes:  # noqa: FBT001
        if unchanged:
            return to_text(message, offset)  # type: ignore[no-any-return]
        return to_text(dumps(datum), 0)  # type: ignore[no-any-return]

    return lambda message, offset: _parsed(compacted(message[offset:])), finish


def _migrated(
    writer: Resolved,
    reader: Resolved,
    migration: Migration,  # noqa: ARG001  # the signature of all types
    config: DeserializerConfig,
    options: TextOptions,
) -> tuple[Read, Finish]:
    """Rules see the parsed JSON, which is validated after them."""
    from serdes.rules.migrations.json import json_form  # noqa: PLC0415  # messages are seldom migrated

    to_text = _decoder(writer, reader, config, options)

    def finish(datum: Any, message: bytes, offset: int, unchanged: bool) -> bytes:  # noqa: ARG001, FBT001
        return to_text(dumps(datum), 0)  # type: ignore[no-any-return]

    return json_form(lambda message, offset: _parsed(compacted(message[offset:]))), finish


def _examiner(writer: Resolved, reader: Resolved | None, config: DeserializerConfig, options: TextOptions) -> Examine:
    from serdes.text.json_remarks import examiner  # noqa: PLC0415  # few decoders need it

    return examiner(writer, reader, config, options)


def _record_name(schema: SchemaText, options: TextOptions) -> str | None:  # noqa: ARG001  # the signature of all types
    return title(schema)


FORM = TextForm(
    _encoder, _decoder, _examiner, _record_name, JSONSerializerConfig, JSONDeserializerConfig, _around_rules, _migrated
)
