from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from spark_avro import from_confluent_avro, from_confluent_avro_records
from spark_avro.errors import NoSubject, PlanError

ORDER = json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "id", "type": "int"}]})
ORDER_2 = ORDER.replace('"int"', '"long"')
REFUND = json.dumps(
    {"type": "record", "name": "Refund", "namespace": "shop", "fields": [{"name": "cents", "type": "int"}]}
)


def test_a_struct_for_each_type(spark: SparkSession, avro: Any, subject: str, query_failure: type[Exception]) -> None:
    topic = subject
    [one, two] = avro.register(f"{topic}-shop.Order", ORDER, ORDER_2)
    [three] = avro.register(f"{topic}-shop.Refund", REFUND)
    [other] = avro.register(f"{topic}-value", '"string"')
    messages = [
        avro.message(one, ORDER, {"id": 1}),
        avro.message(three, REFUND, {"cents": -5}),
        None,
        avro.message(two, ORDER_2, {"id": 2**40}),
        avro.message(three, REFUND, {"cents": 5}) + b"\n",
        struct.pack(">bI", 0, other) + b"\x00",
    ]
    rows = [(n, None if m is None else bytearray(m)) for n, m in enumerate(messages)]
    data = spark.createDataFrame(rows, "n int, value binary").coalesce(1)
    column = from_confluent_avro_records("value", topic=topic, registry=avro.registry, mode="PERMISSIVE")
    found = [row.v for row in data.select(column.alias("v"), "n").orderBy("n").collect()]
    assert [row.value for row in found] == [
        Row(Order=Row(id=1), Refund=None),
        Row(Order=None, Refund=Row(cents=-5)),
        None,
        Row(Order=Row(id=2**40), Refund=None),
        None,
        None,
    ]
    assert [row.error and row.error.reason.partition(":")[0] for row in found] == [
        None,
        None,
        None,
        None,
        "malformed payload",
        "unknown schema id",
    ]
    strict = from_confluent_avro_records("value", subjects=[f"{topic}-shop.Order"], registry=avro.registry)
    with pytest.raises(
        query_failure, match=rf"unknown schema id: {three} .* is not among those of subjects {topic}-shop.Order"
    ):
        data.select(strict.alias("v")).collect()


def test_one_type_of_several(spark: SparkSession, avro: Any, subject: str) -> None:
    one, two, three = avro.register(subject, ORDER, REFUND, ORDER_2)
    messages = [
        avro.message(one, ORDER, {"id": 1}),
        avro.message(two, REFUND, {"cents": 2}),
        avro.message(three, ORDER_2, {"id": 3}),
    ]
    data = spark.createDataFrame([(n, bytearray(m)) for n, m in enumerate(messages)], "n int, value binary")
    column = from_confluent_avro("value", subject=subject, registry=avro.registry, record="shop.Order")
    assert [row.v for row in data.select(column.alias("v"), "n").orderBy("n").collect()] == [Row(id=1), None, Row(id=3)]
    dropped = from_confluent_avro("value", subject=subject, registry=avro.registry, record="shop.Refund", mode="DROP")
    assert data.select("n", dropped.alias("v")).collect() == [Row(n=1, v=Row(cents=2))]
    with pytest.raises(PlanError, match=r"is a record shop.Nothing; there are shop.Order, shop.Refund"):
        from_confluent_avro("value", subject=subject, registry=avro.registry, record="shop.Nothing")


def test_no_subjects(avro: Any) -> None:
    with pytest.raises(NoSubject, match="the topic record name strategy's for topic nowhere"):
        from_confluent_avro_records("value", topic="nowhere", registry=avro.registry)
    with pytest.raises(PlanError, match="give subjects or a topic"):
        from_confluent_avro_records("value", registry=avro.registry)
