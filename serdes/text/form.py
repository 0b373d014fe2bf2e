"""The parts of a schema type's text form, and their use in serializers and deserializers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from compat.schema import AVRO, JSON, PROTOBUF, Dependencies, SchemaText
from serdes.client.flow import Flow
from serdes.json_bytes import loads
from serdes.message.config import DeserializerConfig, SerializerConfig
from serdes.message.reading import Around, Decode, Finish, ReaderFormat, Resolved
from serdes.message.writing import Encoder, WriterFormat
from serdes.rules.migrations.migrated import Read
from serdes.rules.migrations.steps import Migration
from serdes.serialization import Context
from serdes.text.remark import Examine, Remarks

#: The exceptions that encoders and decoders of text forms raise, besides SerdesError.
ERRORS = (ValueError, TypeError, RecursionError)

#: The modules of schema types, imported on first use.
_MODULES = {AVRO: "serdes.text.avro", JSON: "serdes.text.json_schema", PROTOBUF: "serdes.text.protobuf"}

#: JSON's names of Python's types.
JSON_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "NoneType": "null",
}


@dataclass(frozen=True, slots=True)
class TextOptions:
    """Options of a text form that the schema does not decide.

    Attributes:
        plain_unions: Whether unions in Avro JSON have no tags.
        defaults: Whether a field that Avro JSON lacks gets its default.
        message: The full name of the Protobuf message to write; by default the file's first message.
        logical: Whether Avro's decimals, dates and times are texts that people read, as `serdes.codec.readable` has
            them; else Avro's own JSON, with numbers and the texts of bytes.
        proto_names: Whether Protobuf fields keep the schema's names instead of lowerCamelCase.
        blocks_other_work: Whether encoding blocks other work of the thread; slow encoders then return a Later.
        most_bytes: The most bytes of a text that is made from a message; None for no limit.
    """

    plain_unions: bool = False
    defaults: bool = False
    message: str | None = None
    logical: bool = True
    proto_names: bool = False
    blocks_other_work: bool = False
    most_bytes: int | None = None


class Unfit(ValueError):
    """A value that does not fit its schema: the path such as `$.lines[3]`, and the reason.

    `said` is a library's message, which gives the path in the library's own form.
    """

    def __init__(self, path: str, problem: str, said: str | None = None) -> None:
        super().__init__(problem)
        self.path = path
        self.said = said or problem


@dataclass(frozen=True, slots=True)
class TextForm:
    """The text form of a schema type.

    Attributes:
        encoder: Makes the encoder of a schema, from parsed JSON.
        decoder: Makes the decoder to JSON text in UTF-8.
        examiner: Makes the function that returns the remarks on a message that the decoder can decode.
        record_name: Returns the name that the record subject strategies use.
        parse: Parses the JSON text of a value for the encoder.
        writing, reading: The classes of the settings of serializers and deserializers.
        around_rules: Makes the decoder to the datum that rules see, and the function from that datum to JSON text in
            UTF-8; the flag says whether the rules are those of the writer's schema.
        migrated: Makes the decoder for messages that a migration takes from the writer's schema to the reader's, and
            the function from the reader's datum to JSON text.
    """

    encoder: Callable[[SchemaText, Dependencies, SerializerConfig, TextOptions], Encoder]
    decoder: Callable[[Resolved, Resolved | None, DeserializerConfig, TextOptions], Decode]
    examiner: Callable[[Resolved, Resolved | None, DeserializerConfig, TextOptions], Examine]
    record_name: Callable[[SchemaText, TextOptions], str | None]
    writing: type[SerializerConfig]
    reading: type[DeserializerConfig]
    around_rules: Callable[[Resolved, Resolved | None, bool, DeserializerConfig, TextOptions], Around]
    migrated: Callable[[Resolved, Resolved, Migration, DeserializerConfig, TextOptions], tuple[Read, Finish]]
    parse: Callable[[str], Any] = loads


def text_form(schema_type: str) -> TextForm:
    """The text form of a schema type."""
    form: TextForm = import_module(_MODULES[schema_type]).FORM
    return form


def serializing(
    schema: SchemaText | None, schema_type: str, config: SerializerConfig, options: TextOptions
) -> WriterFormat:
    """The format for serializing parsed JSON, with the given schema or, if None, with one that the settings name.

    Raises:
        SchemaCompileError: The schema cannot be read.
    """
    form = text_form(schema_type)

    def own_schema(ctx: Context | None, subject: str) -> Flow[SchemaText | None]:  # noqa: ARG001
        yield from ()
        return schema

    return WriterFormat(
        schema_type,
        form.record_name(schema, options) if schema else None,
        own_schema,
        lambda schema_text, dependencies: form.encoder(schema_text, dependencies, config, options),
        ERRORS,
        lambda error, _: error,
    )


@dataclass(frozen=True, slots=True)
class Remarked:
    """A decoded message: its JSON text in UTF-8, and the remarks on what the text does not show."""

    text: bytes
    remarks: Remarks


def remarking(schema_type: str, config: DeserializerConfig, options: TextOptions) -> ReaderFormat:
    """As `deserializing`, but with the remarks on each message: data are `Remarked`."""
    form = text_form(schema_type)

    def decoder(writer: Resolved | None, reader: Resolved | None) -> Decode:
        assert writer is not None
        decode = form.decoder(writer, reader, config, options)
        examine = form.examiner(writer, reader, config, options)
        # In this order: an examiner may rely on a message that can be decoded.
        return lambda message, offset: Remarked(decode(message, offset), examine(message, offset))

    def around_rules(writer: Resolved | None, reader: Resolved | None, of_writer: bool) -> Around:  # noqa: FBT001
        assert writer is not None
        decode, finish = form.around_rules(writer, reader, of_writer, config, options)
        examine = form.examiner(writer, reader, config, options)
        assert finish is not None

        def remarked(datum: Any, message: bytes, offset: int, unchanged: bool) -> Remarked:  # noqa: FBT001
            return Remarked(finish(datum, message, offset, unchanged), examine(message, offset))

        return decode, remarked

    def migrated(writer: Resolved, reader: Resolved, migration: Migration) -> tuple[Read, Finish]:
        read, finish = form.migrated(writer, reader, migration, config, options)
        examine = form.examiner(writer, None, config, options)
        return read, lambda datum, message, offset, unchanged: Remarked(
            finish(datum, message, offset, unchanged), examine(message, offset)
        )

    return replace(
        deserializing(schema_type, config, options), decoder=decoder, around_rules=around_rules, migrated=migrated
    )


def deserializing(schema_type: str, config: DeserializerConfig, options: TextOptions) -> ReaderFormat:
    """The format for deserializing messages to JSON text in UTF-8."""
    form = text_form(schema_type)

    def decoder(writer: Resolved | None, reader: Resolved | None) -> Decode:
        assert writer is not None
        return form.decoder(writer, reader, config, options)

    def around_rules(writer: Resolved | None, reader: Resolved | None, of_writer: bool) -> Around:  # noqa: FBT001
        assert writer is not None
        return form.around_rules(writer, reader, of_writer, config, options)

    def migrated(writer: Resolved, reader: Resolved, migration: Migration) -> tuple[Read, Finish]:
        return form.migrated(writer, reader, migration, config, options)

    return ReaderFormat(
        schema_type,
        lambda schema: form.record_name(schema, options),
        decoder,
        ERRORS,
        lambda error, _: error,
        indexed=schema_type == PROTOBUF,
        zigzag=not getattr(config, "plain_indexes", False),
        around_rules=around_rules,
        migrated=migrated,
    )
