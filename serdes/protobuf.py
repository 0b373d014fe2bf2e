"""Protobuf: the serializer and deserializer, on generated and dynamic classes of the runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, EncodeError

from compat.schema import PROTOBUF, Dependencies, InvalidSchema, SchemaText
from serdes.client.clients import AsyncRegistryClient, BaseClient
from serdes.client.endpoints.cached import Endpoints, context_of
from serdes.client.flow import Flow
from serdes.error import (
    ConfigError,
    DatumMismatch,
    InvalidMessageIndexes,
    PayloadError,
    SchemaCompileError,
    SerializationError,
)
from serdes.message import wire
from serdes.message.arguments import checked_client
from serdes.message.awaited import AsyncDeserializer, AsyncSerializer
from serdes.message.config import ProtobufDeserializerConfig, ProtobufSerializerConfig
from serdes.message.deserializer import Deserializer
from serdes.message.protobuf_schema import References, imported_by, parse, schema_text
from serdes.message.reading import Decode, ReaderFormat, Resolved
from serdes.message.serializer import Serializer
from serdes.message.writing import Encoder, WriterFormat
from serdes.rules.migrations.migrated import Read
from serdes.rules.migrations.steps import Migration
from serdes.serialization import Context

__all__ = ["AsyncProtobufDeserializer", "AsyncProtobufSerializer", "ProtobufDeserializer", "ProtobufSerializer"]


class ProtobufSerializer(Serializer):
    """Serializes messages of one generated class.

    The schema is the descriptor of the class's file in base64, with a reference for each import; the imported files are
    registered under separate subjects.

    Args:
        msg_type: The class.
        schema_registry_client: The registry's client.
        conf: Settings by name; see ProtobufSerializerConfig.
        rule_conf: Parameters of all executors of rules.
        rule_registry: Custom executors, actions and overrides of rules; by default, the global registry.

    Raises:
        ConfigError: a setting is unknown or contradicts another.
    """

    def __init__(
        self,
        msg_type: Any,
        schema_registry_client: BaseClient,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
    ) -> None:
        config = ProtobufSerializerConfig.load(conf)
        if not isinstance(getattr(msg_type, "DESCRIPTOR", None), Descriptor):
            raise ConfigError("msg_type", f"must be a class of messages, not {msg_type!r}")
        writer = _Writer(msg_type, checked_client(schema_registry_client, self.client_type).endpoints, config)
        form = WriterFormat(
            PROTOBUF,
            writer.full_name,
            writer.own_schema,
            writer.encoder,
            (_OtherClass, EncodeError),
            writer.explain,
            lambda: imported_by(writer.file),
        )
        super().__init__(schema_registry_client, form, config, rules=config.rules(rule_conf, rule_registry))
        self._message_type = msg_type
        self._serialize_message: Callable[[Any], bytes] = msg_type.SerializeToString

    def __call__(self, obj: Any, ctx: Any = None) -> bytes | None:
        """The message's bytes; see Serializer."""
        # The fast path of Serializer without its two further calls, which take as long as upb's serialization.
        try:
            if obj.__class__ is self._message_type and self._stale_at is None:
                return self._ready[ctx.topic][ctx.field][0] + self._serialize_message(obj)
        except (KeyError, AttributeError, EncodeError):
            pass
        return super().__call__(obj, ctx)


class ProtobufDeserializer(Deserializer):
    """Deserializes messages to a generated class, or to dynamic classes made of their schemas.

    Args:
        message_type: The generated class; None to make a class of each message's schema.
        conf: Settings by name; see ProtobufDeserializerConfig.
        rule_conf: Parameters of all executors of rules.
        rule_registry: Custom executors, actions and overrides of rules; by default, the global registry.
        schema_registry_client: The registry's client; without one, the schema id in the frame is ignored.

    Raises:
        ConfigError: a setting is unknown, or there is neither a class nor a client.
    """

    def __init__(
        self,
        message_type: Any = None,
        conf: Mapping[str, Any] | None = None,
        schema_registry_client: BaseClient | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
    ) -> None:
        config = ProtobufDeserializerConfig.load(conf)
        if message_type is None and schema_registry_client is None:
            raise ConfigError("message_type", "needed if there is no client to find the writers' schemas")
        zigzag = not config.plain_indexes

        def decoder(writer: Resolved | None, reader: Resolved | None) -> Decode:
            if message_type is not None:
                return _decoder_of_class(message_type, self._short_indexes, zigzag=zigzag)
            assert writer is not None
            return decoder_of_schema(writer, reader, zigzag=zigzag)

        def migrated(writer: Resolved, reader: Resolved, _: Migration) -> tuple[Read, None]:
            from serdes.rules.migrations.protobuf import json_form  # noqa: PLC0415  # messages are seldom migrated

            make = new_message(reader) if message_type is None else lambda _: message_type()
            return json_form(decoder_of_schema(writer, None, zigzag=zigzag), make), None

        form = ReaderFormat(
            PROTOBUF,
            lambda schema: parse(schema).full_name,
            decoder,
            (DecodeError,),
            lambda error, _: PayloadError(str(error)),
            indexed=True,
            zigzag=zigzag,
            needs_writer=schema_registry_client is not None,
            needs_references=message_type is None,
            migrated=migrated,
        )
        super().__init__(schema_registry_client, form, config, rules=config.rules(rule_conf, rule_registry))
        self._from_string: Any = message_type and message_type.FromString
        #: The byte for a count of one, and the one-byte indexes seen so far: messages 1 to 63 of a file.
        self._one = wire.write_indexes((1,), zigzag=zigzag)[0]
        self._short_indexes: set[int] = set()

    def __call__(self, data: Any, ctx: Any = None) -> Any:
        """The message; see Deserializer."""
        # The fast path of Deserializer without its further call, which takes as long as upb's parsing.
        try:
            if data[:5] in self._ready[ctx.topic][ctx.field] and not ctx.headers:
                count = data[5]
                if not count:
                    return self._from_string(data[6:])
                if count == self._one and data[6] in self._short_indexes:
                    return self._from_string(data[7:])
        except (KeyError, AttributeError, TypeError, IndexError, DecodeError):
            pass
        return super().__call__(data, ctx)


