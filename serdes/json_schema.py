"""JSON Schema: the serializer and deserializer, on orjson and the validator of `serdes.validation`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from compat.schema import JSON, Dependencies, SchemaText
from serdes.client.clients import AsyncRegistryClient, BaseClient
from serdes.client.flow import Flow
from serdes.error import ConfigError, DatumMismatch, DatumRefused, PayloadError, SchemaCompileError, SerdesError
from serdes.json_bytes import dumps
from serdes.json_records import data_of, instances_of
from serdes.message.awaited import AsyncDeserializer, AsyncSerializer
from serdes.message.config import JSONDeserializerConfig, JSONSerializerConfig
from serdes.message.deserializer import Deserializer, FromDict
from serdes.message.json_validation import check_of, decoder_of, encoder_of, migrated_by, validators
from serdes.message.reading import Around, Decode, ReaderFormat, Resolved
from serdes.message.serializer import Serializer, ToDict
from serdes.message.writing import Encoder, WriterFormat
from serdes.records.table import record_class
from serdes.schema import as_schema
from serdes.serialization import Context
from serdes.validation.refusal import ValueRefused, data_path

__all__ = ["AsyncJSONDeserializer", "AsyncJSONSerializer", "JSONDeserializer", "JSONSerializer"]

#: The deepest nesting that orjson supports.
_DEEPEST = 254


class JSONSerializer(Serializer):
    """Serializes data as JSON, validated by a JSON Schema.

    With a class of `magicbyte generate` as the schema, it serializes instances of the class and of no other type.

    Args:
        schema_str: The schema as JSON text, a Schema if it has references, or a class of `magicbyte generate`; None if
            a setting says which of the registry's schemas to use.
        schema_registry_client: The registry's client.
        to_dict: Takes an object and its context; returns the datum.
        conf: Settings by name; see JSONSerializerConfig.
        rule_conf: Parameters of all executors of rules.
        rule_registry: Custom executors, actions and overrides of rules; by default, the global registry.
        json_encode: Encodes a datum to JSON text instead of orjson.

    Raises:
        ConfigError: a setting is unknown or contradicts another.
        SchemaCompileError: the schema is invalid.
    """

    def __init__(
        self,
        schema_str: Any,
        schema_registry_client: BaseClient,
        to_dict: ToDict | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        json_encode: Callable[[Any], str | bytes] | None = None,
    ) -> None:
        config = JSONSerializerConfig.load(conf)
        schema = as_schema(schema_str, JSON)
        schema_text = schema.text if schema else None
        to_text = _dumps if json_encode is None else _text_of(json_encode)
        is_awaited = self.client_type is AsyncRegistryClient
        make = validators(schema_text, config.dialect, blocks_other_work=is_awaited)

        def own_schema(ctx: Context | None, subject: str) -> Flow[SchemaText | None]:  # noqa: ARG001
            yield from ()
            return schema_text

        def encoder(schema: SchemaText, dependencies: Dependencies) -> Encoder:
            if not config.validate:
                return Encoder(to_text)
            checked = encoder_of(make(schema, dependencies), to_text, is_awaited=is_awaited)
            return checked if config.validate_before_rules is False else replace(checked, unchecked=to_text)

        errors = (ValueError, TypeError, RecursionError)
        name = title(schema_text) if schema_text else None
        form = WriterFormat(JSON, name, own_schema, encoder, errors, _explain_datum)
        rules = config.rules(rule_conf, rule_registry)
        record = record_class(schema_str)
        to_datum = to_dict if record is None else data_of(record, to_dict)
        super().__init__(schema_registry_client, form, config, schema, to_datum, rules=rules)


class JSONDeserializer(Deserializer):
    """Deserializes JSON messages, validated by the reader's schema if there is one, else by the writer's.

    With a class of `magicbyte generate` as the schema, it returns instances of the class.

    Args:
        schema_str: The reader's schema as JSON text, a Schema or a class of `magicbyte generate`; it may be None if
            there is a client.
        from_dict: Takes the datum and its context; returns an object.
        schema_registry_client: The registry's client; without one, the schema id in the frame is ignored.
        conf: Settings by name; see JSONDeserializerConfig.
        rule_conf: Parameters of all executors of rules.
        rule_registry: Custom executors, actions and overrides of rules; by default, the global registry.
        json_decode: Decodes JSON text to a datum instead of orjson.

    Raises:
        ConfigError: a setting is unknown or contradicts another, or there is neither a schema nor a client.
        SchemaCompileError: the schema is invalid.
    """

    def __init__(
        self,
        schema_str: Any = None,
        from_dict: FromDict | None = None,
        schema_registry_client: BaseClient | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        json_decode: Callable[[str], Any] | None = None,
    ) -> None:
        config = JSONDeserializerConfig.load(conf)
        schema = as_schema(schema_str, JSON)
        if schema is None and schema_registry_client is None:
            raise ConfigError("schema_str", "needed if there is no client to find the writers' schemas")
        is_awaited = self.client_type is AsyncRegistryClient
        make = validators(schema.text if schema else None, config.dialect, blocks_other_work=is_awaited)
        loads: Callable[[bytes], Any] = orjson.loads
        if json_decode is not None:
            decode_text = json_decode
            loads = lambda payload: decode_text(payload.decode())  # noqa: E731  # a second variant of one function

        def plain(message: bytes, offset: int) -> Any:
            return loads(message[offset:])

        def decoder(writer: Resolved | None, reader: Resolved | None) -> Decode:
            schema = reader or writer
            if not config.validate or schema is None:
                return plain
            return decoder_of(make(*schema), loads, is_awaited=is_awaited)

        def around_rules(writer: Resolved | None, reader: Resolved | None, _of_writer: bool) -> Around:  # noqa: FBT001
            schema = reader or writer
            if not config.validate or config.validate_before_rules or schema is None:
                return decoder(writer, reader), None
            check = check_of(make(*schema), is_awaited=is_awaited)

            def finish(datum: Any, message: bytes, offset: int, unchanged: bool) -> Any:  # noqa: FBT001
                return check(datum, message[offset:] if unchanged else _changed_text(datum))

            return plain, finish

        form = ReaderFormat(
            JSON,
            title,
            decoder,
            (ValueError, RecursionError),
            _explain_payload,
            needs_writer=schema_registry_client is not None,
            needs_references=config.validate,
            around_rules=around_rules,
            migrated=migrated_by(
                make if config.validate else None,
                plain,
                is_before_rules=bool(config.validate_before_rules),
                is_awaited=is_awaited,
            ),
        )
        rules, reader = config.rules(rule_conf, rule_registry), schema.text if schema else None
        record = record_class(schema_str)
        from_datum = from_dict if record is None else instances_of(record, from_dict)
        super().__init__(schema_registry_client, form, config, reader, from_datum, rules=rules, own=schema)


class _AwaitedJSONSerializer(JSONSerializer):
    client_type = AsyncRegistryClient


class AsyncJSONSerializer(AsyncSerializer):
    """JSONSerializer for an AsyncRegistryClient."""

    twin = _AwaitedJSONSerializer


class _AwaitedJSONDeserializer(JSONDeserializer):
    client_type = AsyncRegistryClient


class AsyncJSONDeserializer(AsyncDeserializer):
    """JSONDeserializer for an AsyncRegistryClient."""

    twin = _AwaitedJSONDeserializer


def title(schema: SchemaText) -> str | None:
    """The schema's title, which the record subject strategies use as its name.

    Raises:
        SchemaCompileError: the text is not JSON.
    """
    parsed = _parse(schema.text)
    name = parsed.get("title") if isinstance(parsed, dict) else None
    return name if isinstance(name, str) else None


def _parse(text: str) -> Any:
    try:
        schema = orjson.loads(text)
    except ValueError as error:
        raise SchemaCompileError(JSON, f"the schema is not JSON: {error}") from error
    if not isinstance(schema, dict | bool):
        raise SchemaCompileError(JSON, "the schema is neither an object nor true or false")
    return schema


def _dumps(datum: Any) -> bytes:
    try:
        return orjson.dumps(datum)
    except TypeError:
        if _not_json(datum, ()) is not None:
            raise
        return dumps(datum)


def _changed_text(datum: Any) -> bytes:
    """The text of a datum that rules changed."""
    try:
        return _dumps(datum)
    except TypeError:
        path, value = _not_json(datum, ()) or ((), datum)
        raise ValueError(f"the rules' result has a {type(value).__name__} at {data_path(path)}") from None


def _text_of(encode: Callable[[Any], str | bytes]) -> Callable[[Any], bytes]:
    def dumps(datum: Any) -> bytes:
        text = encode(datum)
        return text.encode() if isinstance(text, str) else text

    return dumps


def _explain_datum(error: Exception, datum: Any) -> Exception:
    if isinstance(error, ValueRefused):
        refusal = error.refusal
        return DatumRefused(data_path(refusal.path), type(_at(datum, refusal.path)).__name__, refusal.reason)
    if isinstance(error, SerdesError):
        return error
    path, value = _not_json(datum, ()) or ((), datum)
    return DatumMismatch(data_path(path), type(value).__name__, "what JSON can hold")


def _at(datum: Any, path: Iterable[str | int]) -> Any:
    """The part of a datum at a path, or the last existing one on the way."""
    for step in path:
        try:
            datum = datum[step]
        except (LookupError, TypeError):
            break
    return datum


def _explain_payload(error: Exception, message: bytes) -> Exception:  # noqa: ARG001  # the signature of all types
    if isinstance(error, SerdesError):
        return error
    return PayloadError(str(error) if isinstance(error, ValueRefused) else f"not JSON: {error}")


def _not_json(value: Any, path: tuple[str | int, ...]) -> tuple[tuple[str | int, ...], Any] | None:
    """The path and value of the first part that JSON cannot represent, or that is too deep for orjson."""
    if value is None or isinstance(value, str | int | float):
        return None
    if isinstance(value, dict) and len(path) < _DEEPEST:
        wrong = next((key for key in value if not isinstance(key, str)), None)
        if wrong is not None:
            return (*path, str(wrong)), wrong
        items: Iterable[tuple[str | int, Any]] = value.items()
    elif isinstance(value, list | tuple) and len(path) < _DEEPEST:
        items = enumerate(value)
    else:
        return path, value
    return next(filter(None, (_not_json(item, (*path, key)) for key, item in items)), None)
