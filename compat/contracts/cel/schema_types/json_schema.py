"""The shape of a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterable

from compat.contracts.cel.data.shapes import (
    ANYTHING,
    BOOL,
    DOUBLE,
    INT,
    STRING,
    Entries,
    Items,
    Member,
    Nullable,
    Record,
    Shape,
)
from compat.json_schema.model.nodes import (
    Array,
    Boolean,
    Combined,
    Const,
    Empty,
    Enum,
    Node,
    Null,
    Number,
    Object,
    String,
    follow,
)

_NULLABLE_PAIR = 2


def json_shape(root: Node) -> Shape:
    """The shape of a JSON Schema; an object with declared properties is a record, other objects are maps."""
    return _JsonShapes().of(root, "$")


class _JsonShapes:
    def __init__(self) -> None:
        self._records: dict[int, Record] = {}

    def of(self, node: Node, path: str) -> Shape:
        """The shape of the values that a schema allows at a path such as `$.address`."""
        node = follow(node)
        if isinstance(node, Object):
            return self._object(node, path)
        if isinstance(node, Array):
            return Items(ANYTHING if node.items or node.all_items is None else self.of(node.all_items, path))
        if isinstance(node, Combined):
            return self._combined(node, path)
        return _leaf(node)

    def _object(self, node: Object, path: str) -> Shape:
        if not node.properties or _is_open(node):
            values = node.additional if isinstance(node.additional, Node) and not node.properties else None
            return Entries(ANYTHING if values is None or node.patterns else self.of(values, path))
        if id(node) not in self._records:
            title = node.title if node.title and node.title.isidentifier() else None
            record = self._records[id(node)] = Record(title or path.replace("$", "message"))
            for name, declared in node.properties.items():
                below = f"{path}.{name}"
                shape = self.of(declared, below)
                record.fields[name] = Member(shape if name in node.required else _optional(shape), below)
        return self._records[id(node)]

    def _combined(self, node: Combined, path: str) -> Shape:
        members = [follow(member) for member in node.members]
        if node.criterion == "allOf":
            said = [member for member in members if not isinstance(member, Empty)]
            shapes = [self.of(member, path) for member in said]
            return _intersection(shapes, path)
        others = [member for member in members if not isinstance(member, Null)]
        if len(others) == 1 and len(members) <= _NULLABLE_PAIR:
            shape = self.of(others[0], path)
            return shape if len(members) == 1 else _nullable(shape)
        return ANYTHING


def _intersection(shapes: list[Shape], path: str) -> Shape:
    """The shape of values that have all these shapes: one record with the fields of all, or the only scalar."""
    if len({id(shape) for shape in shapes}) == 1:
        return shapes[0]
    merged = Record(path.replace("$", "message"))
    for shape in shapes:
        if not isinstance(shape, Record):
            return ANYTHING
        for name, member in shape.fields.items():
            known = merged.fields.setdefault(name, member)
            if known is not member:
                merged.fields[name] = Member(ANYTHING, member.full_name)
    return merged if merged.fields else ANYTHING


def _is_open(node: Object) -> bool:
    """Whether the schema says itself that there are other properties; by default any object may have some."""
    named = isinstance(node.raw, dict) and node.raw.get("additionalProperties", False) is not False
    return named or bool(node.patterns) or isinstance(node.unevaluated, Node)


def _optional(shape: Shape) -> Shape:
    """The shape of a property that may be absent: a scalar may be compared with null."""
    return shape if isinstance(shape, Items | Entries) else _nullable(shape)


def _nullable(shape: Shape) -> Shape:
    return shape if isinstance(shape, Nullable) or shape is ANYTHING else Nullable(shape)


def _leaf(node: Node) -> Shape:
    if isinstance(node, String):
        return STRING
    if isinstance(node, Boolean):
        return BOOL
    if isinstance(node, Number):
        return INT if node.integer else DOUBLE
    if isinstance(node, Enum):
        return _of_values(node.values)
    return _of_values((node.value,)) if isinstance(node, Const) else ANYTHING


def _of_values(texts: Iterable[str]) -> Shape:
    """The shape of all the values with these JSON texts."""
    kinds = {type(json.loads(text)) for text in texts}
    nullable = type(None) in kinds
    kinds.discard(type(None))
    shape = _OF_KIND.get(kinds.pop(), ANYTHING) if len(kinds) == 1 else ANYTHING
    return _nullable(shape) if nullable else shape


_OF_KIND: dict[type, Shape] = {str: STRING, bool: BOOL, int: INT, float: DOUBLE}
