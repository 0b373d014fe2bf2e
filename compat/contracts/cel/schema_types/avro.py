"""The shape of an Avro schema."""

from __future__ import annotations

from typing import Any

from compat.avro.nodes import Array, Enum, Field, Fixed, Map, Node, Primitive, Union, branch_name
from compat.avro.nodes import Record as RecordNode
from compat.contracts.cel.data.shapes import (
    ABSENT,
    ANYTHING,
    BOOL,
    BYTES,
    DOUBLE,
    INT,
    STRING,
    Anything,
    Entries,
    Items,
    Member,
    Nullable,
    Record,
    Scalar,
    Shape,
)

_PRIMITIVES: dict[str, Shape] = {
    "boolean": BOOL,
    "int": INT,
    "long": INT,
    "float": DOUBLE,
    "double": DOUBLE,
    "string": STRING,
    "bytes": BYTES,
    "null": ANYTHING,
}
#: (Stored type, logical type) -> shape. Times of day and dates are ints.
_LOGICAL: dict[tuple[str, str], Shape] = {
    ("int", "time-millis"): Scalar("int", 1_000),
    ("long", "time-micros"): Scalar("int", 1_000_000),
    **{
        ("long", f"{prefix}timestamp-{unit}"): Scalar("timestamp", units)
        for prefix in ("", "local-")
        for unit, units in (("millis", 1_000), ("micros", 1_000_000))
    },
}


def avro_shape(root: Node) -> Shape:
    """The shape of an Avro type."""
    return _AvroShapes().of(root)


class _AvroShapes:
    def __init__(self) -> None:
        self._records: dict[int, Record] = {}

    def of(self, node: Node) -> Shape:
        """The shape of a type; a record has one, however often it is used."""
        if isinstance(node, RecordNode):
            return self._record(node)
        if isinstance(node, Array):
            return Items(self.of(node.items))
        if isinstance(node, Map):
            return Entries(self.of(node.values))
        if isinstance(node, Union):
            return self._union(node)
        return _leaf(node)

    def _record(self, node: RecordNode) -> Record:
        if id(node) not in self._records:
            record = self._records[id(node)] = Record(node.name.full)
            for member in node.fields:
                full_name = f"{node.name.full}.{member.name}"
                record.fields[member.name] = Member(self.of(member.type), full_name, _default(member))
        return self._records[id(node)]

    def _union(self, node: Union) -> Shape:
        branches = {branch_name(branch): self.of(branch) for branch in node.branches}
        has_null = branches.pop("null", None) is not None
        if len(branches) != 1:
            return Anything(branches)
        name, shape = next(iter(branches.items()))
        return Nullable(shape, name) if has_null else shape


def _leaf(node: Primitive | Enum | Fixed) -> Shape:
    logical = node.props.get("logicalType")
    if logical == "decimal" and node.type in ("bytes", "fixed"):
        scale = node.props.get("scale", 0)
        return Scalar("decimal", scale=scale if isinstance(scale, int) else 0)
    if isinstance(node, Enum):
        return STRING
    if isinstance(node, Fixed):
        return BYTES
    return _LOGICAL.get((node.type, str(logical)), _PRIMITIVES[node.type])


def _default(member: Field) -> Any:
    """A field's default as data: bytes are text in the schema."""
    node = member.type.branches[0] if isinstance(member.type, Union) and member.type.branches else member.type
    if member.has_default and node.type in ("bytes", "fixed") and isinstance(member.default, str):
        return member.default.encode("latin-1", "replace")
    return member.default if member.has_default else ABSENT
