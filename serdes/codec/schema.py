"""An Avro schema as a graph of nodes for codecs, made of compat's nodes: every schema the registry accepts has a codec.

compat parses the text, resolves names and decides which logical types are valid. A codec's node adds what the hot paths
need: the full name, the aliases in both spellings, and the logical type that is converted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compat.avro import nodes
from compat.avro.text.logical_types import has_logical_type
from compat.avro.text.parser import Parser
from compat.schema import InvalidSchema
from serdes.codec.errors import SchemaError

#: The logical types that are converted, as (Avro type, logical type), the same as in fastavro; others stay raw.
LOGICAL_TYPES = frozenset(
    {
        ("int", "date"),
        ("int", "time-millis"),
        ("long", "time-micros"),
        ("long", "timestamp-millis"),
        ("long", "timestamp-micros"),
        ("long", "local-timestamp-millis"),
        ("long", "local-timestamp-micros"),
        ("bytes", "decimal"),
        ("fixed", "decimal"),
        ("string", "uuid"),
    },
)

MISSING: Any = nodes.NO_DEFAULT


class Field:
    """A field of a record; `default` is the schema's JSON, or MISSING."""

    __slots__ = ("aliases", "default", "name", "node")

    def __init__(self, name: str, node: Node, default: Any, aliases: tuple[str, ...]) -> None:
        self.name = name
        self.node = node
        self.default = default
        self.aliases = aliases


class Node:
    """One type of a schema; all mentions of a named type are the same object, so the graph may have cycles.

    Attributes:
        kind: The Avro type: a primitive, record, enum, fixed, array, map or union.
        name: The full name of a record, enum or fixed, else None.
        logical: The logical type, if it is converted.
        meaning: The logical type, if it is one of Avro's specification.
        fields, symbols, size, item, branches: The parts of the kind; `item` is that of an array or map.
        default: An enum's default symbol.
        aliases: Other full names, for resolution.
        precision, scale: Of a decimal.
    """

    __slots__ = (
        "aliases", "branches", "default", "fields", "item", "kind", "logical", "meaning", "name", "precision", "scale",
        "size", "symbols",
    )  # fmt: skip

    def __init__(self, kind: str, name: str | None = None) -> None:
        self.kind = kind
        self.name = name
        self.logical: str | None = None
        self.meaning: str | None = None
        self.fields: tuple[Field, ...] = ()
        self.symbols: tuple[str, ...] = ()
        self.size = 0
        self.item: Node = self
        self.branches: tuple[Node, ...] = ()
        self.default: str | None = None
        self.aliases: tuple[str, ...] = ()
        self.precision = 0
        self.scale = 0

    @property
    def branch(self) -> str:
        """The name that tags a union's value: the full name, or the type's name."""
        return self.name or self.kind

    def words(self) -> str:
        """The type as an error message calls it."""
        if self.kind == "union":
            return "one of " + ", ".join(branch.branch for branch in self.branches)
        words = f"{self.kind} {self.name}" if self.name else self.kind
        return f"{words} ({self.logical})" if self.logical else words


def parse(text: str, named: Sequence[str] = ()) -> Node:
    """The schema of a text, which may mention the types of the texts in `named` (in dependency order).

    Raises:
        SchemaError: A text is not a schema, or mentions an undefined name.
    """
    parser = Parser()
    try:
        for dependency in named:
            parser.parse(dependency, strict=False)
        return Graph().node(parser.parse(text, strict=False))
    except InvalidSchema as error:
        raise SchemaError(error.detail) from None
    except RecursionError:
        raise SchemaError("the schema is nested too deeply") from None


class Graph:
    """The nodes made so far: all mentions of a named type are one node."""

    def __init__(self) -> None:
        #: The source is held, too: its id must not become another node's.
        self._nodes: dict[int, tuple[Node, nodes.Node]] = {}

    def node(self, source: nodes.Node) -> Node:
        """The node of one of compat's nodes."""
        known = self._nodes.get(id(source))
        if known is not None:
            return known[0]
        node = Node(source.type, _full_name(source))
        self._nodes[id(source)] = (node, source)
        self._fill(node, source)
        return node

    def _fill(self, node: Node, source: nodes.Node) -> None:
        if isinstance(source, nodes.NAMED):
            node.aliases = _aliases(source)
        match source:
            case nodes.Record():
                node.fields = tuple(
                    Field(field.name, self.node(field.type), field.default, field.aliases) for field in source.fields
                )
            case nodes.Union():
                node.branches = tuple(map(self.node, source.branches))
            case nodes.Array():
                node.item = self.node(source.items)
            case nodes.Map():
                node.item = self.node(source.values)
            case nodes.Enum():
                node.symbols, node.default = source.symbols, source.default
            case nodes.Fixed():
                node.size = source.size
                _add_logical_type(node, source)
            case nodes.Primitive():
                _add_logical_type(node, source)


def _full_name(source: nodes.Node) -> str | None:
    return source.name.full if isinstance(source, nodes.NAMED) else None


def _aliases(source: nodes.Named) -> tuple[str, ...]:
    """The full aliases, and the short aliases of the type's namespace: fastavro matches these in any namespace."""
    forms = [
        form
        for alias in source.aliases
        for form in ((alias.name, alias.full) if alias.space == source.name.space else (alias.full,))
    ]
    return tuple(forms)


def _add_logical_type(node: Node, source: nodes.Primitive | nodes.Fixed) -> None:
    if not has_logical_type(source):
        return
    node.meaning = source.props["logicalType"]
    if (node.kind, node.meaning) in LOGICAL_TYPES:
        node.logical = node.meaning
    if node.meaning == "decimal":
        node.precision, node.scale = source.props["precision"], source.props.get("scale", 0)
