"""Texts instead of data: serializers whose data are lines of JSON, and deserializers that give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from json import JSONDecodeError
from typing import Any

from compat.schema import Dependencies, SchemaText
from serdes.client.clients import RegistryClient
from serdes.console.produce.json_position import offset_of
from serdes.error import PayloadError, SchemaCompileError, SerializationError
from serdes.message.deserializer import Deserializer
from serdes.message.json_bytes import loads
from serdes.message.serializer import Encoder, Serializer
from serdes.schema import Schema
from serdes.text import TextOptions, Unfit, deserializing, serializing, text_form


@dataclass(unsafe_hash=True)
class BadText(SerializationError):
    """A text that is no datum of its schema: what is wrong, at which path, and at which of the text's characters."""

    problem: str
    offset: int
    path: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" if self.path else self.problem


def text_serializer(  # the last one is for dry runs
    client: RegistryClient,
    own: Schema | None,
    schema_type: str,
    conf: Mapping[str, Any],
    options: TextOptions,
    kind: type[Serializer] = Serializer,
) -> Serializer:
    """A serializer of texts.

    Raises:
        ConfigError: A setting is unknown or contradicts another.
        SchemaCompileError: The schema is none.
    """
    config = text_form(schema_type).writing.load(conf)
    form = serializing(own.text if own else None, schema_type, config, options)

    def encoder(schema: SchemaText, dependencies: Dependencies) -> Encoder:
        made = form.encoder(schema, dependencies)
        return replace(made, encode=lambda text: made.encode(loads(text)))

    return kind(client, replace(form, encoder=encoder, explain=_explain_text), config, own)


def text_deserializer(
    client: RegistryClient, schema_type: str, conf: Mapping[str, Any], options: TextOptions
) -> Deserializer:
    """A deserializer that gives texts in UTF-8.

    Raises:
        ConfigError: A setting is unknown or contradicts another.
    """
    config = text_form(schema_type).reading.load(conf)
    form = deserializing(schema_type, config, options)
    return Deserializer(client, replace(form, explain=_explain_payload), config)


def _explain_text(error: Exception, text: Any) -> Exception:
    """The exception for what an encoder raised about a text."""
    if isinstance(error, JSONDecodeError):
        return BadText(f"it is not JSON: {error.msg}", error.pos)
    if isinstance(error, SerializationError | SchemaCompileError):
        return error
    path = getattr(error, "path", None)
    if path is None:
        return BadText(str(error) or type(error).__name__, 0)
    return BadText(str(error).removeprefix(f"{path}: "), offset_of(text, path), path)


def _explain_payload(error: Exception, message: bytes) -> Exception:  # noqa: ARG001  # as of every type
    if isinstance(error, SerializationError | SchemaCompileError):
        return error
    if isinstance(error, Unfit):
        return PayloadError(f"{error.path}: {error}")
    position = getattr(error, "position", None)
    if position is not None and hasattr(error, "detail") and hasattr(error, "path"):
        return PayloadError(f"{error.path}: {error.detail}", position)
    return PayloadError(str(error) or type(error).__name__)
