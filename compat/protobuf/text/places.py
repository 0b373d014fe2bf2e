"""Where the declarations of a file stand."""

from __future__ import annotations

from collections.abc import Iterator

from compat.protobuf.text.nodes import Enum, File, Message
from compat.schema import Pointer


def places(tree: File) -> Iterator[tuple[Pointer, int]]:
    """Every message, enum, oneof, field and enum value by its pointer, with the token it begins at."""
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
    for constant in reversed(enum.constants):  # of values that share a number the first counts
        yield (*outer, enum.name, constant.number), constant.at
