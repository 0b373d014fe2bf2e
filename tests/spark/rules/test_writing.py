"""Rules on values that are written: in each function and mode, and in the JVM if it can carry them out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.schema import AVRO, JSON, PROTOBUF, SchemaText
from spark_avro import to_confluent_avro, to_confluent_json, to_confluent_protobuf
from spark_avro.errors import PlanError

pytestmark = pytest.mark.slow

CHECK = {"name": "check", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.age > 0"}
MARK = {
    "name": "mark",
    "kind": "TRANSFORM",
    "mode": "WRITE",
    "type": "CEL_FIELD",
    "tags": ["PII"],
    "expr": "value + '!'",
}
AVRO_TEXT = json.dumps(
    {
        "type": "record",
        "name": "Person",
        "fields": [
            {"name": "ssn", "type": "string", "confluent:tags": ["PII"]},
            {"name": "age", "type": "long"},
        ],
    }
)
JSON_TEXT = json.dumps(
    {
        "type": "object",
        "properties": {"ssn": {"type": "string", "confluent:tags": ["PII"]}, "age": {"type": "integer"}},
    }
)
PROTOBUF_TEXT = """
syntax = "proto3";
import "confluent/meta.proto";
message Person {
  string ssn = 1 [(confluent.field_meta).tags = "PII"];
  int64 age = 2;
}
"""
WRITERS: dict[str, tuple[str, Callable[..., Any], bytes, bool]] = {
    "avro": (AVRO, to_confluent_avro, b"\x04a!\x0a", True),
    "json": (JSON, to_confluent_json, b'{"ssn":"a!","age":5}', True),
    "protobuf": (PROTOBUF, to_confluent_protobuf, b"\x00\x0a\x02a!\x10\x05", False),
}
TEXTS = {AVRO: AVRO_TEXT, JSON: JSON_TEXT, PROTOBUF: PROTOBUF_TEXT}


def people(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("a", 5), ("b", -5)], "ssn string, age long").coalesce(1)


@pytest.mark.parametrize("name", WRITERS)
def test_values_that_are_written(spark: SparkSession, avro: Any, subject: str, name: str) -> None:
    kind, write, payload, in_jvm = WRITERS[name]
    rule_set = {"domainRules": [CHECK, MARK]}
    avro.registry.register(subject, SchemaText(kind, TEXTS[kind]), rule_set=rule_set)
    rows = people(spark)
    data = {} if kind == PROTOBUF else {"data": rows}
    settings = {"registry": avro.registry, "subject": subject, "schema": TEXTS[kind], "register": False, **data}
    column = F.struct("ssn", "age")
    written = rows.select(write(column, mode="PERMISSIVE", **settings).alias("v"))
    plan = written._jdf.queryExecution().executedPlan().toString()
    assert ("Python" not in plan) is in_jvm
    [good, bad] = [row.v for row in written.collect()]
    assert (bytes(good.value)[5:], good.error) == (payload, None)
    assert bad.value is None
    reason = f"rule 'check' (CEL, WRITE) of subject {subject} version 1 failed: message.age > 0"
    assert bad.error == Row(reason=reason, rule="check", path="")
    dropped = rows.select(write(column, mode="DROP", **settings).alias("v")).collect()
    assert [bytes(row.v)[5:] for row in dropped] == [payload]
    position = (F.lit("people"), F.lit(0), F.lit(7))
    with pytest.raises(Exception, match=r"failed: message.age > 0 at topic people, partition 0, offset 7"):
        rows.select(write(column, position=position, **settings).alias("v")).collect()
    with pytest.raises(PlanError, match="rules='ignore' is for reading"):
        write(column, rules="ignore", **settings)


def test_json_without_the_columns_type_and_a_header(spark: SparkSession, avro: Any, subject: str) -> None:
    avro.registry.register(subject, SchemaText(JSON, JSON_TEXT), rule_set={"domainRules": [CHECK, MARK]})
    settings = {"registry": avro.registry, "subject": subject, "schema": JSON_TEXT, "register": False}
    column = to_confluent_json(F.struct("ssn", "age"), schema_id="header", mode="PERMISSIVE", **settings)
    [good, bad] = [row.v for row in people(spark).select(column.alias("v")).collect()]
    assert json.loads(bytes(good.value.value)) == {"ssn": "a!", "age": 5}
    assert (bad.value, bad.error.rule) == (None, "check")


@pytest.mark.parametrize(("count", "is_planned"), [(2, True), (3, False)])
def test_rules_in_workers_that_change_many_fields_in_turn_are_refused(
    spark: SparkSession, avro: Any, subject: str, count: int, is_planned: bool
) -> None:
    fields = [{"name": f"f{number}", "type": "string"} for number in range(count)]
    text = json.dumps({"type": "record", "name": "Wide", "fields": fields})
    in_workers = MARK | {"tags": [], "expr": "value.lowerAscii()"}
    rules = [in_workers | {"name": "first"}, in_workers | {"name": "second"}]
    avro.registry.register(subject, SchemaText(AVRO, text), rule_set={"domainRules": rules})

    def plan() -> None:
        column = F.struct(*(F.lit("X").alias(field["name"]) for field in fields))
        written = to_confluent_avro(column, registry=avro.registry, subject=subject, schema=text, register=False)
        [row] = spark.range(1).select(written.alias("v")).collect()
        assert bytes(row.v)[5:] == b"\x02x" * count

    if is_planned:
        plan()
    else:
        with pytest.raises(PlanError, match="the rules 'first', 'second' change too many fields"):
            plan()
