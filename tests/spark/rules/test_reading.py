"""Rules on records that are read: what passes, what is rejected and where, and who carries the rule out."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.schema import AVRO, JSON, PROTOBUF, SchemaText
from serdes.codec import compile_codec
from spark_avro import (
    confluent_avro_udf,
    confluent_json_udf,
    from_confluent_avro,
    from_confluent_avro_records,
    from_confluent_json,
    from_confluent_protobuf,
)
from spark_avro.errors import PlanError

pytestmark = pytest.mark.slow

READ = {"mode": "READ", "kind": "CONDITION"}
CHANGE = {"mode": "READ", "kind": "TRANSFORM"}
AVRO_TEXT = json.dumps(
    {
        "type": "record",
        "name": "Person",
        "fields": [
            {"name": "ssn", "type": "string", "confluent:tags": ["PII"]},
            {"name": "age", "type": "int"},
            {
                "name": "lines",
                "type": {
                    "type": "array",
                    "items": {
                        "type": "record",
                        "name": "Line",
                        "fields": [{"name": "no", "type": ["null", "string"], "confluent:tags": ["PII"]}],
                    },
                },
            },
            {"name": "props", "type": {"type": "map", "values": "string"}, "confluent:tags": ["PROPS"]},
        ],
    }
)
GOOD = {"ssn": "123", "age": 5, "lines": [{"no": "a"}, {"no": None}], "props": {"k": "v"}}
BAD = {"ssn": "", "age": -5, "lines": [{"no": "a"}, {"no": ""}], "props": {"k": ""}}
KEPT = (Row(ssn="123", age=5, lines=[Row(no="a"), Row(no=None)], props={"k": "v"}), None)


def register(avro: Any, subject: str, *rules: dict[str, Any], text: str = AVRO_TEXT, kind: str = AVRO) -> int:
    rule_set = {"domainRules": list(rules)}
    return int(avro.registry.register(subject, SchemaText(kind, text), rule_set=rule_set).id)


def frame(spark: SparkSession, *messages: bytes) -> DataFrame:
    rows = [(number, bytearray(message)) for number, message in enumerate(messages)]
    return spark.createDataFrame(rows, "offset int, value binary").coalesce(1)


def message(schema_id: int, payload: bytes) -> bytes:
    return struct.pack(">bI", 0, schema_id) + payload


def people(spark: SparkSession, schema_id: int) -> DataFrame:
    codec = compile_codec(AVRO_TEXT)
    return frame(spark, *(message(schema_id, codec.encode(person)) for person in (GOOD, BAD)))


def results(rows: DataFrame, column: Column) -> tuple[list[Any], bool]:
    """Values and errors, and whether the plan has no function of Python."""
    decoded = rows.select(column.alias("v"), "offset").orderBy("offset")
    plan = decoded._jdf.queryExecution().executedPlan().toString()
    found = [(row.v.value, row.v.error and (row.v.error.rule, row.v.error.path)) for row in decoded.collect()]
    return found, "Python" not in plan


CASES = [
    ({**READ, "type": "CEL", "expr": "message.age > 0"}, (None, ("rule", "")), True),
    ({**READ, "type": "CEL", "expr": "message.ssn.upperAscii() != ''"}, (None, ("rule", "")), False),
    (
        {**READ, "type": "CEL_FIELD", "tags": ["PII"], "expr": "value == null || value != ''"},
        (None, ("rule", "ssn")),
        True,
    ),
    (
        {**READ, "type": "CEL_FIELD", "tags": ["PII"], "expr": "name == 'no' && value != null ; size(value) > 0"},
        (None, ("rule", "lines[1].no")),
        True,
    ),
    ({**READ, "type": "CEL_FIELD", "tags": ["PROPS"], "expr": "value != ''"}, (None, ("rule", 'props["k"]')), True),
    (
        {**READ, "type": "CEL_FIELD", "tags": ["PROPS"], "expr": "value.upperAscii() == 'V'"},
        (None, ("rule", 'props["k"]')),
        False,
    ),
    ({**READ, "type": "JSONATA", "expr": "age > 0"}, (None, ("rule", "")), False),
]


@pytest.mark.parametrize(("rule", "rejected", "in_jvm"), CASES)
def test_a_condition(
    spark: SparkSession, avro: Any, subject: str, rule: dict[str, Any], rejected: Any, in_jvm: bool
) -> None:
    schema_id = register(avro, subject, {"name": "rule", **rule})
    column = from_confluent_avro("value", registry=avro.registry, subject=subject, mode="PERMISSIVE")
    found, without_python = results(people(spark, schema_id), column)
    assert found == [KEPT, rejected]
    assert without_python is in_jvm


CHANGES = [
    (
        {"type": "CEL_FIELD", "tags": ["PII"], "expr": "value != null ; value + '!'"},
        Row(ssn="123!", age=5, lines=[Row(no="a!"), Row(no=None)], props={"k": "v"}),
        True,
    ),
    (
        {"type": "CEL_FIELD", "tags": ["PROPS"], "expr": "value.upperAscii()"},
        Row(ssn="123", age=5, lines=[Row(no="a"), Row(no=None)], props={"k": "V"}),
        False,
    ),
    (
        {"type": "REDACT", "tags": ["PII"]},
        Row(ssn="<REDACTED>", age=5, lines=[Row(no="<REDACTED>"), Row(no=None)], props={"k": "v"}),
        True,
    ),
    (
        {"type": "CEL", "expr": "{'ssn': message.ssn + 'x', 'age': 7, 'lines': [], 'props': {}}"},
        Row(ssn="123x", age=7, lines=[], props={}),
        False,
    ),
]


@pytest.mark.parametrize(("rule", "changed", "in_jvm"), CHANGES)
def test_a_transformation(
    spark: SparkSession, avro: Any, subject: str, rule: dict[str, Any], changed: Row, in_jvm: bool
) -> None:
    schema_id = register(avro, subject, {"name": "rule", **CHANGE, **rule})
    column = from_confluent_avro("value", registry=avro.registry, subject=subject, mode="PERMISSIVE")
    found, without_python = results(people(spark, schema_id), column)
    assert found[0] == (changed, None)
    assert without_python is in_jvm


def test_rules_run_in_reverse_order_on_what_the_others_left(spark: SparkSession, avro: Any, subject: str) -> None:
    add = {"name": "add", **CHANGE, "type": "CEL_FIELD", "tags": ["PII"], "expr": "value != null ; value + '!'"}
    upper = {"name": "upper", **CHANGE, "type": "CEL", "expr": "message"}
    check = {"name": "check", **READ, "type": "CEL", "expr": "message.ssn == '123!'", "doc": "no mark"}
    schema_id = register(avro, subject, check, upper, add)
    settings = {"registry": avro.registry, "subject": subject}
    column = from_confluent_avro("value", mode="PERMISSIVE", **settings)
    found, _ = results(people(spark, schema_id), column)
    assert [error for _, error in found] == [None, ("check", "")]
    position = (F.lit("people"), F.lit(3), F.col("offset"))
    failfast = from_confluent_avro("value", position=position, **settings)
    problem = (
        r"rule 'check' \(CEL, READ\) of subject \S+ version 1 failed: no mark at topic people, partition 3, offset 1"
    )
    with pytest.raises(Exception, match=problem):
        people(spark, schema_id).select(failfast.alias("v")).collect()
    dropped = people(spark, schema_id).select(from_confluent_avro("value", mode="DROP", **settings).alias("v"))
    assert [row.v.ssn for row in dropped.collect()] == ["123!"]


def test_a_failure_whose_action_is_none_passes(spark: SparkSession, avro: Any, subject: str) -> None:
    lenient = {"name": "lenient", **READ, "type": "CEL", "expr": "message.age > 0", "onFailure": "NONE"}
    schema_id = register(avro, subject, lenient)
    rows = people(spark, schema_id)
    column = from_confluent_avro("value", registry=avro.registry, subject=subject, fields=["age"])
    assert [row.v for row in rows.select(column.alias("v")).collect()] == [Row(age=5), Row(age=-5)]


def test_rules_need_fields_that_the_column_leaves_out(spark: SparkSession, avro: Any, subject: str) -> None:
    schema_id = register(avro, subject, {"name": "rule", **READ, "type": "CEL", "expr": "message.age > 0"})
    settings = {"registry": avro.registry, "subject": subject, "mode": "PERMISSIVE"}
    found, _ = results(people(spark, schema_id), from_confluent_avro("value", fields=["ssn"], **settings))
    assert found == [(Row(ssn="123"), None), (None, ("rule", ""))]
    ignoring = from_confluent_avro("value", fields=["ssn"], rules="ignore", **settings)
    assert results(people(spark, schema_id), ignoring)[0] == [(Row(ssn="123"), None), (Row(ssn=""), None)]
    given = from_confluent_avro("value", reader_schema=AVRO_TEXT, **settings)
    assert [error for _, error in results(people(spark, schema_id), given)[0]] == [None, ("rule", "")]
    in_python = confluent_avro_udf("value", **settings)
    assert [error for _, error in results(people(spark, schema_id), in_python)[0]] == [None, ("rule", "")]
    as_json = confluent_avro_udf("value", as_json=True, **settings)
    assert [error for _, error in results(people(spark, schema_id), as_json)[0]] == [None, ("rule", "")]
    by_type = from_confluent_avro_records("value", registry=avro.registry, subjects=[subject], mode="PERMISSIVE")
    assert results(people(spark, schema_id), by_type)[0] == [(Row(Person=KEPT[0]), None), (None, ("rule", ""))]


@pytest.mark.parametrize("kind", ["ENCRYPT", "SQL"])
def test_other_executors_are_refused(spark: SparkSession, avro: Any, subject: str, kind: str) -> None:
    schema_id = register(avro, subject, {"name": "other", **CHANGE, "type": kind, "tags": ["PII"]})
    with pytest.raises(PlanError, match=rf"rule 'other' \({kind}, READ\) .*rules='ignore' to read without rules"):
        from_confluent_avro("value", registry=avro.registry, subject=subject)
    with pytest.raises(PlanError, match="rules is apply, refuse or ignore, not 'none'"):
        from_confluent_avro("value", registry=avro.registry, ids=[schema_id], rules="none")


JSON_TEXT = json.dumps(
    {
        "type": "object",
        "required": ["ssn"],
        "properties": {
            "ssn": {"type": "string", "confluent:tags": ["PII"]},
            "age": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}, "confluent:tags": ["PII"]},
        },
    }
)


@pytest.mark.parametrize(
    ("rule", "outcomes", "in_jvm"),
    [
        ({**READ, "type": "CEL", "expr": "message.age > 0"}, [None, ("rule", ""), ("rule", "")], True),
        ({**READ, "type": "CEL", "expr": "!has(message.age) || message.age > 0"}, [None, ("rule", ""), None], True),
        ({**READ, "type": "CEL", "expr": "message.ssn.upperAscii() == 'A'"}, [None, ("rule", ""), ("rule", "")], False),
        (
            {**READ, "type": "CEL_FIELD", "tags": ["PII"], "expr": "value != 'x'"},
            [None, ("rule", "tags[1]"), None],
            True,
        ),
    ],
)
def test_json(spark: SparkSession, avro: Any, subject: str, rule: dict[str, Any], outcomes: Any, in_jvm: bool) -> None:
    schema_id = register(avro, subject, {"name": "rule", **rule}, text=JSON_TEXT, kind=JSON)
    texts = [b'{"ssn":"a","age":1}', b'{"ssn":"b","age":-1,"tags":["y","x"]}', b'{"ssn":"c"}']
    rows = frame(spark, *(message(schema_id, text) for text in texts))
    column = from_confluent_json("value", registry=avro.registry, subject=subject, mode="PERMISSIVE")
    found, without_python = results(rows, column)
    assert [error for _, error in found] == outcomes
    assert without_python is in_jvm


def test_a_type_given_in_code_has_the_writers_rules(spark: SparkSession, avro: Any, subject: str) -> None:
    rule = {"name": "rule", **READ, "type": "CEL", "expr": "message.age > 0"}
    schema_id = register(avro, subject, rule, text=JSON_TEXT, kind=JSON)
    rows = frame(spark, *(message(schema_id, text) for text in (b'{"ssn":"a","age":1}', b'{"ssn":"b","age":-1}')))
    settings = {"registry": avro.registry, "subject": subject, "mode": "PERMISSIVE"}
    found, _ = results(rows, from_confluent_json("value", data_type="ssn string", **settings))
    assert found == [(Row(ssn="a"), None), (None, ("rule", ""))]
    validated, _ = results(rows, confluent_json_udf("value", **settings))
    assert [error for _, error in validated] == [None, ("rule", "")]


PROTOBUF_TEXT = """
syntax = "proto3";
import "confluent/meta.proto";
message Person {
  string ssn = 1 [(confluent.field_meta).tags = "PII"];
  int32 age = 2;
}
"""


def test_protobuf(spark: SparkSession, avro: Any, subject: str) -> None:
    check = {"name": "check", **READ, "type": "CEL", "expr": "message.age > 0"}
    mark = {"name": "mark", **CHANGE, "type": "CEL_FIELD", "tags": ["PII"], "expr": "value + '!'"}
    schema_id = register(avro, subject, check, mark, text=PROTOBUF_TEXT, kind=PROTOBUF)
    payloads = [b"\x00\x0a\x011\x10\x05", b"\x00\x0a\x012", b"\x00\xff"]
    rows = frame(spark, *(message(schema_id, payload) for payload in payloads))
    column = from_confluent_protobuf("value", registry=avro.registry, subject=subject, mode="PERMISSIVE")
    found, _ = results(rows, column)
    assert found == [(Row(ssn="1!", age=5), None), (None, ("check", "")), (None, (None, None))]
