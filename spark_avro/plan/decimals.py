"""Decimals with more digits than their type: how they are found, and the reason that a broken record gets.

Spark's reader takes the low 64 bits of a decimal of up to 18 digits, and then compares them with the type: of 21 bytes
it makes 0.00. With a type of more digits it compares the whole number. So such decimals are read with more digits, are
compared with their type here, and are then cast to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.avro.functions import from_avro

from spark_avro.plan import tree as trees
from spark_avro.plan.guard import shape
from spark_avro.plan.tree import MAX_PRECISION, Tree
from spark_avro.plan.types import members

#: The most digits and bytes of a decimal of which Spark's reader takes only 64 bits.
_LONG_DIGITS, _LONG_BYTES = 18, 8
#: The digits with which such a decimal is read: the fewest for which Spark's reader takes all bytes.
READ_DIGITS = _LONG_DIGITS + 1


def decimal_names(schema: Tree, path: str = "") -> Iterator[str]:
    """The decimals of a tree with their paths, such as `price decimal(12,2)`."""
    if isinstance(schema, list):
        for branch in schema:
            yield from decimal_names(branch, path)
        return
    if schema.get("logicalType") == "decimal":
        yield f"{path or 'the value'} decimal({schema['precision']},{schema['scale']})"
    for member in schema.get("fields", ()):
        yield from decimal_names(member["type"], f"{path}.{member['name']}" if path else member["name"])
    for part, suffix in (("items", "[]"), ("values", "{}")):
        if part in schema:
            yield from decimal_names(schema[part], f"{path}{suffix}")


def uncut(schema: Tree) -> Tree:
    """The tree with which Spark's reader cuts no decimal to 64 bits."""
    return _with_leaves(schema, lambda leaf: {**leaf, "precision": READ_DIGITS} if _is_cut(leaf) else leaf)


def widest(schema: Tree) -> Tree:
    """The tree whose decimals have all digits that Spark supports: those of other scales can be cast to it."""
    return _with_leaves(schema, lambda leaf: {**leaf, "precision": MAX_PRECISION} if "precision" in leaf else leaf)


def is_cut(schema: Tree) -> bool:
    """Whether Spark's reader may cut a decimal of a tree to 64 bits."""
    return bool(uncut(schema) != schema)


def fits(value: Column, schema: Tree) -> Column | None:
    """Whether all decimals of a value have at most the digits of their type; None if Spark's reader compares them all.

    Args:
        value: The value, read as `uncut` of the tree.
        schema: The tree.
    """
    found = list(_fits(value, schema, in_array=False))
    return reduce(Column.__and__, found) if found else None


def _fits(value: Column, schema: Tree, *, in_array: bool) -> Iterator[Column]:
    """The conditions; with `in_array` the values are the elements of an array.

    A field of an array of structs is an array as well. Arrays in arrays need a lambda, which is slower.
    """
    if isinstance(schema, list):
        branches = [branch for branch in schema if branch["type"] != "null"]
        names = members([branch["type"] for branch in branches])
        for index, branch in enumerate(branches):
            yield from _fits(value[names[index]] if names else value, branch, in_array=in_array)
    elif _is_cut(schema):
        digits = Decimal(10 ** schema["precision"] - 1)
        most = F.lit(digits.scaleb(-schema["scale"])).cast(f"decimal({READ_DIGITS},{schema['scale']})")
        least, greatest = (F.array_min(value), F.array_max(value)) if in_array else (value, value)
        yield F.coalesce((greatest <= most) & (least >= -most), F.lit(True))
    elif schema["type"] in ("array", "map"):
        inner = schema["items"] if schema["type"] == "array" else schema["values"]
        if in_array and is_cut(schema):
            yield F.coalesce(F.forall(value, lambda part: fits(part, schema)), F.lit(True))
        elif not in_array:
            yield from _fits(value if schema["type"] == "array" else F.map_values(value), inner, in_array=True)
    else:
        for member in schema.get("fields", ()):
            yield from _fits(value[member["name"]], member["type"], in_array=in_array)


def _is_cut(leaf: Tree) -> bool:
    """Whether Spark's reader may cut a type's values; eight bytes of a fixed are never cut."""
    is_short = leaf.get("logicalType") == "decimal" and leaf["precision"] <= _LONG_DIGITS
    return bool(is_short and leaf.get("size", _LONG_BYTES + 1) > _LONG_BYTES)


def has_long_decimal(body: Column, writer: Tree, reader: Tree) -> Column:
    """Whether bytes that do not decode are a value of the trees whose decimals are bytes."""
    written, read = _with_leaves(writer, _without_decimal), _with_leaves(reader, _without_decimal)
    around = shape(read, [written])
    options = {"mode": "PERMISSIVE", "avroSchema": trees.text(around.reader(read))}
    whole = from_avro(F.concat(body, F.lit(around.suffix)), trees.text(around.writer(written)), options)
    return whole[around.witness].isNotNull()


def _without_decimal(leaf: Tree) -> Tree:
    if leaf.get("logicalType") != "decimal":
        return leaf
    return {name: value for name, value in leaf.items() if name not in ("logicalType", "precision", "scale")}


def _with_leaves(schema: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with each type that has no parts replaced."""
    if isinstance(schema, list):
        return [_with_leaves(branch, change) for branch in schema]
    if "fields" in schema:
        fields = [{**member, "type": _with_leaves(member["type"], change)} for member in schema["fields"]]
        return {**schema, "fields": fields}
    for part in ("items", "values"):
        if part in schema:
            return {**schema, part: _with_leaves(schema[part], change)}
    return change(schema)
