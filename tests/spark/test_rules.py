"""Rules that are refused, or that nobody carries out: no function writes or hands out a value under them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.schema import AVRO, JSON, PROTOBUF, SchemaText
from serdes.error import RulesNotSupported
from spark_avro import (
    confluent_avro_udf,
    confluent_json_udf,
    from_confluent_avro,
    from_confluent_avro_records,
    from_confluent_json,
    from_confluent_protobuf,
    to_confluent_avro,
    to_confluent_json,
    to_confluent_protobuf,
)
from spark_avro.errors import PlanError
from spark_avro.streams.followers import Follower

#: Most tests of this file take seconds each.
pytestmark = pytest.mark.slow

ENCRYPT = {"name": "encryptSsn", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "ENCRYPT", "tags": ["PII"]}
CHECK = {"name": "checkSsn", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}
UPGRADE = {"name": "upgradeSsn", "kind": "TRANSFORM", "mode": "UPGRADE", "type": "JSONATA", "expr": "$"}

AVRO_TEXT = json.dumps({"type": "record", "name": "Person", "fields": [{"name": "ssn", "type": "string"}]})
JSON_TEXT = json.dumps({"type": "object", "properties": {"ssn": {"type": "string"}}})
PROTOBUF_TEXT = 'syntax = "proto3"; message Person { string ssn = 1; }'

#: A schema, one more version of it, and the payload of {"ssn": "123"} in both.
FORMS = {
    AVRO: (AVRO_TEXT, AVRO_TEXT.replace('"record"', '"record", "doc": "two"'), b"\x06123"),
    JSON: (JSON_TEXT, JSON_TEXT.replace('"object"', '"object", "title": "two"'), b'{"ssn":"123"}'),
    PROTOBUF: (PROTOBUF_TEXT, PROTOBUF_TEXT.replace("1;", "1; int32 n = 2;"), b"\x00\x0a\x03123"),
}

READERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "from_confluent_avro": (AVRO, from_confluent_avro),
    "confluent_avro_udf": (AVRO, confluent_avro_udf),
    "from_confluent_json": (JSON, from_confluent_json),
    "confluent_json_udf": (JSON, confluent_json_udf),
    "from_confluent_protobuf": (PROTOBUF, from_confluent_protobuf),
}
ASKING = [name for name in READERS if name != "from_confluent_json"]


def as_json(column: Any, **settings: Any) -> Any:
    return confluent_avro_udf(column, as_json=True, **settings)


def register(avro: Any, subject: str, schema_type: str, text: str | None = None, **rule_set: Any) -> int:
    schema = SchemaText(schema_type, text or FORMS[schema_type][0])
    return int(avro.registry.register(subject, schema, rule_set=rule_set or None).id)


def message(schema_id: int, schema_type: str) -> bytearray:
    return bytearray(struct.pack(">bI", 0, schema_id) + FORMS[schema_type][2])


def read(spark: SparkSession, column: Any, *messages: bytearray) -> list[Row]:
    rows = spark.createDataFrame(list(enumerate(messages)), "n int, value binary").coalesce(1)
    return [row.v for row in rows.select(column.alias("v"), "n").orderBy("n").collect()]


@pytest.mark.parametrize("rule", [ENCRYPT, CHECK])
@pytest.mark.parametrize("phase", ["domainRules", "encodingRules"])
def test_nothing_is_written_under_a_rule(spark: SparkSession, avro: Any, subject: str, rule: Any, phase: str) -> None:
    match = rf"the schema of subject {subject}-\w+ has rules that this library does not carry out: {rule['name']}"
    value = F.struct(F.lit("123").alias("ssn"))
    writers: dict[str, Callable[..., Any]] = {
        AVRO: to_confluent_avro,
        JSON: to_confluent_json,
        PROTOBUF: to_confluent_protobuf,
    }
    for schema_type, write in writers.items():
        text = FORMS[schema_type][0]
        settings = {"subject": f"{subject}-{schema_type}", "registry": avro.registry, "rules": "refuse"}
        register(avro, settings["subject"], schema_type, **{phase: [rule]})
        for more in ({"schema": text}, {"schema": text, "register": False}):
            with pytest.raises(RulesNotSupported, match=match):
                write(value, **settings, **more)
    for version in (1, "latest"):
        with pytest.raises(RulesNotSupported, match=match):
            to_confluent_avro(
                value, subject=f"{subject}-{AVRO}", registry=avro.registry, version=version, rules="refuse"
            )


def test_nothing_is_written_under_a_rule_of_encryption(spark: SparkSession, avro: Any, subject: str) -> None:
    value = F.struct(F.lit("123").alias("ssn"))
    register(avro, subject, AVRO, domainRules=[ENCRYPT])
    with pytest.raises(PlanError, match=r"rule 'encryptSsn' \(ENCRYPT, WRITE\) of the schema of subject"):
        to_confluent_avro(value, subject=subject, registry=avro.registry, schema=AVRO_TEXT)
    bytes_rule = {**ENCRYPT, "type": "ENCRYPT_PAYLOAD"}
    register(avro, f"{subject}-2", AVRO, encodingRules=[bytes_rule])
    with pytest.raises(PlanError, match="rules on encoded bytes are not carried out in Spark"):
        to_confluent_avro(value, subject=f"{subject}-2", registry=avro.registry, schema=AVRO_TEXT)


@pytest.mark.parametrize("name", [*READERS, "as_json"])
def test_nothing_is_handed_out_if_the_readers_schema_has_a_rule(
    spark: SparkSession, avro: Any, subject: str, name: str, query_failure: type[Exception]
) -> None:
    schema_type, reader = READERS.get(name, (AVRO, as_json))
    schema_id = register(avro, subject, schema_type, domainRules=[ENCRYPT])
    for settings in ({"subject": subject}, {"ids": [schema_id]}):
        with pytest.raises(RulesNotSupported, match="has rules that this library does not carry out: encryptSsn"):
            reader("value", registry=avro.registry, rules="refuse", **settings)


def test_no_way_around_a_rule_of_all_versions(spark: SparkSession, avro: Any, subject: str) -> None:
    register(avro, subject, AVRO, domainRules=[ENCRYPT])
    match = "has rules that this library does not carry out: encryptSsn"
    with pytest.raises(RulesNotSupported, match=match):
        from_confluent_avro("value", subject=subject, registry=avro.registry, reader_schema=AVRO_TEXT, rules="refuse")
    with pytest.raises(RulesNotSupported, match=match):
        from_confluent_avro_records("value", subjects=[subject], registry=avro.registry, rules="refuse")
    with pytest.raises(RulesNotSupported, match=match):
        Follower(avro.registry, subject=subject, rules="refuse").refresh()
    register(avro, f"{subject}-json", JSON, domainRules=[ENCRYPT])
    with pytest.raises(RulesNotSupported, match=match):
        from_confluent_json(
            "value", subject=f"{subject}-json", registry=avro.registry, data_type="ssn string", rules="refuse"
        )


@pytest.mark.parametrize("name", [*READERS, "as_json"])
def test_records_of_another_version_with_a_rule_are_broken(
    spark: SparkSession, avro: Any, subject: str, name: str, query_failure: type[Exception]
) -> None:
    schema_type, reader = READERS.get(name, (AVRO, as_json))
    plain = register(avro, subject, schema_type)
    ruled = register(avro, f"{subject}-ruled", schema_type, FORMS[schema_type][1], domainRules=[ENCRYPT])
    settings = {"ids": [plain, ruled], "registry": avro.registry}
    messages = (message(plain, schema_type), message(ruled, schema_type))
    [good, bad] = read(spark, reader("value", **settings, mode="PERMISSIVE"), *messages)
    assert "123" in str(good.value)
    assert (good.error, bad.value, bad.error.id) == (None, None, ruled)
    assert bad.error.reason == (
        f"unreadable schema: id {ruled} (0x{ruled:08X}): schema id {ruled} has rules that this library does not carry"
        " out: encryptSsn"
    )
    with pytest.raises(query_failure, match="does not carry out: encryptSsn"):
        read(spark, reader("value", **settings), *messages)


def test_records_of_one_type_with_a_rule_are_broken(spark: SparkSession, avro: Any, subject: str) -> None:
    plain = register(avro, f"{subject}-plain", AVRO)
    other = AVRO_TEXT.replace("Person", "Patient")
    ruled = register(avro, f"{subject}-ruled", AVRO, other, domainRules=[ENCRYPT])
    subjects = [f"{subject}-plain", f"{subject}-ruled"]
    column = from_confluent_avro_records("value", subjects=subjects, registry=avro.registry, mode="PERMISSIVE")
    [good, bad] = read(spark, column, message(plain, AVRO), message(ruled, AVRO))
    assert good.value == Row(Person=Row(ssn="123"), Patient=None)
    assert bad.value is None
    assert bad.error.reason.endswith("does not carry out: encryptSsn")


@pytest.mark.parametrize("name", ASKING)
def test_workers_that_ask_the_registry_refuse_rules(spark: SparkSession, avro: Any, subject: str, name: str) -> None:
    schema_type, reader = READERS[name]
    plain = register(avro, subject, schema_type)
    ruled = register(avro, f"{subject}-ruled", schema_type, FORMS[schema_type][1], domainRules=[ENCRYPT])
    column = reader("value", subject=subject, registry=avro.registry, ask_registry=True, mode="PERMISSIVE")
    [good, bad] = read(spark, column, message(plain, schema_type), message(ruled, schema_type))
    assert good.value.ssn == "123"
    assert bad.value is None
    assert bad.error.reason.endswith("does not carry out: encryptSsn")


@pytest.mark.parametrize("name", READERS)
def test_a_migration_rule_of_the_latest_version(spark: SparkSession, avro: Any, subject: str, name: str) -> None:
    schema_type, reader = READERS[name]
    first, second, _ = FORMS[schema_type]
    one = register(avro, subject, schema_type, first)
    two = register(avro, subject, schema_type, second, migrationRules=[UPGRADE])
    messages = (message(one, schema_type), message(two, schema_type))
    column = reader("value", subject=subject, registry=avro.registry, mode="PERMISSIVE", rules="refuse")
    [old, new] = read(spark, column, *messages)
    assert (old.value, new.value.ssn) == (None, "123")
    assert old.error.reason.endswith("has rules that this library does not carry out: upgradeSsn")


def test_no_migration_is_needed_without_the_latest_version(spark: SparkSession, avro: Any, subject: str) -> None:
    one = register(avro, subject, AVRO)
    two = register(avro, subject, AVRO, FORMS[AVRO][1], migrationRules=[UPGRADE])
    settings = {"subject": subject, "registry": avro.registry}
    messages = (message(one, AVRO), message(two, AVRO))
    given = from_confluent_avro("value", reader_schema=AVRO_TEXT, **settings)
    assert read(spark, given, *messages) == [Row(ssn="123"), Row(ssn="123")]
    assert read(spark, as_json("value", **settings), *messages) == ['{"ssn":"123"}', '{"ssn":"123"}']
    typed = f"{subject}-json"
    old = register(avro, typed, JSON)
    register(avro, typed, JSON, FORMS[JSON][1], migrationRules=[UPGRADE])
    column = from_confluent_json("value", subject=typed, registry=avro.registry, data_type="struct<ssn: string>")
    assert read(spark, column, message(old, JSON)) == [Row(ssn="123")]


@pytest.mark.parametrize(
    "rule_set",
    [{"domainRules": [{**ENCRYPT, "disabled": True}]}, {"domainRules": [ENCRYPT], "enableAt": "NONE"}],
)
def test_rules_that_serializers_also_skip(spark: SparkSession, avro: Any, subject: str, rule_set: Any) -> None:
    schema_id = register(avro, subject, AVRO, **rule_set)
    settings = {"subject": subject, "registry": avro.registry}
    written = to_confluent_avro(F.struct(F.lit("123").alias("ssn")), schema=AVRO_TEXT, **settings)
    [row] = spark.range(1).select(written.alias("m")).collect()
    assert bytearray(row.m) == message(schema_id, AVRO)
    assert read(spark, from_confluent_avro("value", **settings), message(schema_id, AVRO)) == [Row(ssn="123")]
