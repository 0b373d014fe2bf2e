"""The shape of a column of Avro, from the tree of its schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from spark_avro.plan.rules.shapes import Choice, Entries, Field, Form, Items, Kind, Record, Scalar, Shape
from spark_avro.plan.tree import Tree
from spark_avro.plan.types import members

#: The tags of fields by full name.
Tags = Mapping[str, frozenset[str]]

_PRIMITIVES: Mapping[str, Kind] = {
    "null": Kind.NULL,
    "boolean": Kind.BOOL,
    "int": Kind.INT,
    "long": Kind.INT,
    "float": Kind.DOUBLE,
    "double": Kind.DOUBLE,
    "bytes": Kind.BYTES,
    "string": Kind.STRING,
    "enum": Kind.STRING,
    "fixed": Kind.BYTES,
}
#: Logical types whose values are of another type to rules than the underlying one.
_LOGICAL: Mapping[str, tuple[Kind, Form]] = {
    "date": (Kind.INT, Form.DATE),
    "timestamp-millis": (Kind.TIMESTAMP, Form.INSTANT),
    "timestamp-micros": (Kind.TIMESTAMP, Form.INSTANT),
    "local-timestamp-millis": (Kind.TIMESTAMP, Form.LOCAL),
    "local-timestamp-micros": (Kind.TIMESTAMP, Form.LOCAL),
    "timestamp-nanos": (Kind.OPAQUE, Form.PLAIN),
    "local-timestamp-nanos": (Kind.OPAQUE, Form.PLAIN),
    "decimal": (Kind.OPAQUE, Form.DECIMAL),
}


def avro_shape(tree: Tree, tags: Tags) -> Shape:
    """The shape of the values of a tree.

    Args:
        tree: The tree of the column's type.
        tags: The tags of the fields by full name, of the schema whose rules are carried out.
    """
    if isinstance(tree, list):
        return _union(tree, tags)
    kind = tree["type"]
    if kind == "record":
        return Record(tuple(_field(tree["name"], field, tags) for field in tree["fields"]))
    if kind == "array":
        return Items(avro_shape(tree["items"], tags))
    if kind == "map":
        return Entries(avro_shape(tree["values"], tags))
    seen, form = _LOGICAL.get(tree.get("logicalType", ""), (_PRIMITIVES[kind], Form.PLAIN))
    return Scalar(seen, kind.upper(), nullable=kind == "null", form=form)


def _field(record: str, field: Tree, tags: Tags) -> Field:
    full_name = f"{record}.{field['name']}"
    return Field(field["name"], full_name, avro_shape(field["type"], tags), tags.get(full_name, frozenset()))


def _union(union: list[Tree], tags: Tags) -> Shape:
    branches = [branch for branch in union if branch["type"] != "null"]
    nullable = len(branches) < len(union)
    if not branches:
        return Scalar(Kind.NULL, "NULL", nullable=True)
    shapes = [avro_shape(branch, tags) for branch in branches]
    if len(shapes) == 1:
        return with_null(shapes[0]) if nullable else shapes[0]
    names = members([branch["type"] for branch in branches])
    return Choice(tuple(zip(names, shapes, strict=True)) if names else (), nullable)


def with_null(shape: Shape) -> Shape:
    """The same shape with null as a value."""
    return replace(shape, nullable=True)
