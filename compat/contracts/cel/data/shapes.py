"""The shapes of data that a schema describes, as far as CEL tells them apart.

Shapes compare by identity, because a recursive record contains itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

#: Marks a field without a default; None cannot, because null is a default.
ABSENT: Final = object()


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A value without parts.

    Attributes:
        type: `bool`, `int`, `uint`, `double`, `string`, `bytes`, `timestamp` or `decimal`.
        units: For times: the units of a stored int in a second; 0 otherwise.
        scale: For decimals: the scale of stored bytes.
    """

    type: str
    units: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A list."""

    items: Shape


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """A map with string keys."""

    values: Shape


@dataclass(frozen=True, slots=True, eq=False)
class Anything:
    """A value of any type, or of one of several.

    Attributes:
        branches: The shapes of a union's branches by name; none if the schema says nothing.
    """

    branches: Mapping[str, Shape] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Nullable:
    """A value of a shape, or null; `name` is the name of the branch that is not null."""

    shape: Shape
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A field of a record: its shape, its full name in the schema, and its default or ABSENT."""

    shape: Shape
    full_name: str
    default: Any = ABSENT


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """Named fields; they are filled in after the record is made, because they may contain it."""

    name: str
    fields: dict[str, Member] = field(default_factory=dict)


Shape = Scalar | Items | Entries | Anything | Nullable | Record

BOOL, INT, DOUBLE = Scalar("bool"), Scalar("int"), Scalar("double")
STRING, BYTES = Scalar("string"), Scalar("bytes")
ANYTHING = Anything()


def leaf(shape: Shape) -> Shape:
    """The shape of the values in lists, maps and unions with null: what a field rule visits."""
    while True:
        if isinstance(shape, Nullable):
            shape = shape.shape
        elif isinstance(shape, Items):
            shape = shape.items
        elif isinstance(shape, Entries):
            shape = shape.values
        else:
            return shape


def records(root: Shape) -> list[Record]:
    """All records of a shape, in the order in which they are met."""
    found: dict[int, Record] = {}
    pending, seen = [root], set()
    while pending:
        shape = leaf(pending.pop())
        if id(shape) in seen:
            continue
        seen.add(id(shape))
        if isinstance(shape, Record):
            found[id(shape)] = shape
            pending.extend(member.shape for member in reversed(shape.fields.values()))
        elif isinstance(shape, Anything):
            pending.extend(shape.branches.values())
    return list(found.values())
