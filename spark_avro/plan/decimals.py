"""Why Spark's reader decodes no value of a payload: because a decimal has more digits than its type.

Such a payload is well formed: it decodes if its decimals are read as bytes. Only broken records are decoded again.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.avro.functions import from_avro

from serdes.message import wire
from spark_avro.plan import tree as trees
from spark_avro.plan.guard import shape
from spark_avro.plan.tree import Tree


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


def has_long_decimal(payload: Column, writer: Tree) -> Column:
    """Whether a payload that does not decode is a value of the writer's tree whose decimals are bytes."""
    plain = _without_decimals(writer)
    around = shape(plain, [plain])
    body = F.concat(F.substring(payload, wire.V0_SIZE + 1, 2**31 - 1), F.lit(around.suffix))
    options = {"mode": "PERMISSIVE", "avroSchema": trees.text(around.reader(plain))}
    whole = from_avro(body, trees.text(around.writer(plain)), options)
    return whole[around.witness].isNotNull()


def _without_decimals(schema: Tree) -> Tree:
    if isinstance(schema, list):
        return [_without_decimals(branch) for branch in schema]
    if schema.get("logicalType") == "decimal":
        return {name: value for name, value in schema.items() if name not in ("logicalType", "precision", "scale")}
    changed = dict(schema)
    if "fields" in schema:
        changed["fields"] = [{**member, "type": _without_decimals(member["type"])} for member in schema["fields"]]
    for part in ("items", "values"):
        if part in schema:
            changed[part] = _without_decimals(schema[part])
    return changed
