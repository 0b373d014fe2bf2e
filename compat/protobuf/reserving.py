"""The numbers and names that messages and enums use or reserve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from compat.protobuf.text.nodes import Enum, File, Message, bounds
from compat.schema import Pointer


class Numbered(NamedTuple):
    """The fields of a message or the values of an enum, with the reserved numbers and names."""

    is_enum: bool
    #: By number; of an enum's aliases, the last one.
    names: Mapping[int, str]
    #: All numbers and names, aliases included.
    all_names: frozenset[tuple[int, str]]
    ranges: tuple[tuple[int, int], ...]
    reserved_names: frozenset[str]

    def reserves(self, number: int) -> bool:
        """Whether a number is reserved."""
        return any(start <= number <= end for start, end in self.ranges)


def numbered(tree: File) -> Iterator[tuple[Pointer, Numbered]]:
    """All messages and enums of a file by pointer, outer ones first."""
    for enum in tree.enums:
        yield (enum.name,), _of_enum(enum)
    todo: list[tuple[Pointer, Message]] = [((message.name,), message) for message in tree.messages]
    while todo:
        pointer, message = todo.pop(0)
        yield pointer, _of_message(message)
        for enum in message.enums:
            yield (*pointer, enum.name), _of_enum(enum)
        todo += [((*pointer, inner.name), inner) for inner in message.messages]


def _of_message(message: Message) -> Numbered:
    names = [(field.number, field.name) for field in message.fields]
    names += [(group.number, group.name) for group in message.groups]
    names += [(member.number, member.name) for oneof in message.oneofs for member in oneof.members]
    return _numbered(message, names, is_enum=False)


def _of_enum(enum: Enum) -> Numbered:
    return _numbered(enum, [(constant.number, constant.name) for constant in enum.constants], is_enum=True)


def _numbered(node: Message | Enum, names: list[tuple[int, str]], *, is_enum: bool) -> Numbered:
    values = [value for reserved in node.reserved for value in reserved.values]
    ranges = tuple(bounds(value) for value in values if not isinstance(value, str))
    reserved_names = frozenset(value for value in values if isinstance(value, str))
    return Numbered(is_enum, dict(names), frozenset(names), ranges, reserved_names)
