"""Fitting a column to the schema it is written with: casts, defaults, and fields in the schema's order.

Spark's `to_avro` fails on a missing field even if it has a default, on an extra field, and on an int for a long. A part
that fits already is not changed, because rebuilding a struct copies every row.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.errors import UnfitColumn
from spark_avro.plan.defaults import default
from spark_avro.plan.tree import Tree, describe
from spark_avro.plan.types import spark_type

#: Casts without loss, or with a loss that the schema's author accepted: Avro's promotions.
_CASTS: dict[type[spark.DataType], tuple[type[spark.DataType], ...]] = {
    spark.ByteType: (spark.IntegerType, spark.LongType, spark.FloatType, spark.DoubleType),
    spark.ShortType: (spark.IntegerType, spark.LongType, spark.FloatType, spark.DoubleType),
    spark.IntegerType: (spark.LongType, spark.FloatType, spark.DoubleType),
    spark.LongType: (spark.FloatType, spark.DoubleType),
    spark.FloatType: (spark.DoubleType,),
    spark.StringType: (spark.BinaryType,),
    spark.CharType: (spark.StringType,),
    spark.VarcharType: (spark.StringType,),
}


def fit(column: Column, source: spark.DataType | None, schema: Tree, *, drop_extra: bool, path: str = "") -> Column:
    """The column in the form that `to_avro` needs for a schema.

    Args:
        column: The column to write.
        source: The column's Spark type; None if unknown, then the column must have every field of the schema.
        schema: The writer's tree, with its defaults.
        drop_extra: Whether fields that the schema lacks are dropped; else they are refused.
        path: The path of this part in the schema, for errors.

    Raises:
        UnfitColumn: a field is missing and has no default, is not in the schema, or has a type that would lose data.
    """
    if source is not None and alike(source, spark_type(schema)) and not _has_null_only(schema):
        return column
    if isinstance(schema, list):
        return _union(column, source, schema, drop_extra=drop_extra, path=path)
    kind = schema["type"]
    if kind == "record":
        return _record(column, source, schema, drop_extra=drop_extra, path=path)
    if kind == "array":
        _expect(source, spark.ArrayType, schema, path)
        inner = None if source is None else source.elementType
        return F.transform(
            column, lambda item: fit(item, inner, schema["items"], drop_extra=drop_extra, path=f"{path}[]")
        )
    if kind == "map":
        _expect(source, spark.MapType, schema, path)
        inner = None if source is None else source.valueType
        return F.transform_values(
            column, lambda _, value: fit(value, inner, schema["values"], drop_extra=drop_extra, path=f"{path}{{}}")
        )
    return _leaf(column, source, schema, path)


def _record(column: Column, source: spark.DataType | None, schema: Tree, *, drop_extra: bool, path: str) -> Column:
    _expect(source, spark.StructType, schema, path)
    unread = None if source is None else {field.name.lower(): field for field in source.fields}
    parts = []
    for field in schema["fields"]:
        name, inside = field["name"], f"{path}.{field['name']}" if path else field["name"]
        match = None if unread is None else unread.pop(name.lower(), None)
        if unread is not None and match is None:
            if "default" not in field:
                raise UnfitColumn(inside, "is not in the column and has no default")
            parts.append(default(field["default"], field["type"]).alias(name))
            continue
        part = column[name if match is None else match.name]
        kind = None if match is None else match.dataType
        parts.append(fit(part, kind, field["type"], drop_extra=drop_extra, path=inside).alias(name))
    if unread and not drop_extra:
        extra = ", ".join(field.name for field in unread.values())
        raise UnfitColumn(path, f"has fields that the schema lacks: {extra} (drop_extra=True leaves them out)")
    return F.when(column.isNotNull(), F.struct(*parts))


def _union(column: Column, source: spark.DataType | None, schema: list[Tree], *, drop_extra: bool, path: str) -> Column:
    branches = [branch for branch in schema if branch["type"] != "null"]
    if isinstance(source, spark.NullType) and len(branches) < len(schema):
        return column.cast(spark_type(schema))
    if len(branches) == 1:
        return fit(column, source, branches[0], drop_extra=drop_extra, path=path)
    target = spark_type(schema)
    if source is None:
        return column
    if not isinstance(target, spark.StructType):
        return _cast(column, source, target, describe(schema), path)
    for index, branch in enumerate(branches):
        if alike(source, spark_type(branch)):
            members = [
                (column if other == index else F.lit(None).cast(member.dataType)).alias(member.name)
                for other, member in enumerate(target.fields)
            ]
            return F.when(column.isNotNull(), F.struct(*members))
    raise UnfitColumn(
        path, f"is {source.simpleString()}, which is none of {describe(schema)}, nor {target.simpleString()}"
    )


def _leaf(column: Column, source: spark.DataType | None, schema: Tree, path: str) -> Column:
    target = spark_type(schema)
    if source is None:
        return column.cast(target)
    return _cast(column, source, target, describe(schema), path)


def _cast(column: Column, source: spark.DataType, target: spark.DataType, shown: str, path: str) -> Column:
    if isinstance(source, spark.DecimalType) and isinstance(target, spark.DecimalType):
        lossless = source.scale <= target.scale and source.precision - source.scale <= target.precision - target.scale
    else:
        lossless = isinstance(target, _CASTS.get(type(source), ()))
    if not lossless:
        raise UnfitColumn(
            path, f"is {source.simpleString()}, which {shown} ({target.simpleString()}) cannot hold without loss"
        )
    return column.cast(target)


def _expect(source: spark.DataType | None, kind: type[spark.DataType], schema: Tree, path: str) -> None:
    if source is not None and not isinstance(source, kind):
        raise UnfitColumn(path, f"is {source.simpleString()}, and {describe(schema)} in the schema")


def alike(source: spark.DataType, target: spark.DataType) -> bool:
    """Whether two types are equal except for nullability."""
    if isinstance(source, spark.StructType) and isinstance(target, spark.StructType):
        return source.names == target.names and all(
            alike(one.dataType, other.dataType) for one, other in zip(source.fields, target.fields, strict=True)
        )
    if isinstance(source, spark.ArrayType) and isinstance(target, spark.ArrayType):
        return alike(source.elementType, target.elementType)
    if isinstance(source, spark.MapType) and isinstance(target, spark.MapType):
        return alike(source.keyType, target.keyType) and alike(source.valueType, target.valueType)
    return bool(source == target)


def _has_null_only(schema: Tree) -> bool:
    return isinstance(spark_type(schema), spark.NullType)
