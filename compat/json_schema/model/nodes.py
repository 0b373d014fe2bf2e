"""The model for comparing JSON Schemas: one kind of node per kind of value, as in the reference's loader.

`type: [a, b]` becomes an anyOf, a type beside `enum`, `const` or a combinator becomes an allOf, and keywords without a
type imply one. Nodes compare by identity; pointers refer to the schema's source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from compat.schema import Pointer


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """A schema of any kind.

    Attributes:
        at: The schema's place in the compared text; None if it is in a referenced schema.
        raw: The schema as a JSON value.
        id: The value of `$id` (`id` in draft 4).
        default: The canonical text of the default; None if there is none.
        connect_type: Kafka Connect's type, if Connect generated the schema.
    """

    at: Pointer | None
    raw: Any
    id: str | None = None
    title: str | None = None
    description: str | None = None
    default: str | None = None
    connect_type: str | None = None

    def keyword(self, name: str) -> Pointer | None:
        """The place of a keyword of this schema; None if it is absent."""
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
    """`enum`: the canonical texts of the permitted values."""

    values: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Const(Node):
    """`const`: the canonical text of the permitted value."""

    value: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Not(Node):
    """`not`."""

    body: Node


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Conditional(Node):
    """`if`, `then`, `else`: the reference does not compare their schemas."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Combined(Node):
    """`allOf`, `anyOf` or `oneOf`, or an equivalent of one of them.

    Equal members occur once in `members`; `size` counts all of them.
    """

    criterion: str
    members: tuple[Node, ...]
    size: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Object(Node):
    """`type: object`, or keywords for objects.

    `additional` is False if no other property is allowed, True if any is (also without the keyword), else their schema.
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

    `items` are the schemas of the tuple; without a tuple, `all_items` is the schema of every item. `additional` is as
    in Object and applies to the items after the tuple. `min_contains` is None if no item need match: the schema has no
    `contains`, or the draft has no such number.
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
    """`$ref`; `targets` is filled once the whole schema is loaded."""

    key: int
    targets: Mapping[int, Node]

    @property
    def target(self) -> Node:
        """The schema that the reference names, which may be a reference itself."""
        return self.targets[self.key]


_UNCONSTRAINED = Empty(at=None, raw=True)


def follow(node: Node) -> Node:
    """The schema at the end of a chain of references; a chain that only leads back to itself constrains nothing."""
    seen: set[int] = set()
    while isinstance(node, Reference):
        if id(node) in seen:
            return _UNCONSTRAINED
        seen.add(id(node))
        node = node.target
    return node
