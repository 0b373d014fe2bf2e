"""The forms of Protobuf data in migrations: the JSON form of messages, as in confluent-kafka and Java."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serdes.rules.jsonata.values import protobuf_document, protobuf_message
from serdes.rules.migrations.migrated import Read, Written


def json_form(decode: Callable[[bytes, int], Any], new_message: Callable[[str], Any]) -> Read:
    """Rules see the JSON form: lowerCamelCase names, and all fields without presence.

    Args:
        decode: The decoder to messages of the writer's schema.
        new_message: Takes the full name of a message; returns an empty one of the reader's schema.
    """

    def read(message: bytes, offset: int) -> Written:
        written = decode(message, offset)
        empty = new_message(written.DESCRIPTOR.full_name)
        return Written(protobuf_document(written), lambda result: protobuf_message(result, empty))

    return read
