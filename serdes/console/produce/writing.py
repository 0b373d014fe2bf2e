"""The serializer of a key or value from text; its schema is chosen before the first line is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from compat.schema import SchemaText
from serdes.client.clients import RegistryClient
from serdes.client.flow import Flow
from serdes.client.models import RegisteredSchema, SchemaInfo
from serdes.error import SerializationError
from serdes.message import wire
from serdes.message.serializer import Serializer
from serdes.schema import Schema
from serdes.serialization import SerializationContext
from serdes.text import TextOptions
from serdes.text.text_serdes import AdaptRules, text_serializer, unchanged_rules

Serialize = Callable[[str, list[tuple[str, bytes | None]]], bytes | None]

#: The guid of a schema that a dry run does not register.
_NO_GUID = "00000000-0000-0000-0000-000000000000"


class DrySerializer(Serializer):
    """A serializer that neither registers nor looks up its own schema."""

    def registered(self, subject: str, own_schema: SchemaText | None) -> Flow[RegisteredSchema | SchemaInfo]:
        """The serializer's own schema as it is, or the version that a setting names."""
        if own_schema is None or self.names_schema:
            return (yield from super().registered(subject, own_schema))
        return RegisteredSchema(subject, 0, 0, _NO_GUID, own_schema, None, self.rule_set)


def writer(
    client: RegistryClient,
    schema: Schema | None,
    schema_type: str,
    conf: Mapping[str, Any],
    options: TextOptions,
    topic: str,
    field: str,
    *,
    dry_run: bool = False,
    adapt_rules: AdaptRules = unchanged_rules,
) -> Serialize:
    """Makes the function from a text and the record's headers to the field's bytes.

    If the frame goes into a header, it replaces the record's headers of this name. If it goes before the payload, the
    function refuses a record with such a header.

    Args:
        client: The registry's client.
        schema: The schema to register or look up; None if a setting names one of the registry's.
        schema_type: The schema's type.
        conf: The serializer's settings.
        options: The options of the text format.
        topic: The topic that the schema is for.
        field: `key` or `value`.
        dry_run: Do not register or look up the schema.
        adapt_rules: Changes the settings of rules that `conf` has.

    Raises:
        SerdesError: The registry refuses the schema or does not answer, or the schema or a setting is invalid.
    """
    kind = DrySerializer if dry_run else Serializer
    serializer = text_serializer(client, schema, schema_type, conf, options, kind, adapt_rules)
    client.drive(serializer.chosen(SerializationContext(topic, field, [])))
    name = wire.header_name(is_key=field == "key")
    in_header = serializer.in_header(is_key=field == "key")

    def serialize(text: str, headers: list[tuple[str, bytes | None]]) -> bytes | None:
        if headers and not in_header and wire.find_header(headers, name) is not None:
            raise SerializationError(
                f"readers would take the schema that the header {name} names: leave this header out, or write the frame"
                f" into it with {field}.schema.id.serializer=HeaderSchemaIdSerializer"
            )
        return serializer(text, SerializationContext(topic, field, headers))

    return serialize
