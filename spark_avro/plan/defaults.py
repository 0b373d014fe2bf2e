"""Defaults of Avro fields as literals of Spark's types."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.plan.tree import Tree
from spark_avro.plan.types import spark_type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def default(value: Any, schema: Tree) -> Column:
    """A literal of the field's Spark type for a default, given as the schema's JSON value."""
    return F.lit(None).cast(spark_type(schema)) if value is None else _default(value, schema)


def _default(value: Any, schema: Tree) -> Column:
    if isinstance(schema, list):
        # In older Avro a union's default is a value of the first branch; in newer Avro, of any branch.
        branches = [branch for branch in schema if branch["type"] != "null"]
        target = spark_type(schema)
        index = next(index for index, branch in enumerate(branches) if isinstance(value, _JSON_TYPES[branch["type"]]))
        inner = _default(value, branches[index])
        if len(branches) == 1 or not isinstance(target, spark.StructType):
            return inner.cast(target)
        members = [
            (inner if other == index else F.lit(None).cast(member.dataType)).alias(member.name)
            for other, member in enumerate(target.fields)
        ]
        return F.struct(*members)
    kind = schema["type"]
    if kind == "record":
        parts = []
        for field in schema["fields"]:
            inner = value[field["name"]] if field["name"] in value else field["default"]
            parts.append(default(inner, field["type"]).alias(field["name"]))
        return F.struct(*parts)
    if kind == "array":
        return F.array(*(default(item, schema["items"]) for item in value)).cast(spark_type(schema))
    if kind == "map":
        pairs = [part for key, item in value.items() for part in (F.lit(key), default(item, schema["values"]))]
        return (F.create_map(*pairs) if pairs else F.create_map()).cast(spark_type(schema))
    return F.lit(_leaf_default(value, schema)).cast(spark_type(schema))


def _leaf_default(value: Any, schema: Tree) -> Any:
    logical = schema.get("logicalType")
    if schema["type"] in ("bytes", "fixed"):
        raw = bytes(value, "latin-1")
        if logical == "decimal":
            return Decimal(int.from_bytes(raw, "big", signed=True)).scaleb(-schema["scale"])
        return raw
    return _DEFAULTS[logical](value) if logical in _DEFAULTS else value


_DEFAULTS: dict[str, Callable[[Any], Any]] = {
    "date": lambda value: (_EPOCH + timedelta(days=value)).date(),
    "timestamp-millis": lambda value: _EPOCH + timedelta(milliseconds=value),
    "timestamp-micros": lambda value: _EPOCH + timedelta(microseconds=value),
    "local-timestamp-millis": lambda value: (_EPOCH + timedelta(milliseconds=value)).replace(tzinfo=None),
    "local-timestamp-micros": lambda value: (_EPOCH + timedelta(microseconds=value)).replace(tzinfo=None),
}

_JSON_TYPES: dict[str, type | tuple[type, ...]] = {
    "boolean": bool,
    "int": int,
    "long": int,
    "float": (int, float),
    "double": (int, float),
    "bytes": str,
    "string": str,
    "enum": str,
    "fixed": str,
    "array": list,
    "map": dict,
    "record": dict,
}
