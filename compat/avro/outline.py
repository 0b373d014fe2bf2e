"""The outline of an Avro schema: its records with their fields, enums with their symbols, and fixed types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from compat.avro.nodes import (
    NAMED,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Node,
    Primitive,
    Props,
    Record,
    Union,
    children,
)
from compat.avro.schema import AvroSchema
from compat.avro.text.logical_types import has_logical_type
from compat.json.json_text import dumps, positions_in
from compat.outline_tree import Limits, OutlineNode, ReferencedTargets, Target
from compat.schema import ParsedSchema, Pointer, Position

_TAGS = "confluent:tags"
#: The attributes that the words for a logical type stand for.
_LOGICAL = frozenset({"logicalType", "precision", "scale"})


def outline(schema: ParsedSchema, targets: ReferencedTargets, limits: Limits) -> OutlineNode:
    """The root of the outline of an AvroSchema; see `OutlineMaker`.

    A named type is a node at the place that defines it: the root, or a child of the field whose type it is part of.
    """
    assert isinstance(schema, AvroSchema)
    return _Maker(schema, targets, limits).root()


class _Maker:
    def __init__(self, schema: AvroSchema, targets: ReferencedTargets, limits: Limits) -> None:
        self._schema, self._targets, self._limits = schema, targets, limits
        self._space = schema.root.name.space if isinstance(schema.root, NAMED) else None
        self._defined: set[int] = set()
        self._positions = positions_in(schema.source)

    def root(self) -> OutlineNode:
        root = self._schema.root
        self._limits.admit()
        if isinstance(root, NAMED) and root.name.full not in self._schema.referenced:
            return self._definition(root)
        types, reference = self._types(root, "")
        return OutlineNode(
            path="",
            name="",
            kind="type",
            type=self._words(root),
            optional=_is_nullable(root),
            attributes=_type_attributes(root),
            at=self._at(()),
            reference=reference,
            children=types,
            pointer=(),
        )

    def _definition(self, named: Named) -> OutlineNode:
        """A record, enum or fixed type."""
        self._defined.add(id(named))
        pointer = self._schema.pointer(named) or ()
        make = _CHILDREN.get(named.type)
        default = named.default if isinstance(named, Enum) else None
        return OutlineNode(
            path=named.name.full,
            name=named.name.name,
            kind=named.type,
            type=self._words(named),
            default=None if default is None else dumps(default),
            doc=named.doc,
            tags=_tags(named.props),
            aliases=tuple([alias.full for alias in named.aliases]),
            attributes=self._named_attributes(named),
            at=self._at(pointer),
            children=() if make is None else tuple(make(self, named, pointer)),
            pointer=pointer,
            identity=named.name.full,
            keys=(named.name.full, ("name", named.name.name), ("kind", named.type)),
            former=frozenset([alias.full for alias in named.aliases]),
        )

    def _named_attributes(self, named: Named) -> dict[str, str]:
        more: dict[str, str] = {}
        if named is self._schema.root or named.name.space != self._space:
            more["namespace"] = dumps(named.name.space)
        if isinstance(named, Fixed):
            more["size"] = str(named.size)
        return _attributes(named.props, more)

    def _fields(self, record: Record, pointer: Pointer) -> Iterator[OutlineNode]:
        for index, field in enumerate(record.fields):
            if not self._limits.admit():
                return
            yield self._field(field, f"{record.name.full}.{field.name}", (*pointer, "fields", index))

    def _field(self, field: Field, path: str, pointer: Pointer) -> OutlineNode:
        types, reference = self._types(field.type, path)
        order = {} if field.order == "ascending" else {"order": dumps(field.order)}
        return OutlineNode(
            path=path,
            name=field.name,
            kind="field",
            type=self._words(field.type),
            default=dumps(field.default) if field.has_default else None,
            doc=field.doc,
            tags=_tags(field.props),
            aliases=field.aliases,
            optional=_is_nullable(field.type),
            attributes=_attributes(field.props, order | _type_attributes(field.type)),
            at=self._at(pointer),
            reference=reference,
            children=types,
            pointer=pointer,
            keys=(field.name,),
            former=frozenset(field.aliases),
            is_ordered=True,
        )

    def _symbols(self, enum: Enum, pointer: Pointer) -> Iterator[OutlineNode]:
        for index, symbol in enumerate(enum.symbols):
            if not self._limits.admit():
                return
            at = (*pointer, "symbols", index)
            path = f"{enum.name.full}.{symbol}"
            yield OutlineNode(
                path=path,
                name=symbol,
                kind="symbol",
                at=self._at(at),
                pointer=at,
                keys=(symbol,),
                is_ordered=True,
            )

    def _types(self, node: Node, path: str) -> tuple[tuple[OutlineNode, ...], Target | None]:
        """The nodes for the named types in the type of the node at a path.

        If only one of them is defined elsewhere, it is returned apart; of several, each is a node.
        """
        types: list[OutlineNode] = []
        uses: list[OutlineNode] = []
        for named in _named_types(node):
            if id(named) in self._defined or named.name.full in self._schema.referenced:
                uses.append(self._use(named, path))
                types.append(uses[-1])
            elif self._limits.admit():
                types.append(self._definition(named))
        if len(uses) == 1:
            types.remove(uses[0])
            return tuple(types), uses[0].reference
        if not all(self._limits.admit() for _ in uses):
            return tuple([node for node in types if node not in uses]), None
        return tuple(types), None

    def _use(self, named: Named, path: str) -> OutlineNode:
        full = named.name.full
        return OutlineNode(
            path=f"{path}#{full}",
            name=named.name.name,
            kind="reference",
            type=self._words(named),
            reference=self._target(named),
            keys=(full,),
        )

    def _target(self, named: Named) -> Target:
        full = named.name.full
        return self._targets.target(full, full) if full in self._schema.referenced else Target(full, full)

    def _words(self, node: Node) -> str:
        if isinstance(node, Primitive):
            return _logical_words(node) or node.type
        if isinstance(node, NAMED):
            return self._named_words(node)
        if isinstance(node, Array):
            return f"array of {self._inner_words(node.items)}"
        if isinstance(node, Map):
            return f"map<string, {self._words(node.values)}>"
        branches = " | ".join(map(self._words, node.branches))
        return branches if len(node.branches) > 1 else f"union of {branches or 'nothing'}"

    def _inner_words(self, node: Node) -> str:
        return f"({self._words(node)})" if node.type == "union" else self._words(node)

    def _named_words(self, named: Named) -> str:
        name = named.name.name if named.name.space == self._space else named.name.full
        if isinstance(named, Record) and named.is_error:
            return f"error {name}"
        if not isinstance(named, Fixed):
            return f"{named.type} {name}"
        logical = _logical_words(named)
        return f"{logical} in fixed {name}" if logical else f"fixed {name}({named.size})"

    def _at(self, pointer: Pointer) -> Position | None:
        return self._positions.get(pointer)


_CHILDREN: Mapping[str, Callable[[_Maker, Any, Pointer], Iterator[OutlineNode]]] = {
    "record": _Maker._fields,
    "enum": _Maker._symbols,  # noqa: SLF001
}


def _named_types(node: Node) -> Iterator[Named]:
    """The named types in a type, in the order of the text; their own parts are left out."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, NAMED):
            yield part
        else:
            waiting += [child for _, child in reversed(list(children(part)))]


