"""The types that a file declares, and the names of the types that it uses."""

from __future__ import annotations

from collections.abc import Iterator

from compat.protobuf.program.unit import ENUM, MESSAGE, Unit
from compat.protobuf.text.nodes import SCALAR_TYPES, Extend, File, MapType, Member


def declared_types(tree: File) -> tuple[str, ...]:
    """The full names of a file's messages and enums."""
    return tuple(name for name, symbol in Unit("", tree, None).symbols.items() if symbol.kind in {MESSAGE, ENUM})


def used_types(tree: File) -> set[str]:
    """The names of types, as they are written in fields, extensions and methods."""
    return {name.removeprefix(".") for name in _names(tree) if name not in SCALAR_TYPES}


def _names(tree: File) -> Iterator[str]:
    yield from _extensions(tree.extends)
    for _, message in tree.walk():
        for member in (*message.fields, *(member for oneof in message.oneofs for member in oneof.members)):
            yield from _type(member)
        yield from _extensions(message.extends)
    for service in tree.services:
        for method in service.methods:
            yield from (method.input, method.output)


def _extensions(extends: tuple[Extend, ...]) -> Iterator[str]:
    for extend in extends:
        yield extend.extendee
        for member in extend.members:
            yield from _type(member)


def _type(member: Member) -> Iterator[str]:
    kind = getattr(member, "type", None)  # a group's type is declared inside it
    if isinstance(kind, MapType):
        yield kind.value
    elif kind is not None:
        yield kind
