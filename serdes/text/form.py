"""What the text form of a schema type is made of, and its parts in the flows of serializers and deserializers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from compat.schema import AVRO, JSON, PROTOBUF, Dependencies, SchemaText
from serdes.client.flow import Flow
from serdes.message.config import DeserializerConfig, SerializerConfig
from serdes.message.deserializer import Decode, ReaderFormat, Resolved
from serdes.message.serializer import Encoder, WriterFormat
from serdes.serialization import Context

#: What encoders and decoders of text forms raise, beside SerdesError.
ERRORS = (ValueError, TypeError, RecursionError)

#: Each type's module is imported when it is first needed.
_MODULES = {AVRO: "serdes.text.avro", JSON: "serdes.text.json_schema", PROTOBUF: "serdes.text.protobuf"}

#: What JSON calls the types of its values.
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
    """What the schema does not say.

    Attributes:
        plain_unions: Avro JSON without tags.
        defaults: A field that Avro JSON lacks takes its default.
        message: The full name of the Protobuf message to write; the file's first one unless named.
        proto_names: Protobuf fields are shown under the schema's names, not in lowerCamelCase.
        holds_up_others: Other work of this thread waits while a value is encoded: what may take long is a Later.
    """

    plain_unions: bool = False
    defaults: bool = False
    message: str | None = None
    proto_names: bool = False
    holds_up_others: bool = False


class Unfit(ValueError):
    """A value that does not fit its schema: the path such as `$.lines[3]`, and the reason.

    `said` is what a library said, with its own words for the place.
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
        record_name: The name that the record subject strategies use.
        writing, reading: The types of the settings.
    """

    encoder: Callable[[SchemaText, Dependencies, SerializerConfig, TextOptions], Encoder]
    decoder: Callable[[Resolved, Resolved | None, DeserializerConfig, TextOptions], Decode]
    record_name: Callable[[SchemaText, TextOptions], str | None]
    writing: type[SerializerConfig]
    reading: type[DeserializerConfig]


def text_form(schema_type: str) -> TextForm:
    """The text form of a schema type."""
    form: TextForm = import_module(_MODULES[schema_type]).FORM
    return form


def serializing(
    own: SchemaText | None, schema_type: str, config: SerializerConfig, options: TextOptions
) -> WriterFormat:
    """A schema type's part in serializing parsed JSON, with a schema of one's own or with one the settings name.

    Raises:
        SchemaCompileError: The schema cannot be read.
    """
    form = text_form(schema_type)

    def own_schema(ctx: Context | None, subject: str) -> Flow[SchemaText | None]:  # noqa: ARG001
        yield from ()
        return own

    return WriterFormat(
        schema_type,
        form.record_name(own, options) if own else None,
        own_schema,
        lambda schema, dependencies: form.encoder(schema, dependencies, config, options),
        ERRORS,
        lambda error, _: error,
    )


def deserializing(schema_type: str, config: DeserializerConfig, options: TextOptions) -> ReaderFormat:
    """A schema type's part in deserializing messages to JSON text in UTF-8."""
    form = text_form(schema_type)

    def decoder(writer: Resolved | None, reader: Resolved | None) -> Decode:
        assert writer is not None
        return form.decoder(writer, reader, config, options)

    return ReaderFormat(
        schema_type,
        lambda schema: form.record_name(schema, options),
        decoder,
        ERRORS,
        lambda error, _: error,
        indexed=schema_type == PROTOBUF,
    )