def _is_nullable(node: Node) -> bool:
    return (isinstance(node, Union) and "null" in node.types) or node.type == "null"


def _logical_words(node: Primitive | Fixed) -> str:
    """The words for a logical type; empty if the type has none."""
    if not has_logical_type(node):
        return ""
    name = str(node.props["logicalType"])
    return f"decimal({node.props['precision']}, {node.props.get('scale', 0)})" if name == "decimal" else name


def _tags(props: Props) -> tuple[str, ...]:
    tags = props.get(_TAGS)
    return tuple(map(str, tags)) if isinstance(tags, list) else ()


def _attributes(props: Props, more: Mapping[str, str]) -> dict[str, str]:
    return {**more, **{name: dumps(value) for name, value in props.items() if name != _TAGS}}


def _type_attributes(node: Node) -> dict[str, str]:
    """The attributes that the words for a type leave out, with their places; without those of named types."""
    attributes: dict[str, str] = {}
    waiting: list[tuple[str, Node]] = [("type", node)]
    while waiting:
        place, part = waiting.pop()
        if isinstance(part, NAMED):
            continue
        if not isinstance(part, Union):
            words = _LOGICAL if isinstance(part, Primitive) and has_logical_type(part) else frozenset[str]()
            attributes |= {f"{place}.{name}": dumps(value) for name, value in part.props.items() if name not in words}
        steps = list(children(part))
        waiting += [(f"{place}.{'.'.join(map(str, step))}", child) for step, child in reversed(steps)]
    return attributes
