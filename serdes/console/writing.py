"""A field's serializer of texts, its schema settled before the first line is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from serdes.client import RegistryClient
from serdes.console.misfit import TextOptions
from serdes.console.text import TEXT_FORMATS, explain_text, text_serializer, writer_form
from serdes.error import ConfigError
from serdes.schema import Schema
from serdes.serialization import SerializationContext

Serialize = Callable[[str, list[tuple[str, bytes | None]]], bytes | None]


def writer(
    client: RegistryClient,
    own: Schema | None,
    schema_type: str,
    conf: Mapping[str, Any],
    options: TextOptions,
    topic: str,
    field: str,
    *,
    dry_run: bool = False,
) -> Serialize:
    """The function from a text and the record's headers to the field's bytes.

    Args:
        client: The registry's client.
        own: The schema to register or look up; None where the settings name one of the registry's.
        schema_type: Its type.
        conf: The serializer's settings.
        options: What the schema does not say.
        topic: What the schema is for.
        field: `key` or `value`.
        dry_run: Register nothing.

    Raises:
        SerdesError: The registry refuses the schema or does not answer, or the schema or a setting is wrong.
    """
    if dry_run:
        return _dry(client, own, schema_type, conf, options, topic, field)
    serializer = text_serializer(client, own, schema_type, conf, options)
    client.drive(serializer.prepared(SerializationContext(topic, field, [])))

    def serialize(text: str, headers: list[tuple[str, bytes | None]]) -> bytes | None:
        return serializer(text, SerializationContext(topic, field, headers))

    return serialize


def _dry(
    client: RegistryClient,
    own: Schema | None,
    schema_type: str,
    conf: Mapping[str, Any],
    options: TextOptions,
    topic: str,
    field: str,
) -> Serialize:
    config = TEXT_FORMATS[schema_type].writing.load(conf)
    form = writer_form(own, schema_type, config, options)
    if own is not None:
        schema = own.text
    elif config.use_schema_id is not None:
        schema = client.schema_by_id(config.use_schema_id).schema
    elif config.use_latest_version:
        context = SerializationContext(topic, field)
        schema = client.version(client.drive(config.naming.subject(client.endpoints, context, None))).schema
    else:
        raise ConfigError(f"{field}.schema", "is needed for --dry-run")
    encode = form.encoder(schema, client.dependencies(schema)).encode

    def serialize(text: str, headers: list[tuple[str, bytes | None]]) -> bytes | None:
        del headers
        try:
            payload: bytes = encode(text)
        except form.errors as error:
            raise explain_text(error, text) from error
        return payload

    return serialize
