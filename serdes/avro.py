"""Avro: serializer and deserializer on codecs compiled per schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from compat.schema import AVRO, Dependencies, InvalidSchema, SchemaText
from serdes.client import AsyncRegistryClient, BaseClient
from serdes.codec import AvroCodec, DecodeError, EncodeError, SchemaError, compile_codec
from serdes.config import AvroSerializerConfig, DeserializerConfig
from serdes.deserializer import AsyncDeserializer, Decode, Deserializer, FromDict, ReaderFormat, Resolved
from serdes.error import DatumMismatch, PayloadError, SchemaCompileError, SerializationError
from serdes.flow import Flow
from serdes.schema import as_schema, refuse_rule_arguments
from serdes.serialization import Context
from serdes.serializer import AsyncSerializer, Encoder, Serializer, ToDict, WriterFormat

__all__ = ["AsyncAvroDeserializer", "AsyncAvroSerializer", "AvroDeserializer", "AvroSerializer"]

_PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})


class AvroSerializer(Serializer):
    """Serializes Python data as Avro: a dict for a record, other types as fastavro takes them.

    A schema of `bytes` writes the bytes as they are, without a length.

    Args:
        schema_registry_client: The registry's client.
        schema_str: The schema: its JSON text, or a Schema where it refers to others; None where the configuration says
            which of the registry's schemas to use.
        to_dict: Makes the datum of an object and its context.
        conf: Settings by name; see AvroSerializerConfig.

    Raises:
        ConfigError: a setting is unknown or contradicts another.
        SchemaCompileError: the schema is none.
    """

    def __init__(
        self,
        schema_registry_client: BaseClient,
        schema_str: Any = None,
        to_dict: ToDict | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: None = None,
        rule_registry: None = None,
    ) -> None:
        refuse_rule_arguments(rule_conf, rule_registry)
        config = AvroSerializerConfig.load(conf)
        schema = as_schema(schema_str, AVRO)
        own = schema.text if schema else None
        _compile_early(own)

        def own_schema(ctx: Context | None, subject: str) -> Flow[SchemaText | None]:  # noqa: ARG001
            yield from ()
            return own

        def encoder(schema: SchemaText, dependencies: Dependencies) -> Encoder:
            if config.validate_strict or config.validate_strict_allow_default:
                from serdes.fastavro_codec import strict_encoder  # noqa: PLC0415  # fastavro is slow to import

                return Encoder(strict_encoder(schema, dependencies, allow_default=not config.validate_strict))
            if _is_bytes(schema.text):
                return Encoder(_raw)
            return Encoder(_codec(schema, dependencies).encode)

        form = WriterFormat(
            AVRO, record_name(own) if own else None, own_schema, encoder, (EncodeError, _NotBytes), _explain
        )
        super().__init__(schema_registry_client, form, config, schema, to_dict)


class AvroDeserializer(Deserializer):
    """Deserializes Avro messages as Python data: a dict for a record, other types as fastavro gives them.

    Args:
        schema_registry_client: The registry's client.
        schema_str: The reader's schema, if it is not the writer's: its JSON text, or a Schema.
        from_dict: Makes an object of the datum and its context.
        return_record_name: True to give records in unions as pairs of their name and the record.
        conf: Settings by name; see DeserializerConfig.

    Raises:
        ConfigError: a setting is unknown or contradicts another.
        SchemaCompileError: the schema is none.
    """

    def __init__(
        self,
        schema_registry_client: BaseClient,
        schema_str: Any = None,
        from_dict: FromDict | None = None,
        return_record_name: bool = False,  # noqa: FBT001, FBT002  # confluent-kafka's signature
        conf: Mapping[str, Any] | None = None,
        rule_conf: None = None,
        rule_registry: None = None,
    ) -> None:
        refuse_rule_arguments(rule_conf, rule_registry)
        schema = as_schema(schema_str, AVRO)
        reader = schema.text if schema else None
        _compile_early(reader)

        def decoder(writer: Resolved | None, reader: Resolved | None) -> Decode:
            assert writer is not None
            text, needed = writer
            if _is_bytes(text.text):
                return lambda message, offset: message[offset:]
            if return_record_name:
                from serdes.fastavro_codec import record_name_decoder  # noqa: PLC0415  # as above

                return record_name_decoder(writer, reader)
            if reader is None:
                return _codec(text, needed).decode
            return _codec(text, needed, reader).decode

        form = ReaderFormat(AVRO, record_name, decoder, (DecodeError,), _explain)
        super().__init__(schema_registry_client, form, DeserializerConfig.load(conf), reader, from_dict)


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
    node = _json(schema.text)
    if isinstance(node, str):
        return None if node in _PRIMITIVES else node
    if not isinstance(node, dict) or not isinstance(name := node.get("name"), str):
        return None
    namespace = node.get("namespace")
    return f"{namespace}.{name}" if namespace and "." not in name else name


class _NotBytes(Exception):
    """A datum for a schema of bytes that is none."""


def _raw(datum: Any) -> bytes:
    if not isinstance(datum, bytes | bytearray | memoryview):
        raise _NotBytes
    return bytes(datum)


def _is_bytes(text: str) -> bool:
    node = _json(text)
    return node == "bytes" or (isinstance(node, dict) and node.get("type") == "bytes" and "logicalType" not in node)


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError as error:
        if text.strip() in _PRIMITIVES:
            return text.strip()
        raise SchemaCompileError(AVRO, f"the schema is not JSON: {error}") from error


def _codec(schema: SchemaText, dependencies: Dependencies, reader: Resolved | None = None) -> AvroCodec:
    try:
        if reader is None:
            return compile_codec(schema.text, None, [dependency.text for dependency in dependencies])
        # The two may refer to different versions of a name, so that each must hold its own.
        return compile_codec(_whole(schema, dependencies), _whole(*reader))
    except SchemaError as error:
        raise SchemaCompileError(AVRO, str(error)) from error


def _compile_early(schema: SchemaText | None) -> None:
    """Refuses a schema at once where that needs nothing of the registry; the codec is kept for the first message."""
    if schema is not None and not schema.references:
        _codec(schema, ())


def _whole(schema: SchemaText, dependencies: Dependencies) -> str:
    """The schema's text with everything in it that it refers to."""
    if not dependencies:
        return schema.text
    from compat.formats import parse  # noqa: PLC0415  # only for schemas with references

    try:
        return parse(schema, dependencies).rendered("resolved")
    except InvalidSchema as error:
        raise SchemaCompileError(AVRO, error.detail) from error


def _explain(error: Exception, datum: Any = None) -> Exception:
    match error:
        case EncodeError():
            expected = f"{error.expected} ({error.detail})" if error.detail else error.expected
            return DatumMismatch(error.path, error.value_type, expected)
        case DecodeError():
            return PayloadError(f"{error.path}: {error.detail} ({error.expected} expected)", error.position)
        case _NotBytes():
            return DatumMismatch("$", type(datum).__name__, "bytes")
    return SerializationError(str(error))
