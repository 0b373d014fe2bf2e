"""Rules of JSON Schemas on columns that the JVM carries out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import types as spark

from spark_avro.json_schema.shapes import json_shape
from spark_avro.plan.rules.carried import Carried
from spark_avro.plan.rules.carrying import RowRule, carry_out, opened
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.cel_columns import jvm_rule
from spark_avro.plan.rules.listed import ListedRule
from spark_avro.plan.rules.reading import ReadRules, tags_of
from spark_avro.plan.rules.shapes import Entries, Items, Kind, Record, Scalar, Shape
from spark_avro.registry import Version
from spark_avro.sent_schema import SentSchema


def json_rules(rules: ReadRules, reader: Version) -> tuple[RowRule, ...]:
    """The rules on columns of JSON Schema, which the JVM carries out.

    Raises:
        Untranslatable: It cannot carry all of them out.
    """
    shape = json_shape(reader.sent, tags_of(rules.domain))
    return tuple(jvm_rule(rule, shape) for rule in rules.domain)


def carried_as_json(
    column: Column, source: spark.DataType | None, sent: SentSchema, listed: Sequence[ListedRule]
) -> Carried:
    """A column after rules of a JSON Schema that the JVM carries out.

    Args:
        column: The column to encode.
        source: Its type; None if it is not known.
        sent: The schema.
        listed: The rules.

    Raises:
        Untranslatable: The JVM cannot carry all rules out on the column.
    """
    shape = _without_null(json_shape(sent, tags_of(listed)))
    if source is None or not _has_shape(source, shape):
        raise Untranslatable("a column whose type is not known, or not that of the schema")
    return carry_out([jvm_rule(rule, shape) for rule in listed], opened(column))


def _without_null(shape: Shape) -> Shape:
    """The shape of values whose NULL fields are left out when they are written."""
    match shape:
        case Record():
            fields = (
                replace(field, shape=replace(_without_null(field.shape), nullable=False), may_be_absent=True)
                for field in shape.fields
            )
            return Record(tuple(fields), shape.nullable)
        case Items():
            return replace(shape, item=_without_null(shape.item))
        case Entries():
            return replace(shape, value=replace(_without_null(shape.value), nullable=False))
    return shape


#: The types of columns whose JSON is a scalar of a type.
_COLUMNS: dict[Kind, tuple[type[spark.DataType], ...]] = {
    Kind.STRING: (spark.StringType,),
    Kind.BOOL: (spark.BooleanType,),
    Kind.INT: (spark.LongType,),
    Kind.NUMBER: (spark.DoubleType,),
}


def _has_shape(source: spark.DataType, shape: Shape) -> bool:
    match shape:
        case Record() if isinstance(source, spark.StructType):
            return all(
                field.name in source.names and _has_shape(source[field.name].dataType, field.shape)
                for field in shape.fields
            )
        case Items() if isinstance(source, spark.ArrayType):
            return _has_shape(source.elementType, shape.item)
        case Scalar():
            return isinstance(source, _COLUMNS.get(shape.kind, ()))
    # NULL values of maps are written as null.
    return False
