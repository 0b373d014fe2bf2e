"""Faults that protoc refuses in a new file, and that a stored text may have: its meaning is clear.

The reference's normalized texts list the values of an enum by number, so that a negative one precedes the zero that has
to be the first. A oneof without fields means nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from compat.protobuf.checks.checking import Problem
from compat.protobuf.program.unit import Unit
from compat.protobuf.text.nodes import (
    Aggregate,
    Constant,
    Enum,
    File,
    Message,
    Oneof,
    Option,
    Word,
    nested_messages,
)


def first_is_zero(file: File, enum: Enum) -> bool:
    """Whether the first value of an enum has to be zero: it is open, and a field without a value has the first one."""
    if file.syntax == "editions":
        return not any(_closes(option) for option in (*file.options, *enum.options))
    return file.syntax == "proto3"


def _closes(option: Option) -> bool:
    closed = Word("CLOSED")
    return (option.value == closed and option.name == (("features", False), ("enum_type", False))) or (
        option.name == (("features", False),)
        and isinstance(option.value, Aggregate)
        and ("enum_type", closed) in option.value.entries
    )


def valid_order(file: File, enum: Enum) -> tuple[Constant, ...]:
    """The values of an enum, with the zeros first if one has to be the first."""
    constants = enum.constants
    if not constants or constants[0].number == 0 or not first_is_zero(file, enum):
        return constants
    zeros = [constant for constant in constants if constant.number == 0]
    return (*zeros, *(constant for constant in constants if constant.number != 0)) if zeros else constants


def valid_oneofs(message: Message) -> tuple[Oneof, ...]:
    """The oneofs of a message that have fields."""
    return tuple([oneof for oneof in message.oneofs if oneof.members])


def check_new(unit: Unit) -> None:
    """Raise InvalidSchema for the first fault of a new file that a stored one may have."""
    tree = unit.tree
    problems = [
        *(problem for enum in tree.enums for problem in _enum(tree, enum)),
        *(problem for message in tree.messages for problem in _message(tree, message)),
        *(problem for extend in tree.extends for group in extend.groups for problem in _message(tree, group.message)),
    ]
    for message, at in sorted(problems, key=lambda problem: problem[1]):
        unit.fail(message, at)


def _message(tree: File, message: Message) -> Iterator[Problem]:
    for oneof in message.oneofs:
        if not oneof.members:
            yield f'the oneof "{oneof.name}" must have at least one field', oneof.at
    for enum in message.enums:
        yield from _enum(tree, enum)
    for nested in nested_messages(message):
        yield from _message(tree, nested)


def _enum(tree: File, enum: Enum) -> Iterator[Problem]:
    if valid_order(tree, enum) is not enum.constants:
        yield f'the first value of the {tree.syntax} enum "{enum.name}" must be zero', enum.constants[0].at
