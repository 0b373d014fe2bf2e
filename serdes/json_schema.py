"""JSON Schema: serializer and deserializer on orjson and jsonschema-rs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urljoin

import jsonschema_rs
import orjson

from compat.schema import JSON, Dependencies, SchemaText
from serdes.client import AsyncRegistryClient, BaseClient
from serdes.config import JSONDeserializerConfig, JSONSerializerConfig
from serdes.deserializer import AsyncDeserializer, Decode, Deserializer, FromDict, ReaderFormat, Resolved
from serdes.error import ConfigError, DatumMismatch, PayloadError, SchemaCompileError
from serdes.flow import Flow
from serdes.schema import as_schema, refuse_rule_arguments
from serdes.serialization import Context
from serdes.serializer import AsyncSerializer, Encoder, Serializer, ToDict, WriterFormat

__all__ = ["AsyncJSONDeserializer", "AsyncJSONSerializer", "JSONDeserializer", "JSONSerializer"]

Validate = Callable[[Any], None]

_VALIDATORS: Mapping[str, Any] = {
    "draft_4": jsonschema_rs.Draft4Validator,
    "draft_6": jsonschema_rs.Draft6Validator,
    "draft_7": jsonschema_rs.Draft7Validator,
    "draft_2019_09": jsonschema_rs.Draft201909Validator,
    "draft_2020_12": jsonschema_rs.Draft202012Validator,
}
_DIALECT = re.compile(r"https?://json-schema\.org/(draft-0[467]|draft/20(?:19-09|20-12))/schema#?")
#: The base URI of schemas without an `$id`.
_NO_BASE = "http://no-id.invalid/"
#: orjson's limit of nesting.
_DEEPEST = 254


class JSONSerializer(Serializer):
    """Serializes what JSON can hold, validated by a JSON Schema.

    Args:
        schema_str: The schema: its JSON text, or a Schema where it refers to others; None where the configuration says
            which of the registry's schemas to use.
        schema_registry_client: The registry's client.
        to_dict: Makes the datum of an object and its context.
        conf: Settings by name; see JSONSerializerConfig.
        json_encode: Makes the text of a datum, instead of orjson.

    Raises:
        ConfigError: a setting is unknown or contradicts another.
        SchemaCompileError: the schema is none.
    """

    def __init__(
        self,
        schema_str: Any,
        schema_registry_client: BaseClient,
        to_dict: ToDict | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: None = None,
        rule_registry: None = None,
        json_encode: Callable[[Any], str | bytes] | None = None,
    ) -> None:
        refuse_rule_arguments(rule_conf, rule_registry)
        config = JSONSerializerConfig.load(conf)
        schema = as_schema(schema_str, JSON)
        own = schema.text if schema else None
        dumps = _dumps if json_encode is None else _text_of(json_encode)
        _compile_early(own, config.dialect)

        def own_schema(ctx: Context | None, subject: str) -> Flow[SchemaText | None]:  # noqa: ARG001
            yield from ()
            return own

        def encoder(schema: SchemaText, dependencies: Dependencies) -> Encoder:
            if not config.validate:
                return Encoder(dumps)
            validate = compile_validator(schema.text, dependencies, config.dialect)

            def encode(datum: Any) -> bytes:
                validate(datum)
                return dumps(datum)

            return Encoder(encode)

        errors = (jsonschema_rs.ValidationError, ValueError, TypeError, RecursionError)
        name = title(own) if own else None
        form = WriterFormat(JSON, name, own_schema, encoder, errors, _explain_datum)
        super().__init__(schema_registry_client, form, config, schema, to_dict)


class JSONDeserializer(Deserializer):
    """Deserializes JSON messages, validated by the reader's schema where there is one, else by the writer's.

    Args:
        schema_str: The reader's schema: its JSON text, or a Schema; it may be None where there is a client.
        from_dict: Makes an object of the datum and its context.
        schema_registry_client: The registry's client; without one the frame's schema is not looked at.
        conf: Settings by name; see JSONDeserializerConfig.
        json_decode: Makes the datum of a text, instead of orjson.

    Raises:
        ConfigError: a setting is unknown or contradicts another, or there is neither a schema nor a client.
        SchemaCompileError: the schema is none.
    """

    def __init__(
        self,
        schema_str: Any = None,
        from_dict: FromDict | None = None,
        schema_registry_client: BaseClient | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: None = None,
        rule_registry: None = None,
        json_decode: Callable[[str], Any] | None = None,
    ) -> None:
        refuse_rule_arguments(rule_conf, rule_registry)
        config = JSONDeserializerConfig.load(conf)
        schema = as_schema(schema_str, JSON)
        if schema is None and schema_registry_client is None:
            raise ConfigError("schema_str", "needed where there is no client to find the writers' schemas")
        _compile_early(schema.text if schema else None, config.dialect)
        loads: Callable[[bytes], Any] = orjson.loads
        if json_decode is not None:
            decode_text = json_decode
            loads = lambda payload: decode_text(payload.decode())  # noqa: E731  # one of two

        def decoder(writer: Resolved | None, reader: Resolved | None) -> Decode:
            used = reader or writer
            if not config.validate or used is None:
                return lambda message, offset: loads(message[offset:])
            validate = compile_validator(used[0].text, used[1], config.dialect)

            def decode(message: bytes, offset: int) -> Any:
                datum = loads(message[offset:])
                validate(datum)
                return datum

            return decode

        form = ReaderFormat(
            JSON,
            title,
            decoder,
            (jsonschema_rs.ValidationError, ValueError, RecursionError),
            _explain_payload,
            needs_writer=schema_registry_client is not None,
            needs_references=config.validate,
        )
        super().__init__(schema_registry_client, form, config, schema.text if schema else None, from_dict)


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


def compile_validator(text: str, dependencies: Dependencies, dialect: str = "draft_7") -> Validate:
    """The function that raises jsonschema_rs.ValidationError for a datum that the schema refuses.

    References lead to the dependencies, by their names as they stand or relative to an `$id`; never to the network.

    Args:
        text: The schema.
        dependencies: What it refers to.
        dialect: That of schemas whose `$schema` is missing or unknown.

    Raises:
        SchemaCompileError: the schema is not JSON, breaks its dialect's rules, or refers to what is not there.
    """
    schema = _parse(text)
    known = {dependency.name: _parse(dependency.text) for dependency in dependencies}
    bases = [_NO_BASE, *known, *(found for each in (schema, *known.values()) if (found := _id(each)))]
    resources = {urljoin(base, name): each for name, each in known.items() for base in bases}
    resources |= {found: each for each in known.values() if (found := _id(each))} | known

    def retrieve(uri: str) -> Any:
        if uri not in resources:
            raise LookupError(f"no reference is named {uri}")
        return resources[uri]

    named = schema.get("$schema") if isinstance(schema, dict) else None
    match = _DIALECT.fullmatch(named) if isinstance(named, str) else None
    if match is not None:
        dialect = match[1].replace("-0", "_").replace("/", "_").replace("-", "_")
    elif named is not None:
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    try:
        validate: Validate = _VALIDATORS[dialect](schema, retriever=retrieve, base_uri=_NO_BASE).validate
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise SchemaCompileError(JSON, getattr(error, "message", "") or str(error)) from error
    return validate


def _compile_early(schema: SchemaText | None, dialect: str) -> None:
    """Refuses a schema at once where that needs nothing of the registry."""
    if schema is not None and not schema.references:
        compile_validator(schema.text, (), dialect)


def _parse(text: str) -> Any:
    try:
        schema = orjson.loads(text)
    except ValueError as error:
        raise SchemaCompileError(JSON, f"the schema is not JSON: {error}") from error
    if not isinstance(schema, dict | bool):
        raise SchemaCompileError(JSON, "the schema is neither an object nor true or false")
    return schema


def _id(schema: Any) -> str | None:
    found = (schema.get("$id") or schema.get("id")) if isinstance(schema, dict) else None
    return found if isinstance(found, str) else None


def _dumps(datum: Any) -> bytes:
    try:
        return orjson.dumps(datum)
    except TypeError:
        if _not_json(datum, ()) is not None:
            raise
        # orjson stops at 64 bits; JSON's integers have no bounds.
        return json.dumps(datum, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _text_of(encode: Callable[[Any], str | bytes]) -> Callable[[Any], bytes]:
    def dumps(datum: Any) -> bytes:
        text = encode(datum)
        return text.encode() if isinstance(text, str) else text

    return dumps


def _explain_datum(error: Exception, datum: Any) -> Exception:
    if isinstance(error, jsonschema_rs.ValidationError):
        return DatumMismatch(data_path(error.instance_path), type(error.instance).__name__, error.message)
    path, value = _not_json(datum, ()) or ((), datum)
    return DatumMismatch(data_path(path), type(value).__name__, "what JSON can hold")


def _explain_payload(error: Exception, message: bytes) -> Exception:  # noqa: ARG001  # as of every type
    if isinstance(error, jsonschema_rs.ValidationError):
        return PayloadError(f"{data_path(error.instance_path)}: {error.message}")
    return PayloadError(f"not JSON: {error}")


def data_path(parts: Any) -> str:
    """The path of keys and indexes as `$.key[index]`."""
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def _not_json(value: Any, path: tuple[str | int, ...]) -> tuple[tuple[str | int, ...], Any] | None:
    """The first place in a datum that JSON has no form for, or that is deeper than orjson goes."""
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