class _AwaitedProtobufSerializer(ProtobufSerializer):
    client_type = AsyncRegistryClient


class AsyncProtobufSerializer(AsyncSerializer):
    """ProtobufSerializer for an AsyncRegistryClient."""

    twin = _AwaitedProtobufSerializer


class _AwaitedProtobufDeserializer(ProtobufDeserializer):
    client_type = AsyncRegistryClient


class AsyncProtobufDeserializer(AsyncDeserializer):
    """ProtobufDeserializer for an AsyncRegistryClient."""

    twin = _AwaitedProtobufDeserializer


class _OtherClass(Exception):
    """A message that is not of the serializer's class."""


class _Writer:
    """The schema and the encoder of a serializer's message class."""

    def __init__(self, message_type: Any, endpoints: Endpoints, config: ProtobufSerializerConfig) -> None:
        descriptor: Descriptor = message_type.DESCRIPTOR
        self.full_name = descriptor.full_name
        self.file = descriptor.file
        self._text = schema_text(descriptor.file)
        self._message_type = message_type
        self._endpoints = endpoints
        self._config = config

    def own_schema(self, ctx: Context | None, subject: str) -> Flow[SchemaText | None]:
        """The class's schema; with references if it will be registered or looked up."""
        if not self._config.registers and self._config.names_schema:
            return SchemaText(PROTOBUF, self._text)
        references = References(self._endpoints, self._config, ctx, context_of(subject))
        return (yield from references.schema(self.file))

    def encoder(self, schema: SchemaText, dependencies: Dependencies) -> Encoder:
        """The encoder, with the message's indexes in this schema, which may differ from those in the class's file."""
        try:
            indexes = parse(schema, dependencies).message_indexes(self.full_name)
        except InvalidSchema as error:
            raise SchemaCompileError(PROTOBUF, error.detail) from error
        except KeyError as error:
            raise SerializationError(f"the registry's schema has no message {self.full_name}") from error
        message_type = self._message_type
        serialize: Callable[[Any], bytes] = message_type.SerializeToString

        def encode(message: Any) -> bytes:
            if message.__class__ is not message_type:
                raise _OtherClass
            return serialize(message)

        return Encoder(encode, wire.write_indexes(indexes, zigzag=not self._config.plain_indexes))

    def explain(self, error: Exception, message: Any) -> Exception:
        """The exception for a message of another class, or for one that lacks fields that proto2 requires."""
        name = getattr(getattr(message, "DESCRIPTOR", None), "full_name", type(message).__name__)
        expected = (
            f"{self.full_name} with all it requires ({error})" if isinstance(error, EncodeError) else self.full_name
        )
        return DatumMismatch("$", name, expected)


def _decoder_of_class(message_type: Any, short_indexes: set[int], *, zigzag: bool) -> Decode:
    from_string: Callable[[bytes], Any] = message_type.FromString

    def decode(message: bytes, offset: int) -> Any:
        start = wire.read_indexes(message, offset, zigzag=zigzag)[1]
        if start == offset + 2:
            short_indexes.add(message[offset + 1])
        return from_string(message[start:])

    return decode


def new_message(schema: Resolved) -> Callable[[str], Any]:
    """Makes empty messages of a schema by full name: of the first message in the file if it has none of the name."""
    parsed = parse(*schema)

    def new_message(name: str) -> Any:
        try:
            return parsed.message_class(name)()
        except KeyError:
            return parsed.message_class()()

    return new_message


def decoder_of_schema(writer: Resolved, reader: Resolved | None, *, zigzag: bool) -> Decode:
    """The decoder to dynamic classes of the reader's schema, or, if None, of the writer's.

    Raises:
        SchemaCompileError: a schema cannot be parsed or linked.
    """
    classes: dict[tuple[int, ...], Callable[[bytes], Any]] = {}
    try:
        written = parse(*writer)
        read = written if reader is None else parse(*reader)
    except InvalidSchema as error:
        raise SchemaCompileError(PROTOBUF, error.detail) from error

    def from_string(indexes: tuple[int, ...]) -> Callable[[bytes], Any]:
        try:
            name = written.message_name(indexes)
        except IndexError as error:
            raise InvalidMessageIndexes(f"the schema has no message at {list(indexes)}") from error
        try:
            message_class: Any = read.message_class(name)
        except InvalidSchema as error:
            raise SchemaCompileError(PROTOBUF, error.detail) from error
        except KeyError as error:
            raise SerializationError(f"the reader's schema has no message {name}") from error
        parser: Callable[[bytes], Any] = message_class.FromString
        return parser

    def decode(message: bytes, offset: int) -> Any:
        indexes, start = wire.read_indexes(message, offset, zigzag=zigzag)
        if indexes not in classes:
            classes[indexes] = from_string(indexes)
        return classes[indexes](message[start:])

    return decode
