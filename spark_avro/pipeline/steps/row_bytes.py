"""Rows as bytes, for an operator in Python: pandas would change numbers, times and nested values that pass by it.

The bytes are Avro, which Spark's JVM writes and reads. Names have no part in them: fields are numbered, so a column may
have any name, and the state depends on the order and the types of the columns alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark
from pyspark.sql.avro.functions import from_avro, to_avro

from spark_avro.pipeline.file.field_path import quoted
from spark_avro.pipeline.file.section import Section

#: Simple types that Avro has in Spark.
_SIMPLE = {
    "boolean": "boolean",
    "tinyint": "int",
    "smallint": "int",
    "int": "int",
    "bigint": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "bytes",
    "date": {"type": "int", "logicalType": "date"},
    "timestamp": {"type": "long", "logicalType": "timestamp-micros"},
    "timestamp_ntz": {"type": "long", "logicalType": "local-timestamp-micros"},
}
#: Types that Avro has in a wider one.
_WIDER: dict[str, spark.DataType] = {"tinyint": spark.IntegerType(), "smallint": spark.IntegerType()}


def row_bytes(fields: Sequence[spark.StructField], step: Section, values: Sequence[Column] | None = None) -> Column:
    """The values of some fields as bytes.

    Args:
        fields: The fields.
        step: The step, for errors.
        values: Their values; the columns with their names if not given.

    Raises:
        PipelineError: a column has a type that has no form in bytes.
    """
    schema = json.dumps(_avro(spark.StructType(list(fields)), step, "", "r"))
    given = [F.col(quoted((field.name,))) for field in fields] if values is None else values
    columns = [_stored(column, field.dataType) for column, field in zip(given, fields, strict=True)]
    return to_avro(F.struct(*(column.alias(f"f{number}") for number, column in enumerate(columns))), schema)


def row_columns(packed: Column, fields: Sequence[spark.StructField], step: Section) -> list[Column]:
    """The columns of some fields out of the bytes of `row_bytes`; all are NULL if there are no bytes."""
    schema = json.dumps(_avro(spark.StructType(list(fields)), step, "", "r"))
    row = from_avro(packed, schema, {"mode": "FAILFAST", "datetimeRebaseMode": "CORRECTED"})
    return [_restored(row[f"f{number}"], field.dataType).alias(field.name) for number, field in enumerate(fields)]


def _avro(kind: spark.DataType, step: Section, path: str, name: str) -> Any:
    """The Avro type of a type: each value may be NULL."""
    simple = kind.simpleString()
    if simple in _SIMPLE:
        return _optional(_SIMPLE[simple]) if path else _SIMPLE[simple]
    if isinstance(kind, spark.DecimalType):
        return _optional({"type": "bytes", "logicalType": "decimal", "precision": kind.precision, "scale": kind.scale})
    if isinstance(kind, spark.StructType):
        fields = [
            {
                "name": f"f{number}",
                "type": _avro(field.dataType, step, f"{path}.{field.name}".lstrip("."), f"{name}_{number}"),
            }
            for number, field in enumerate(kind.fields)
        ]
        record = {"type": "record", "name": name, "fields": fields}
        return _optional(record) if path else record
    if isinstance(kind, spark.ArrayType):
        return _optional({"type": "array", "items": _avro(kind.elementType, step, f"{path}[]", f"{name}_i")})
    if isinstance(kind, spark.MapType):
        entry = spark.StructType([spark.StructField("key", kind.keyType), spark.StructField("value", kind.valueType)])
        return _optional({"type": "array", "items": _avro(entry, step, f"{path}[]", f"{name}_e")})
    raise step.error("", f"{path} is {simple}, which cannot be kept for a join with a topic; cast it in a step before")


def _optional(kind: Any) -> list[Any]:
    return [kind, "null"]


def _stored(column: Column, kind: spark.DataType) -> Column:
    """A value in the form that has an Avro type: maps as arrays of entries, small integers as integers."""
    if not _is_changed(kind):
        return column
    if isinstance(kind, spark.StructType):
        fields = (_stored(column[field.name], field.dataType).alias(f"f{at}") for at, field in enumerate(kind.fields))
        return F.when(column.isNotNull(), F.struct(*fields))
    if isinstance(kind, spark.ArrayType):
        element = kind.elementType
        return F.transform(column, lambda item: _stored(item, element))
    if isinstance(kind, spark.MapType):
        key, value = kind.keyType, kind.valueType
        return F.transform(
            F.map_entries(column),
            lambda entry: F.struct(_stored(entry["key"], key).alias("f0"), _stored(entry["value"], value).alias("f1")),
        )
    return column.cast(_WIDER[kind.simpleString()])


def _restored(column: Column, kind: spark.DataType) -> Column:
    """A value out of the form of `_stored`."""
    if not _is_changed(kind):
        return column
    if isinstance(kind, spark.StructType):
        fields = (_restored(column[f"f{at}"], field.dataType).alias(field.name) for at, field in enumerate(kind.fields))
        return F.when(column.isNotNull(), F.struct(*fields))
    if isinstance(kind, spark.ArrayType):
        element = kind.elementType
        return F.transform(column, lambda item: _restored(item, element))
    if isinstance(kind, spark.MapType):
        key, value = kind.keyType, kind.valueType
        return F.map_from_entries(
            F.transform(
                column,
                lambda entry: F.struct(
                    _restored(entry["f0"], key).alias("key"), _restored(entry["f1"], value).alias("value")
                ),
            )
        )
    return column.cast(kind)


def _is_changed(kind: spark.DataType) -> bool:
    """Whether a type has another form in the bytes."""
    if isinstance(kind, spark.ArrayType):
        return _is_changed(kind.elementType)
    return isinstance(kind, spark.StructType | spark.MapType) or kind.simpleString() in _WIDER
