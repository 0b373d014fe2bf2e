"""Records of other versions go through the migration rules to the version that they are read as."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from compat.schema import AVRO, JSON, SchemaText
from serdes.codec import compile_codec
from spark_avro import from_confluent_avro, from_confluent_json
from spark_avro.streams.followers import Follower
from tests.spark.rules.test_reading import frame, message, results

pytestmark = pytest.mark.slow


def record(*fields: str) -> str:
    listed = [{"name": name, "type": "string"} for name in fields]
    return json.dumps({"type": "record", "name": "Person", "fields": [*listed, {"name": "age", "type": "int"}]})


OLD, NEW = record("name"), record("full")
UP = {"name": "up", "kind": "TRANSFORM", "mode": "UPGRADE", "type": "JSONATA"}
RENAME = {**UP, "expr": "$merge([$sift($, function($v, $k) {$k != 'name'}), {'full': name}])"}
CHECK = {"name": "check", "kind": "CONDITION", "mode": "READ", "type": "CEL", "expr": "message.full != 'x'"}


def test_older_records_become_those_of_the_latest_version(spark: SparkSession, avro: Any, subject: str) -> None:
    one = avro.registry.register(subject, SchemaText(AVRO, OLD)).id
    rules = {"migrationRules": [RENAME], "domainRules": [CHECK]}
    two = avro.registry.register(subject, SchemaText(AVRO, NEW), rule_set=rules).id
    old, new = compile_codec(OLD), compile_codec(NEW)
    rows = frame(
        spark,
        message(one, old.encode({"name": "a", "age": 1})),
        message(two, new.encode({"full": "b", "age": 2})),
        message(one, old.encode({"name": "x", "age": 3})),
        message(one, b"\x02"),
    )
    settings = {"registry": avro.registry, "subject": subject}
    found, _ = results(rows, from_confluent_avro("value", mode="PERMISSIVE", **settings))
    assert found == [
        (Row(full="a", age=1), None),
        (Row(full="b", age=2), None),
        (None, ("check", "")),
        (None, (None, None)),
    ]
    pinned = Follower(avro.registry, subject=subject, reader_version=1)
    assert pinned.plan.rules.by_id == {}


def test_a_rule_that_fails_names_itself(spark: SparkSession, avro: Any, subject: str) -> None:
    one = avro.registry.register(subject, SchemaText(AVRO, OLD)).id
    rules = {"migrationRules": [{**UP, "expr": "{'age': age}"}]}
    avro.registry.register(subject, SchemaText(AVRO, NEW), rule_set=rules)
    rows = frame(spark, message(one, compile_codec(OLD).encode({"name": "a", "age": 1})))
    found, _ = results(rows, from_confluent_avro("value", mode="PERMISSIVE", registry=avro.registry, subject=subject))
    assert found == [(None, ("up", ""))]


def test_json(spark: SparkSession, avro: Any, subject: str) -> None:
    def text(name: str) -> str:
        return json.dumps({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})

    one = avro.registry.register(subject, SchemaText(JSON, text("name"))).id
    rules = {"migrationRules": [{**UP, "expr": "{'full': name}"}], "domainRules": [CHECK]}
    avro.registry.register(subject, SchemaText(JSON, text("full")), rule_set=rules)
    rows = frame(spark, message(one, b'{"name":"a"}'), message(one, b'{"name":"x"}'))
    found, _ = results(rows, from_confluent_json("value", registry=avro.registry, subject=subject, mode="PERMISSIVE"))
    assert found == [(Row(full="a"), None), (None, ("check", ""))]
