"""The places of a file's declarations."""

from __future__ import annotations

from collections.abc import Iterator

from compat.protobuf.text.nodes import Enum, File, Message
from compat.schema import Pointer


def places(tree: File) -> Iterator[tuple[Pointer, int]]:
    """All messages, enums, oneofs, fields and enum values by pointer, with the index of their first token."""
    yield (), tree.package_at
    for enum in tree.enums:
        yield from _enum_places(enum, ())
    for message in tree.messages:
        yield from _message_places(message, ())


def _message_places(message: Message, outer: Pointer) -> Iterator[tuple[Pointer, int]]:
    pointer = (*outer, message.name)
    yield pointer, message.at
    for oneof in message.oneofs:
        yield (*pointer, oneof.name), oneof.at
    for field in (*message.fields, *(field for oneof in message.oneofs for field in oneof.fields)):
        yield (*pointer, field.number), field.at
    for enum in message.enums:
        yield from _enum_places(enum, pointer)
    for nested in message.messages:
        yield from _message_places(nested, pointer)


def _enum_places(enum: Enum, outer: Pointer) -> Iterator[tuple[Pointer, int]]:
    yield (*outer, enum.name), enum.at
    for constant in reversed(enum.constants):  # if values share a number, the first one counts
        yield (*outer, enum.name, constant.number), constant.at
