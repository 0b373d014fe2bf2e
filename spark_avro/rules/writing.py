"""The rules on values that are written, and what becomes of the values that they reject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from serdes.client.clients import RegistryClient
from serdes.client.models import RegisteredSchema
from serdes.rules.context import WRITE, Ruled
from spark_avro.rules.carried import Carried, failure_struct, no_failure
from spark_avro.rules.carrying import carry_out, opened
from spark_avro.rules.cel.untranslatable import Untranslatable
from spark_avro.rules.cel_columns import jvm_rule
from spark_avro.rules.json_shapes import json_shape
from spark_avro.rules.listed import REFUSE, ListedRule, check_rules, listed_rules
from spark_avro.rules.reading import tags_of
from spark_avro.rules.refusing import refuse_writing
from spark_avro.rules.shapes import Entries, Items, Kind, Record, Scalar, Shape
from spark_avro.sent_schema import SentSchema
from spark_avro.workers.message_rules import MessageRules
from spark_avro.workers.rule_batches import RuleBatch
from spark_avro.workers.vectorized import rule_udf


def written_schema(client: RegistryClient, held: RegisteredSchema) -> SentSchema:
    """The version under which records are written, with its rules."""
    dependencies = client.dependencies(held.schema, held.subject)
    ruled = Ruled(
        f"the schema of subject {held.subject}",
        held.schema,
        held.rule_set,
        held.metadata,
        dependencies,
        held.subject,
        held.id,
        held.version,
    )
    return SentSchema(ruled, dependencies)


def write_rules(sent: SentSchema, rules: str) -> Sequence[ListedRule]:
    """The rules that run before values are encoded.

    Args:
        sent: The schema.
        rules: apply or refuse.

    Raises:
        PlanError: A rule cannot be carried out, or rules are to be ignored.
        RulesNotSupported: Rules are refused, and the schema has some.
    """
    check_rules(rules, WRITE)
    if rules == REFUSE:
        refuse_writing(sent.ruled)
        return ()
    return listed_rules(sent.ruled, WRITE)


def carried_on_bytes(
    payload: Column, sent: SentSchema, listed: Sequence[ListedRule], message: str | None = None
) -> Carried:
    """Encoded values after rules that workers carry out.

    Args:
        payload: The payloads, without message indexes.
        sent: The schema.
        listed: The rules.
        message: The full name of Protobuf's message.
    """
    task = MessageRules(sent, tuple(listed), message, has_indexes=False)
    outcome = rule_udf(RuleBatch(task))(payload)
    value, reason = outcome["value"], outcome["reason"]
    failure = F.when(reason.isNotNull(), failure_struct(reason, value["rule"], value["path"])).otherwise(no_failure())
    return Carried(F.when(reason.isNull(), F.coalesce(value["data"], payload)), F.lit(True), failure)


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
