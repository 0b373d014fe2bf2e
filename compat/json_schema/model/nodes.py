"""The model that JSON Schemas are compared in: one kind of node per kind of value, as the reference's loader has it.

`type: [a, b]` is an anyOf, a type beside `enum`, `const` or a combinator is an allOf, and keywords without a type
imply theirs. Nodes are compared by identity; pointers lead to the schema's source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from compat.schema import Pointer


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """What all kinds of schema have.

    Attributes:
        at: Where the schema stands in the compared text; None in a schema that it refers to by name.
        raw: The schema as JSON.
        id: The value of `$id` (`id` in draft 4).
        default: The default's canonical text; None where there is none.
        connect_type: Kafka Connect's type, where the schema was made by Connect.
    """

    at: Pointer | None
    raw: Any
    id: str | None = None
    title: str | None = None
    description: str | None = None
    default: str | None = None
    connect_type: str | None = None

    def keyword(self, name: str) -> Pointer | None:
        """Where a keyword of this schema stands, if it does."""
        if self.at is None or not isinstance(self.raw, dict) or name not in self.raw:
            return None
        return (*self.at, name)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Empty(Node):
    """A schema that accepts everything: `true`, `{}`, or one with annotations only."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Never(Node):
    """The schema `false`."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Null(Node):
    """`type: null`."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Boolean(Node):
    """`type: boolean`."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class String(Node):
    """`type: string`, or keywords for strings; lengths in characters."""

    min_length: Decimal | None = None
    max_length: Decimal | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Number(Node):
    """`type: number` or `integer`, or keywords for numbers."""

    integer: bool = False
    minimum: Decimal | None = None
    maximum: Decimal | None = None
    exclusive_minimum: Decimal | None = None
    exclusive_maximum: Decimal | None = None
    multiple_of: Decimal | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Enum(Node):
    """`enum`: canonical texts of the permitted values."""

    values: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Const(Node):
    """`const`: canonical text of the permitted value."""

    value: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Not(Node):
    """`not`."""

    body: Node


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Conditional(Node):
    """`if`, `then`, `else`: the reference does not compare what stands in them."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Combined(Node):
    """`allOf`, `anyOf` or `oneOf`, or what amounts to one of them.

    `members` has equal members once; `size` counts them all.
    """

    criterion: str
    members: tuple[Node, ...]
    size: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Object(Node):
    """`type: object`, or keywords for objects.

    `additional` is False for none, True for any (the keyword's absence included), else the schema they must match.
    """

    properties: Mapping[str, Node] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    patterns: tuple[tuple[str, Node], ...] = ()
    additional: Node | bool = True
    unevaluated: Node | None = None
    dependent_required: Mapping[str, frozenset[str]] = field(default_factory=dict)
    dependent_schemas: Mapping[str, Node] = field(default_factory=dict)
    dependencies_keywords: tuple[str, ...] = ()
    min_properties: Decimal | None = None
    max_properties: Decimal | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Array(Node):
    """`type: array`, or keywords for arrays.

    `all_items` is the schema of every item where there is no tuple; `items` are the tuple's schemas; `additional` is
    as in Object, for what comes after the tuple. `min_contains` is None if nothing need match, since there is no
    `contains` or the draft has no number for it.
    """

    all_items: Node | None = None
    items: tuple[Node, ...] = ()
    additional: Node | bool = True
    unevaluated: Node | None = None
    min_items: Decimal | None = None
    max_items: Decimal | None = None
    unique_items: bool = False
    min_contains: Decimal | None = None
    max_contains: Decimal | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reference(Node):
    """`$ref`: `targets` is filled once the whole schema is loaded."""

    key: int
    targets: Mapping[int, Node]

    @property
    def target(self) -> Node:
        """The schema that the reference leads to, which may be a reference again."""
        return self.targets[self.key]


_UNCONSTRAINED = Empty(at=None, raw=True)


def follow(node: Node) -> Node:
    """The schema at the end of a chain of references; one that only leads back to itself constrains nothing."""
    seen: set[int] = set()
    while isinstance(node, Reference):
        if id(node) in seen:
            return _UNCONSTRAINED
        seen.add(id(node))
        node = node.target
    return node
