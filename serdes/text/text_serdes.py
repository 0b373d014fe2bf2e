"""Serializers that take JSON text instead of Python data, and deserializers that return it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from json import JSONDecodeError
from typing import Any

from compat.schema import Dependencies, SchemaText
from serdes.client.clients import RegistryClient
from serdes.error import PayloadError, SchemaCompileError, SerializationError
from serdes.message.config import DeserializerConfig
from serdes.message.deserializer import Deserializer
from serdes.message.reading import ReaderFormat
from serdes.message.serializer import Serializer
from serdes.message.writing import Encoder
from serdes.rules.settings import RuleSettings
from serdes.schema import Schema
from serdes.text import TextOptions, Unfit, deserializing, remarking, serializing, text_form
from serdes.text.json_position import offset_of

#: Changes the settings of rules of a serializer or deserializer.
AdaptRules = Callable[[RuleSettings], RuleSettings]


def unchanged_rules(settings: RuleSettings) -> RuleSettings:
    """The settings as they are."""
    return settings


@dataclass(unsafe_hash=True)
class BadText(SerializationError):
    """A text that is not a datum of its schema: the problem, its path, and its offset in characters."""

    problem: str
    offset: int
    path: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" if self.path else self.problem


def text_serializer(  # `kind` is for dry runs
    client: RegistryClient,
    schema: Schema | None,
    schema_type: str,
    conf: Mapping[str, Any],
    options: TextOptions,
    kind: type[Serializer] = Serializer,
    adapt_rules: AdaptRules = unchanged_rules,
) -> Serializer:
    """A serializer that takes JSON texts.

    Args:
        client: The registry's client.
        schema: The schema; None if a setting says which of the registry's to use.
        schema_type: The schema's type.
        conf: Settings by name.
        options: The options of the text form.
        kind: The class to make.
        adapt_rules: Changes the settings of rules that `conf` has.

    Raises:
        ConfigError: A setting is unknown or contradicts another.
        SchemaCompileError: The schema is invalid.
    """
    type_form = text_form(schema_type)
    config, parse = type_form.writing.load(conf), type_form.parse
    form = serializing(schema.text if schema else None, schema_type, config, options)

    def encoder(schema_text: SchemaText, dependencies: Dependencies) -> Encoder:
        return of_texts(form.encoder(schema_text, dependencies))

    def of_texts(data_encoder: Encoder) -> Encoder:
        make = data_encoder.with_rules
        ruled = None if make is None else lambda: of_texts(make())
        return replace(data_encoder, encode=lambda text: data_encoder.encode(parse(text)), with_rules=ruled)

    rules = adapt_rules(config.rules())
    return kind(client, replace(form, encoder=encoder, explain=_explain_text), config, schema, rules=rules)


def text_deserializer(
    client: RegistryClient,
    schema_type: str,
    conf: Mapping[str, Any],
    options: TextOptions,
    adapt_rules: AdaptRules = unchanged_rules,
) -> Deserializer:
    """A deserializer that returns texts in UTF-8; `adapt_rules` changes the settings of rules that `conf` has.

    Raises:
        ConfigError: A setting is unknown or contradicts another.
    """
    return _reading(client, schema_type, conf, options, adapt_rules, deserializing)


def remarking_deserializer(
    client: RegistryClient,
    schema_type: str,
    conf: Mapping[str, Any],
    options: TextOptions,
    adapt_rules: AdaptRules = unchanged_rules,
) -> Deserializer:
    """As `text_deserializer`, but it returns `Remarked`s: texts with the remarks on them.

    Raises:
        ConfigError: A setting is unknown or contradicts another.
    """
    return _reading(client, schema_type, conf, options, adapt_rules, remarking)


def _reading(
    client: RegistryClient,
    schema_type: str,
    conf: Mapping[str, Any],
    options: TextOptions,
    adapt_rules: AdaptRules,
    make_form: Callable[[str, DeserializerConfig, TextOptions], ReaderFormat],
) -> Deserializer:
    config = text_form(schema_type).reading.load(conf)
    form = make_form(schema_type, config, options)
    rules = adapt_rules(config.rules())
    return Deserializer(client, replace(form, explain=_explain_payload), config, rules=rules)


def _explain_text(error: Exception, text: Any) -> Exception:
    """The exception for the caller, made from an encoder's exception and the text."""
    if isinstance(error, JSONDecodeError):
        return BadText(f"it is not JSON: {error.msg}", error.pos)
    if isinstance(error, SerializationError | SchemaCompileError):
        return error
    path = getattr(error, "path", None)
    if path is None:
        return BadText(str(error) or type(error).__name__, 0)
    return BadText(str(error).removeprefix(f"{path}: "), offset_of(text, path), path)


def _explain_payload(error: Exception, message: bytes) -> Exception:  # noqa: ARG001  # the signature of all types
    if isinstance(error, SerializationError | SchemaCompileError):
        return error
    if isinstance(error, Unfit):
        return PayloadError(f"{error.path}: {error}")
    position = getattr(error, "position", None)
    if position is not None and hasattr(error, "detail") and hasattr(error, "path"):
        return PayloadError(f"{error.path}: {error.detail}", position)
    return PayloadError(str(error) or type(error).__name__)
