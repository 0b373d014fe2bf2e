"""The Avro schema of a Spark type, for columns that are written without one."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import types as spark

from spark_avro.errors import PlanError


def derive(source: spark.DataType, name: str) -> str:
    """The Avro schema of a Spark type, as text: a nullable field is a union with null, with null as its default.

    Args:
        source: The type.
        name: The full name of the record; records inside are named after their fields.

    Raises:
        PlanError: Avro has no such type or name.
    """
    return json.dumps(_derive(source, name), separators=(",", ":"))


_DERIVED: dict[type[spark.DataType], Any] = {
    spark.BooleanType: "boolean",
    spark.ByteType: "int",
    spark.ShortType: "int",
    spark.IntegerType: "int",
    spark.LongType: "long",
    spark.FloatType: "float",
    spark.DoubleType: "double",
    spark.StringType: "string",
    spark.CharType: "string",
    spark.VarcharType: "string",
    spark.BinaryType: "bytes",
    spark.DateType: {"type": "int", "logicalType": "date"},
    spark.TimestampType: {"type": "long", "logicalType": "timestamp-micros"},
    spark.TimestampNTZType: {"type": "long", "logicalType": "local-timestamp-micros"},
    spark.NullType: "null",
}


def _derive(source: spark.DataType, name: str) -> Any:
    if isinstance(source, spark.StructType):
        fields = []
        for field in source.fields:
            if not (field.name.isascii() and field.name.isidentifier()):
                raise PlanError(f"{field.name!r} is no Avro name: letters, digits and _ only; rename the column")
            kind = _derive(field.dataType, f"{name}_{field.name}")
            optional = field.nullable and kind != "null"
            fields.append(
                {"name": field.name, "type": ["null", kind], "default": None}
                if optional
                else {"name": field.name, "type": kind}
            )
        space, _, last = name.rpartition(".")
        return {"type": "record", "name": last, **({"namespace": space} if space else {}), "fields": fields}
    if isinstance(source, spark.ArrayType):
        items = _derive(source.elementType, name)
        return {"type": "array", "items": ["null", items] if source.containsNull else items}
    if isinstance(source, spark.MapType) and isinstance(source.keyType, spark.StringType):
        values = _derive(source.valueType, name)
        return {"type": "map", "values": ["null", values] if source.valueContainsNull else values}
    if isinstance(source, spark.DecimalType):
        return {"type": "bytes", "logicalType": "decimal", "precision": source.precision, "scale": source.scale}
    if type(source) not in _DERIVED:
        raise PlanError(f"Avro has no type for {source.simpleString()}: cast the column")
    return _DERIVED[type(source)]
