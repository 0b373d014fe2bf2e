"""Converts between records of a topic and those of an Avro container file, unchanged if the schema is the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from compat.formats import parse
from compat.schema import AVRO, Dependencies, SchemaText
from magicbyte.check.project.avro_file import ContainerWriter
from serdes.avro import compiled, record_name
from serdes.client.clients import RegistryClient
from serdes.client.flow import Flow
from serdes.codec import AvroCodec, DecodeError, EncodeError, compile_codec
from serdes.console.produce.lines import BadLine
from serdes.error import PayloadError, SchemaNotFound, SerializationError
from serdes.message.config import DeserializerConfig, SerializerConfig
from serdes.message.deserializer import Deserializer
from serdes.message.reading import Around, Decode, ReaderFormat, Resolved
from serdes.message.serializer import Serializer
from serdes.message.writing import Encoder, WriterFormat
from serdes.rules.error import RuleFailed
from serdes.rules.inline.rule import ValidationRulesFailed
from serdes.schema import Schema
from serdes.serialization import Context, SerializationContext
from serdes.text.avro import data_decoder
from serdes.text.field_reader import schema_id_of
from serdes.text.text_serdes import AdaptRules, unchanged_rules
from serdes.text.undecodable import Undecodable

_named = partial(compile_codec, record_names=True)


class BadRecord(BadLine):
    """A record of a file that does not fit the schema to write with; `line` is its number."""

    def __str__(self) -> str:
        return f"record {self.line}: {self.problem}"


def container_serializer(
    client: RegistryClient,
    file_schema: Schema,
    conf: Mapping[str, Any],
    kind: type[Serializer] = Serializer,
    adapt_rules: AdaptRules = unchanged_rules,
) -> Serializer:
    """A serializer for payloads with a file's schema.

    Raises:
        ConfigError: A setting is unknown or contradicts another.
        SchemaCompileError: The file's schema is not valid.
    """

    def own_schema(ctx: Context | None, subject: str) -> Flow[SchemaText | None]:  # noqa: ARG001
        yield from ()
        return file_schema.text

    def encoder(schema: SchemaText, dependencies: Dependencies) -> Encoder:
        written = compiled(file_schema.text, (), make=_named)
        if schema.text != file_schema.text.text:
            target = compiled(schema, dependencies)
            read = compiled(file_schema.text, (), (schema, dependencies), make=_named).decode
            return with_rules(lambda payload: target.encode(read(payload)), compiled(schema, dependencies, make=_named))
        return with_rules(written.decode if written.is_raw else bytes, written)

    def with_rules(encode: Callable[[Any], bytes], codec: AvroCodec) -> Encoder:
        ruled = Encoder(encode, datum_of=data_decoder(codec), unchecked=codec.encode_payload)
        return Encoder(encode, with_rules=lambda: ruled)

    form = WriterFormat(
        AVRO,
        record_name(file_schema.text),
        own_schema,
        encoder,
        (EncodeError, DecodeError),
        lambda error, _: _unfit(error),
    )
    config = SerializerConfig.load(conf)
    return kind(client, form, config, file_schema, rules=adapt_rules(config.rules()))


def to_record(serializer: Serializer, topic: str, payload: bytes, number: int) -> tuple[bytes, list[Any]]:
    """A message's value and headers.

    Raises:
        BadRecord: The record does not fit the schema to write with.
    """
    headers: list[tuple[str, bytes | None]] = []
    try:
        value = serializer(payload, SerializationContext(topic, "value", headers))
    except PayloadError as error:
        raise BadRecord(number, 1, error.problem, "value") from error
    except (RuleFailed, ValidationRulesFailed) as error:
        raise BadRecord(number, 1, str(error), "value") from error
    assert value is not None
    return value, headers


class ContainerSink:
    """Writes the values of records to a container file, all with one schema.

    Attributes:
        tombstones: The number of records that are not in the file because they have no value.
    """

    def __init__(
        self,
        path: str,
        codec: str,
        client: RegistryClient,
        schema: Resolved,
        conf: Mapping[str, Any],
        adapt_rules: AdaptRules = unchanged_rules,
    ) -> None:
        text, dependencies = schema
        whole = parse(text, dependencies).rendered("resolved")
        self._container = ContainerWriter(path, whole, codec)
        reader, config = SchemaText(AVRO, whole), DeserializerConfig.load(conf)
        rules = adapt_rules(config.rules())
        self._deserialize = Deserializer(client, _reading(reader, text), config, reader, rules=rules)
        self.tombstones = 0

    def line(self, message: Any) -> bytes:
        """Write a record to the file; nothing is printed.

        Raises:
            Undecodable: The value cannot be read with the file's schema.
        """
        data = message.value()
        if data is None:
            self.tombstones += 1
            return b""
        try:
            payload = self._deserialize(data, SerializationContext(message.topic(), "value", message.headers()))
        except (SerializationError, SchemaNotFound) as error:
            reason = error.message if isinstance(error, SchemaNotFound) else str(error)
            raise Undecodable("value", reason, data, schema_id_of(data, message.headers(), "value")) from error
        self._container.append(payload)
        return b""

    def close(self) -> None:
        """Write the last block and close the file."""
        self._container.close()


def _reading(whole: SchemaText, latest: SchemaText) -> ReaderFormat:
    """The format that deserializes values to payloads with the file's schema."""
    write = compiled(whole, ()).encode

    def decoder(writer: Resolved | None, reader: Resolved | None) -> Decode:
        assert writer is not None
        codec = compiled(*writer, reader, make=_named)
        if codec.is_raw:
            return lambda message, offset: write(message[offset:])
        decode = codec.decode
        if writer[0] != latest and writer[0] != whole:
            return lambda message, offset: write(decode(message, offset))

        def checked(message: bytes, offset: int) -> bytes:
            decode(message, offset)
            return message[offset:]

        return checked

    def around_rules(writer: Resolved | None, reader: Resolved | None, of_writer: bool) -> Around:  # noqa: ARG001, FBT001
        # The rules are the writer's: the file's schema brings none.
        assert writer is not None
        codec = compiled(*writer, make=_named)
        to_payload, encode = decoder(writer, reader), codec.encode_payload

        def finish(datum: Any, message: bytes, offset: int, unchanged: bool) -> bytes:  # noqa: FBT001
            return to_payload(message, offset) if unchanged else to_payload(encode(datum), 0)  # type: ignore[no-any-return]

        return data_decoder(codec), finish

    errors = (DecodeError, EncodeError)
    return ReaderFormat(AVRO, record_name, decoder, errors, lambda error, _: _unfit(error), around_rules=around_rules)


def _unfit(error: Exception) -> PayloadError:
    assert isinstance(error, DecodeError | EncodeError)
    return PayloadError(f"{error.path}: {error.detail or error.expected} ({error.expected} expected)")
