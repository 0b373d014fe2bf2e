from __future__ import annotations

import json
import re
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from compat.schema import AVRO, SchemaText
from serdes.error import IncompatibleSchema, RegistryUnavailable, SchemaNotFound
from spark_avro import from_confluent_avro, to_confluent_avro
from spark_avro.errors import NoSubject, PlanError, UnfitColumn


def record(*fields: Any, name: str = "Flight") -> str:
    keys = ("name", "type", "default")
    return json.dumps({"type": "record", "name": name, "fields": [dict(zip(keys, f, strict=False)) for f in fields]})


FLIGHT = record(("carrier", "string"), ("delay", "long"), ("tail", ["null", "string"], None), ("seats", "int", 150))


def test_a_column_is_cast_filled_and_reordered(spark: SparkSession, avro: Any, subject: str) -> None:
    data = spark.sql("select struct(5 as delay, 'UA' as carrier) as v union all select null")
    column = to_confluent_avro("v", subject=subject, registry=avro.registry, schema=FLIGHT, data=data)
    rows = data.coalesce(1).select(column.alias("m")).collect()
    held = avro.registry.version(subject)
    assert json.loads(held.schema.text) == json.loads(FLIGHT)
    assert bytes(rows[0].m) == struct.pack(">bI", 0, held.id) + b"\x04UA\x0a\x00\xac\x02"
    assert rows[1].m is None


NESTED = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "lines", "type": {"type": "array", "items": {"type": "record", "name": "Line", "fields": [
                {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 3}},
                {"name": "unit",
                 "type": {"type": "enum", "name": "Unit", "symbols": ["KG", "EACH"]}, "default": "EACH"},
            ]}}},
            {"name": "tags", "type": {"type": "map", "values": "long"}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}, "default": 1000},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}, "default": 366},
            {"name": "mark", "type": {"type": "fixed", "name": "Mark", "size": 2}, "default": "\u00ff\u0001"},
            {"name": "fee", "default": "\u0000\u00c8",
             "type": {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}},
            {"name": "note", "type": ["string", "null"], "default": "none"},
            {"name": "spare", "default": {},
             "type": {"type": "record", "name": "Spare", "fields": [{"name": "n", "type": "int", "default": 7}]}},
            {"name": "list", "type": {"type": "array", "items": "int"}, "default": []},
            {"name": "index", "type": {"type": "map", "values": "string"}, "default": {"a": "b"}},
            {"name": "either", "type": ["null", "int", "string"], "default": None},
        ],
    }
)  # fmt: skip


def test_fitting_reaches_into_arrays_maps_and_defaults(spark: SparkSession, avro: Any, subject: str) -> None:
    data = spark.sql("select struct(map('k', 1) as tags, array(struct(1.5BD as price)) as lines, 'x' as either) as v")
    column = to_confluent_avro("v", subject=subject, registry=avro.registry, schema=NESTED, data=data)
    back = from_confluent_avro("m", subject=subject, registry=avro.registry)
    [row] = data.select(column.alias("m")).select(back.alias("v"), "m").collect()
    assert row.v == Row(
        lines=[Row(price=Decimal("1.500"), unit="EACH")],
        tags={"k": 1},
        at=datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC).astimezone().replace(tzinfo=None),
        day=date(1971, 1, 2),
        mark=bytearray(b"\xff\x01"),
        fee=Decimal("2.00"),
        note="none",
        spare=Row(n=7),
        list=[],
        index={"a": "b"},
        either=Row(member0=None, member1="x"),
    )


UNFIT = [
    ("select struct('UA' as carrier) as v", "delay is not in the column and has no default"),
    ("select struct('A' as carrier, 1L as delay, 2 as gate, 3 as x) as v", "it has fields that the schema lacks: gate"),
    ("select struct('UA' as carrier, 1.5D as delay) as v", r"delay is double, which long \(bigint\) cannot hold"),
    ("select struct(1 as carrier, 1 as delay) as v", r"carrier is int, which string \(string\) cannot hold"),
    ("select struct('UA' as carrier, 1 as delay, 2L as seats) as v", r"seats is bigint, which int \(int\) cannot hold"),
    ("select 'UA' as v", "it is string, and record Flight in the schema"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "problem"), UNFIT)
def test_conversions_that_would_lose_data_are_refused(
    spark: SparkSession, avro: Any, subject: str, query: str, problem: str
) -> None:
    with pytest.raises(UnfitColumn, match=f"the column does not fit the schema: {problem}"):
        to_confluent_avro("v", subject=subject, registry=avro.registry, schema=FLIGHT, data=spark.sql(query))


def test_extra_fields_are_left_out_when_asked(spark: SparkSession, avro: Any, subject: str) -> None:
    data = spark.sql("select struct('UA' as carrier, 1L as delay, 2 as gate) as v")
    column = to_confluent_avro("v", subject=subject, registry=avro.registry, schema=FLIGHT, data=data, drop_extra=True)
    assert bytes(data.select(column.alias("m")).collect()[0].m)[5:] == b"\x04UA\x02\x00\xac\x02"


