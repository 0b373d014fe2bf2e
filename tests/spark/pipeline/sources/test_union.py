"""One source of Kafka with several parts: topics with their own schemas, whose rows are united by column."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from serdes.letters.headers import read_letter
from spark_avro.pipeline.run.counts import BatchCounts
from spark_avro.pipeline.run.running import Running
from tests.spark.pipeline.flights import ListSink


def record(name: str, *fields: tuple[str, Any]) -> str:
    return json.dumps({"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields]})


def nested(name: str, *fields: tuple[str, Any]) -> Any:
    return json.loads(record(name, *fields))


EU = record("Order", ("id", "int"), ("vat", "string"), ("buyer", nested("Buyer", ("name", "string"), ("age", "int"))))
US = record(
    "Order", ("id", "long"), ("buyer", nested("Buyer", ("name", "string"), ("state", "string"))), ("tax", "double")
)


def columns(row: dict[str, Any]) -> dict[str, Any]:
    """The columns without the position."""
    return {name: value for name, value in row.items() if name != "_kafka"}


@pytest.fixture
def union_file(pipeline_file: Callable[..., Path]) -> Callable[..., Path]:
    def write(parts: str, rest: str = "") -> Path:
        file = pipeline_file("none", rest)
        file.write_text(file.read_text().replace("topics: [none]", parts))
        return file

    return write


def test_rows_of_topics_with_different_schemas_are_united_by_column(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, union_file: Callable[..., Path]
) -> None:
    eu, us, dead = topics.create(), topics.create(), topics.create()
    [of_eu] = avro.register(f"{eu}-value", EU)
    [of_us] = avro.register(f"{us}-value", US)
    file = union_file(f"union: [{{topics: {eu}}}, {{topics: {us}}}]", f"errors: {{tolerance: all, topic: {dead}}}")
    one = {"id": 1, "vat": "DE1", "buyer": {"name": "a", "age": 30}}
    two = {"id": 2**40, "buyer": {"name": "b", "state": "NY"}, "tax": 0.5}
    topics.produce(eu, avro.message(of_eu, EU, one), b"broken", None)
    # The id of one topic's schema is unknown in the other one.
    topics.produce(us, avro.message(of_us, US, two), avro.message(of_eu, EU, one), b"broken too")
    counts: list[BatchCounts] = []
    running = Running(spark_avro.pipeline(file, overrides=["evolve.unreadable=dead-letter"]).file, spark)
    running.on_batch = counts.append
    result = running.run()
    assert (result.read, result.written, result.dead) == (6, 3, 3)
    assert sorted((columns(row) for row in sink.rows), key=repr) == [
        {"id": 1, "vat": "DE1", "buyer": {"name": "a", "age": 30, "state": None}, "tax": None},
        {"id": 2**40, "vat": None, "buyer": {"name": "b", "age": None, "state": "NY"}, "tax": 0.5},
        {"id": None, "vat": None, "buyer": None, "tax": None},
    ]
    assert [(row["_kafka"]["topic"], row["_kafka"]["schema_id"]) for row in sink.rows if row["id"]] in (
        [(eu, of_eu), (us, of_us)],
        [(us, of_us), (eu, of_eu)],
    )
    assert dict(counts[0].ids) == {of_eu: 2, of_us: 1}
    found = [(letter.value(), read_letter(letter.headers())) for letter in topics.consume(dead, 3)]
    assert sorted(
        (letter.topic, str(letter.message).partition(" ")[0], value[:6]) for value, letter in found
    ) == sorted([(eu, "wrong", b"broken"), (us, "wrong", b"broken"), (us, "unknown", avro.message(of_eu, EU, one)[:6])])
