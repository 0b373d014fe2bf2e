"""Avro: the serializer and deserializer, with codecs compiled per schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from compat.avro.nodes import PRIMITIVE_TYPES
from compat.json.json_text import InvalidJson, loads
from compat.schema import AVRO, Dependencies, SchemaText
from serdes.client.clients import AsyncRegistryClient, BaseClient
from serdes.client.flow import Flow
from serdes.codec import AvroCodec, DecodeError, EncodeError, SchemaError, compile_codec
from serdes.error import ConfigError, DatumMismatch, PayloadError, SchemaCompileError, SerializationError
from serdes.message.awaited import AsyncDeserializer, AsyncSerializer
from serdes.message.config import AvroSerializerConfig, DeserializerConfig
from serdes.message.deserializer import Deserializer, FromDict
from serdes.message.reading import Around, Decode, Finish, ReaderFormat, Resolved
from serdes.message.serializer import Serializer, ToDict
from serdes.message.writing import Encoder, WriterFormat
from serdes.records.table import record_class
from serdes.rules.migrations.migrated import PLAIN, TAGGED, Read, avro_json
from serdes.rules.migrations.steps import Migration
from serdes.schema import as_schema
from serdes.serialization import Context

__all__ = ["AsyncAvroDeserializer", "AsyncAvroSerializer", "AvroDeserializer", "AvroSerializer"]


class AvroSerializer(Serializer):
    """Serializes Python data as Avro: a dict for a record, other types as in fastavro.

    With a class of `magicbyte generate` as the schema, it serializes instances of the class and of no other type.
    With a schema of `bytes`, the payload is the bytes without a length.

    Args:
        schema_registry_client: The registry's client.
        schema_str: The schema as JSON text, a Schema if it has references, or a class of `magicbyte generate`; None if
            a setting says which of the registry's schemas to use.
        to_dict: Takes an object and its context; returns the datum.
        conf: Settings by name; see AvroSerializerConfig.
        rule_conf: Parameters of all executors of rules.
        rule_registry: Custom executors, actions and overrides of rules; by default, the global registry.

    Raises:
        ConfigError: a setting is unknown or contradicts another.
        SchemaCompileError: the schema is invalid.
    """

    def __init__(
        self,
        schema_registry_client: BaseClient,
        schema_str: Any = None,
        to_dict: ToDict | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
    ) -> None:
        config = AvroSerializerConfig.load(conf)
        schema = as_schema(schema_str, AVRO)
        schema_text = schema.text if schema else None
        make = partial(
            compile_codec,
            strict=config.validate_strict,
            strict_allow_default=config.validate_strict_allow_default and not config.validate_strict,
        )
        record = record_class(schema_str)
        _compile_early(schema_text, make)

        def own_schema(ctx: Context | None, subject: str) -> Flow[SchemaText | None]:  # noqa: ARG001
            yield from ()
            return schema_text

        def encoder(schema: SchemaText, dependencies: Dependencies) -> Encoder:
            codec = compiled(schema, dependencies, make=make)
            if record is not None:
                return record_encoder(codec, compiled(schema, dependencies, make=partial(make, record=record)))
            return Encoder(codec.encode_payload)

        name = record_name(schema_text) if schema_text else None
        form = WriterFormat(AVRO, name, own_schema, encoder, (EncodeError,), _explain)
        rules = config.rules(rule_conf, rule_registry)
        super().__init__(schema_registry_client, form, config, schema, to_dict, rules=rules)


class AvroDeserializer(Deserializer):
    """Deserializes Avro messages to Python data: a dict for a record, other types as in fastavro.

    With a class of `magicbyte generate` as the schema, it returns its instances: the reader's schema is the class's.

    Args:
        schema_registry_client: The registry's client.
        schema_str: The reader's schema as JSON text, a Schema or a class of `magicbyte generate`; None to read with the
            writer's schema.
        from_dict: Takes the datum and its context; returns an object.
        return_record_name: True to return records in unions as pairs of their name and the record.
        conf: Settings by name; see DeserializerConfig.
        rule_conf: Parameters of all executors of rules.
        rule_registry: Custom executors, actions and overrides of rules; by default, the global registry.

    Raises:
        ConfigError: a setting is unknown or contradicts another.
        SchemaCompileError: the schema is invalid.
    """

    def __init__(
        self,
        schema_registry_client: BaseClient,
        schema_str: Any = None,
        from_dict: FromDict | None = None,
        return_record_name: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
    ) -> None:
        config = DeserializerConfig.load(conf)
        schema = as_schema(schema_str, AVRO)
        reader = schema.text if schema else None
        record = record_class(schema_str)
        if record is not None and return_record_name:
            raise ConfigError("return_record_name", f"not with {record.__name__}: its unions hold instances of classes")
        make = partial(compile_codec, record_names=return_record_name)
        _compile_early(reader, make)
        own: Resolved | None = None if reader is None else (reader, ())

        def decoder(writer: Resolved | None, reader: Resolved | None) -> Decode:
            assert writer is not None
            if record is not None:
                return compiled(*writer, own, make=partial(make, record=record)).decode
            codec = compiled(*writer, reader, make=make)
            return (lambda message, offset: message[offset:]) if codec.is_raw else codec.decode

        def around_rules(writer: Resolved | None, reader: Resolved | None, of_writer: bool) -> Around:  # noqa: FBT001
            assert writer is not None
            if record is not None:
                # The rules see data of the schema that they are for; only then are they resolved to the class's.
                target = writer if of_writer or reader is None else reader
                named = partial(compile_codec, record_names="branches")
                finish = _to_records(target, own, record, decoder(writer, None))
                return compiled(*writer, target, make=named).decode, finish
            if not of_writer or reader is None or reader == writer:
                return decoder(writer, reader), None
            # The rules of the writer's schema see data of its form; only then are they resolved to the reader's.
            return decoder(writer, None), _resolving(compiled(*writer, make=make), decoder(writer, reader))

        def migrated(writer: Resolved, reader: Resolved, migration: Migration) -> tuple[Read, Finish | None]:
            from serdes.rules.migrations import avro  # noqa: PLC0415  # messages are seldom migrated

            forms = {PLAIN: avro.plain, TAGGED: avro.tagged}
            read = forms[avro_json(migration)]
            if record is None:
                return read(writer, reader, record_names=return_record_name), None
            finish = _to_records(reader, own, record)
            return read(writer, reader, record_names="branches"), lambda datum, *_: finish(datum, b"", 0, False)

        form = ReaderFormat(
            AVRO, record_name, decoder, (DecodeError,), _explain, around_rules=around_rules, migrated=migrated
        )
        rules = config.rules(rule_conf, rule_registry)
        super().__init__(schema_registry_client, form, config, reader, from_dict, rules=rules, own=schema)


class _AwaitedAvroSerializer(AvroSerializer):
    client_type = AsyncRegistryClient


class AsyncAvroSerializer(AsyncSerializer):
    """AvroSerializer for an AsyncRegistryClient."""

    twin = _AwaitedAvroSerializer


class _AwaitedAvroDeserializer(AvroDeserializer):
    client_type = AsyncRegistryClient


class AsyncAvroDeserializer(AsyncDeserializer):
    """AvroDeserializer for an AsyncRegistryClient."""

    twin = _AwaitedAvroDeserializer


def record_name(schema: SchemaText) -> str | None:
    """The full name of a schema's record, enum or fixed; None for other schemas.

    Raises:
        SchemaCompileError: the text is not JSON.
    """
    try:
        node = loads(schema.text, comments=True)
    except InvalidJson as error:
        raise SchemaCompileError(AVRO, f"the schema is not JSON: {error}") from error
    if isinstance(node, str):
        return None if node in PRIMITIVE_TYPES else node
    if not isinstance(node, dict) or not isinstance(name := node.get("name"), str):
        return None
    namespace = node.get("namespace")
    return f"{namespace}.{name}" if namespace and "." not in name else name


def compiled(
    schema: SchemaText,
    dependencies: Dependencies,
    reader: Resolved | None = None,
    *,
    make: Callable[..., AvroCodec] = compile_codec,
) -> AvroCodec:
    """The codec of a schema and its dependencies; writer and reader may define the same name differently.

    Args:
        schema: The writer's schema.
        dependencies: The schemas that the writer's schema refers to.
        reader: The reader's schema and its dependencies, or None.
        make: `compile_codec`, with further arguments bound.

    Raises:
        SchemaCompileError: one of the texts is not a schema.
    """
    named = [dependency.text for dependency in dependencies]
    try:
        if reader is None:
            return make(schema.text, None, named)
        reader_named = [dependency.text for dependency in reader[1]]
        return make(schema.text, reader[0].text, named, reader_named=reader_named)
    except SchemaError as error:
        raise SchemaCompileError(AVRO, str(error)) from error


def _compile_early(schema: SchemaText | None, make: Callable[..., AvroCodec]) -> None:
    """Refuses an invalid schema at once if it has no references; its codec is cached for the first message."""
    if schema is not None and not schema.references:
        compiled(schema, (), make=make)


def _resolving(codec: AvroCodec, resolve: Decode, unchanged_data: Decode | None = None) -> Finish:
    """Turns a datum of the writer's schema into one of the reader's.

    Args:
        codec: The codec of the datum.
        resolve: The decoder of what it encodes.
        unchanged_data: The decoder of messages that no rule changed, if it is another one.
    """
    of_message = unchanged_data or resolve
    encode = codec.encode_payload

    def finish(datum: Any, message: bytes, offset: int, unchanged: bool) -> Any:  # noqa: FBT001  # as `Finish` says
        if unchanged:
            return of_message(message, offset)
        try:
            payload = encode(datum)
        except EncodeError as error:
            raise _explain(error) from error
        return resolve(payload, 0)

    return finish


def _to_records(target: Resolved, own: Resolved | None, record: type, of_message: Decode | None = None) -> Finish:
    """Turns data of a schema, which rules have seen, into instances of a generated class."""
    from_data = compiled(*target, own, make=partial(compile_codec, record=record)).decode
    return _resolving(compiled(*target), from_data, of_message)


def record_encoder(data: AvroCodec, instances: AvroCodec) -> Encoder:
    """The encoder of instances of a generated class; rules see them as data, by the schema's names.

    Args:
        data: The codec of data of the writer's schema.
        instances: The codec of instances.
    """

    def with_rules() -> Encoder:
        # Data for rules name the branches of unions, so that writing them does not choose anew.
        decode = compile_codec(data.source.writer, None, data.source.named, record_names="branches").decode
        return Encoder(instances.encode, unchecked=data.encode, datum_of=decode)

    return Encoder(instances.encode, with_rules=with_rules)


def _explain(error: Exception, _: Any = None) -> Exception:
    match error:
        case EncodeError():
            expected = f"{error.expected} ({error.detail})" if error.detail else error.expected
            return DatumMismatch(error.path, error.value_type, expected)
        case DecodeError():
            return PayloadError(f"{error.path}: {error.detail} ({error.expected} expected)", error.position)
    return SerializationError(str(error))