def test_a_schema_is_derived_from_the_column(spark: SparkSession, avro: Any) -> None:
    topic = f"derived-{id(avro)}"
    data = spark.sql(
        "select named_struct('n', 1, 's', cast(null as string), 'at', timestamp'2020-01-01 00:00:00', 'd', 1.25BD,"
        " 'inner', named_struct('b', X'01')) as v"
    )
    column = to_confluent_avro(
        "v", topic=topic, strategy="TopicRecordNameStrategy", registry=avro.registry, data=data, record_name="shop.Row"
    )
    held = avro.registry.version(f"{topic}-shop.Row")
    assert json.loads(held.schema.text) == {
        "type": "record",
        "name": "Row",
        "namespace": "shop",
        "fields": [
            {"name": "n", "type": "int"},
            {"name": "s", "type": ["null", "string"], "default": None},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
            {"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 2}},
            {
                "name": "inner",
                "type": {
                    "type": "record",
                    "name": "Row_inner",
                    "fields": [{"name": "b", "type": "bytes"}],
                },
            },
        ],
    }
    back = from_confluent_avro("m", subject=f"{topic}-shop.Row", registry=avro.registry)
    assert data.select(column.alias("m")).select(back.alias("v")).collect() == data.collect()


def test_versions_strategies_and_lookups(spark: SparkSession, avro: Any, subject: str) -> None:
    registry, data = avro.registry, spark.sql("select struct('UA' as carrier, 1L as delay) as v")
    topic = subject.removesuffix("-value")
    with pytest.raises(NoSubject, match=f"subject '{subject}' is not in the registry"):
        to_confluent_avro("v", topic=topic, registry=registry, version="latest")
    one, two = avro.register(subject, record(("carrier", "string")), FLIGHT)
    for version, schema_id in ((1, one), (2, two), ("latest", two)):
        column = to_confluent_avro("v", topic=topic, registry=registry, version=version, data=data, drop_extra=True)
        assert bytes(data.select(column.alias("m")).collect()[0].m)[:5] == struct.pack(">bI", 0, schema_id)
    with pytest.raises(PlanError, match=f"subject '{subject}': Version 9 not found"):
        to_confluent_avro("v", topic=topic, registry=registry, version=9)
    with pytest.raises(SchemaNotFound):
        to_confluent_avro("v", topic=topic, registry=registry, schema=record(("x", "int")), register=False)
    with pytest.raises(PlanError, match="TopicNameStrategy needs a topic"):
        to_confluent_avro("v", registry=registry, schema=FLIGHT)
    with pytest.raises(PlanError, match="RecordNameStrategy needs a record as schema"):
        to_confluent_avro("v", registry=registry, schema='"string"', strategy="RecordNameStrategy")
    with pytest.raises(PlanError, match="give a schema, a version, or the data"):
        to_confluent_avro("v", registry=registry, topic="t")
    registry.put_config({"compatibility": "BACKWARD"}, subject)
    with pytest.raises(IncompatibleSchema, match="READER_FIELD_MISSING_DEFAULT_VALUE"):
        to_confluent_avro("v", registry=registry, subject=subject, schema=record(("new", "int")))
    with pytest.raises(RegistryUnavailable):
        to_confluent_avro("v", registry="http://127.0.0.1:9", subject="s", schema=FLIGHT)


#: Values, the place of the null by Avro's own error, and which field Spark's says from 4.1 on, if it notices.
NULLS = [
    ("cast(null as string) as name, struct(1L as n) as at, null as spare, array(1) as list",
        "string at Flight.name", "name"),
    ("'x' as name, null as at, null as spare, array(1) as list", "At at Flight.at", "at"),
    ("'x' as name, struct(cast(null as long) as n) as at, null as spare, array(1) as list", "long at Flight.at.n", "n"),
    ("'x' as name, struct(1L as n) as at, struct(null as n) as spare, array(1) as list",
        "long at Flight.spare[At].n", "n"),
    ("'x' as name, struct(1L as n) as at, null as spare, array(1, null) as list", "int at Flight.list[1]", None),
]  # fmt: skip


@pytest.mark.parametrize("known", [True, False])
def test_a_null_where_the_schema_has_none_stops_the_query(
    spark: SparkSession, avro: Any, subject: str, spark_version: tuple[int, int], *, known: bool
) -> None:
    at = {"type": "record", "name": "At", "fields": [{"name": "n", "type": "long"}]}
    items = {"type": "array", "items": "int"}
    schema = record(("name", "string"), ("at", at), ("spare", ["null", "At"], None), ("list", items))
    kind = "struct<name:string,at:struct<n:bigint>,spare:struct<n:bigint>,list:array<int>>"
    for value, place, field in NULLS:
        data = spark.sql(f"select cast(struct({value}) as {kind}) as v from range(1)")
        settings = {"subject": subject, "registry": avro.registry, "schema": schema, "data": data if known else None}
        said_by_spark = field is not None and spark_version >= (4, 1)
        with pytest.raises(PySparkException if said_by_spark else Py4JJavaError) as stopped:
            data.select(to_confluent_avro("v", **settings).alias("m")).collect()
        if said_by_spark:
            assert f"Cannot write null value for field `{field}` defined as non-null Avro data" in str(stopped.value)
        else:
            assert re.findall(r"null value for \(non-nullable\) (.*)\n", str(stopped.value))[0] == place


def test_bytes_are_the_payload_and_references_are_kept(spark: SparkSession, avro: Any, subject: str) -> None:
    data = spark.sql("select X'0203' as v, 'x' as s")
    column = to_confluent_avro(
        "v", subject=subject, registry=avro.registry, schema=SchemaText(AVRO, '"bytes"'), data=data
    )
    assert bytes(data.select(column.alias("m")).collect()[0].m)[5:] == b"\x02\x03"
    key = to_confluent_avro(
        F.col("s"), topic=subject, is_key=True, registry=avro.registry, schema='"string"', data=data
    )
    assert bytes(data.select(key.alias("m")).collect()[0].m)[5:] == b"\x02x"
    assert avro.registry.versions(f"{subject}-key") == [1]
