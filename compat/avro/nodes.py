"""The nodes of an Avro schema.

Nodes compare by identity: a recursive record contains itself, and a named type that is used twice is one node. They
are msgspec structs because a schema has many nodes and structs are created ten times as fast as frozen dataclasses.
Nodes that cannot be part of a cycle are exempt from garbage collection (`gc=False`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from msgspec import Struct
from msgspec.structs import force_setattr

PRIMITIVE_TYPES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
COMPLEX_TYPES = frozenset({"record", "enum", "array", "map", "union", "fixed"})

#: JSON values by property name, in the order of the source; without the reserved attributes.
Props = Mapping[str, Any]


class _NoDefault:
    """The type of NO_DEFAULT."""

    def __repr__(self) -> str:
        return "NO_DEFAULT"


#: Marks a field without a default; None cannot, because null is a default.
NO_DEFAULT: Final = _NoDefault()


class Name(Struct, frozen=True, gc=False):
    """A name and its namespace; the namespace is None if there is none."""

    name: str
    space: str | None

    @classmethod
    def of(cls, name: str, space: str | None) -> Name:
        """The name as a schema gives it; dots in the name override the given or enclosing namespace."""
        before, dot, last = name.rpartition(".")
        return cls(last, (before if dot else space) or None)

    @property
    def full(self) -> str:
        """The namespace and the name, joined by a dot."""
        return self.name if self.space is None else f"{self.space}.{self.name}"


class Primitive(Struct, frozen=True, eq=False, gc=False):
    """null, boolean, int, long, float, double, bytes or string."""

    type: str
    props: Props


class Array(Struct, frozen=True, eq=False):
    """A sequence of values of one type."""

    type: ClassVar[str] = "array"
    items: Node
    props: Props


class Map(Struct, frozen=True, eq=False):
    """Values of one type by string keys."""

    type: ClassVar[str] = "map"
    values: Node
    props: Props


class Union(Struct, frozen=True, eq=False):
    """A value of one of several types.

    `types` are the type names of the branches, such as null and record. `text` is the canonical text if the parser
    knows it: that of two primitive types without attributes, as most unions are.
    """

    type: ClassVar[str] = "union"
    branches: tuple[Node, ...]
    types: frozenset[str]
    text: str | None = None


class Fixed(Struct, frozen=True, eq=False, gc=False):
    """A fixed number of bytes."""

    type: ClassVar[str] = "fixed"
    name: Name
    size: int
    doc: str | None
    aliases: tuple[Name, ...]
    props: Props


class Enum(Struct, frozen=True, eq=False, gc=False):
    """One of several symbols; a reader uses `default` for an unknown symbol."""

    type: ClassVar[str] = "enum"
    name: Name
    symbols: tuple[str, ...]
    default: str | None
    doc: str | None
    aliases: tuple[Name, ...]
    props: Props


class Field(Struct, frozen=True, eq=False):
    """A member of a record; `default` is NO_DEFAULT or a JSON value."""

    name: str
    type: Node
    default: Any
    order: str
    doc: str | None
    aliases: tuple[str, ...]
    props: Props

    @property
    def has_default(self) -> bool:
        """Whether a reader can fill in the field if the writer does not have it."""
        return self.default is not NO_DEFAULT


class Record(Struct, frozen=True, eq=False):
    """Named fields in order.

    The fields may have the record's own type, so the record is created first and the parser sets them with `complete`.
    """

    type: ClassVar[str] = "record"
    name: Name
    is_error: bool
    doc: str | None
    aliases: tuple[Name, ...]
    props: Props
    fields: tuple[Field, ...] = ()
    by_name: Mapping[str, Field] = {}
    is_complete: bool = False

    def complete(self, by_name: Mapping[str, Field]) -> None:
        """Set the fields by name and in order; nothing else in a record ever changes."""
        force_setattr(self, "fields", tuple(by_name.values()))
        force_setattr(self, "by_name", by_name)
        force_setattr(self, "is_complete", True)


Named = Record | Enum | Fixed
#: The same for isinstance. On hot paths use `node.__class__ is Record`, which takes a third of the time.
NAMED = (Record, Enum, Fixed)
Node = Primitive | Array | Map | Union | Fixed | Enum | Record


def type_name(node: Node) -> str:
    """The type's name in messages, such as RECORD."""
    return node.type.upper()


def branch_name(node: Node) -> str:
    """The name that distinguishes a union's branch: the full name of a named type, else the type."""
    if node.__class__ is Primitive:
        return node.type
    return node.name.full if isinstance(node, NAMED) else node.type


def children(node: Node) -> Iterator[tuple[tuple[str | int, ...], Node]]:
    """The direct child nodes of a node, with their pointers relative to it in the schema's text."""
    if isinstance(node, Record):
        for index, member in enumerate(node.fields):
            yield ("fields", index, "type"), member.type
    elif isinstance(node, Array):
        yield ("items",), node.items
    elif isinstance(node, Map):
        yield ("values",), node.values
    elif isinstance(node, Union):
        for index, branch in enumerate(node.branches):
            yield (index,), branch


def reachable(root: Node) -> Iterator[Node]:
    """A node and all nodes inside it, each once, the outer before the inner and in the schema's order."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        waiting += [child for _, child in children(node)][::-1]
