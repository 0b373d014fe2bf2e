"""The Spark types of Avro types, as in Spark's Avro data source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import types as spark

from spark_avro.plan.tree import Tree

_PRIMITIVES: Mapping[str, Callable[[], spark.DataType]] = {
    "null": spark.NullType,
    "boolean": spark.BooleanType,
    "int": spark.IntegerType,
    "long": spark.LongType,
    "float": spark.FloatType,
    "double": spark.DoubleType,
    "bytes": spark.BinaryType,
    "string": spark.StringType,
    "enum": spark.StringType,
    "fixed": spark.BinaryType,
}

#: Logical types that Spark supports; it reads others, such as times of day, as the underlying type.
_LOGICAL: Mapping[str, Callable[[], spark.DataType]] = {
    "date": spark.DateType,
    "timestamp-millis": spark.TimestampType,
    "timestamp-micros": spark.TimestampType,
    "local-timestamp-millis": spark.TimestampNTZType,
    "local-timestamp-micros": spark.TimestampNTZType,
}

#: Unions that Spark reads as one type that holds the values of all branches.
_WIDENING: Mapping[frozenset[str], Callable[[], spark.DataType]] = {
    frozenset({"int", "long"}): spark.LongType,
    frozenset({"float", "double"}): spark.DoubleType,
}


def spark_type(schema: Tree) -> spark.DataType:
    """The Spark type of a schema's values; every part is nullable, as in all files that Spark reads."""
    if isinstance(schema, list):
        return _union(schema)
    kind = schema["type"]
    if kind == "record":
        return spark.StructType(
            [spark.StructField(field["name"], spark_type(field["type"])) for field in schema["fields"]]
        )
    if kind == "array":
        return spark.ArrayType(spark_type(schema["items"]))
    if kind == "map":
        return spark.MapType(spark.StringType(), spark_type(schema["values"]))
    logical = schema.get("logicalType")
    if logical == "decimal":
        return spark.DecimalType(schema["precision"], schema["scale"])
    return _LOGICAL.get(logical, _PRIMITIVES[kind])()


def _union(schema: list[Tree]) -> spark.DataType:
    branches = [branch for branch in schema if branch["type"] != "null"]
    if not branches:
        return spark.NullType()
    if len(branches) == 1:
        return spark_type(branches[0])
    names = members([branch["type"] for branch in branches])
    if not names:
        return _WIDENING[frozenset(branch["type"] for branch in branches)]()
    return spark.StructType(
        [spark.StructField(name, spark_type(branch)) for name, branch in zip(names, branches, strict=True)]
    )


def members(kinds: Sequence[str]) -> list[str]:
    """The names of the fields of Spark's struct for a union of these types, which do not include null.

    Empty if Spark reads the union as one type.
    """
    if len(kinds) < 2 or frozenset(kinds) in _WIDENING:
        return []
    return [f"member{index}" for index in range(len(kinds))]
