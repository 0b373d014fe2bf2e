from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

FLIGHT = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [{"name": "carrier", "type": "string"}, {"name": "delay", "type": "int"}],
    }
)


@pytest.mark.slow
def test_a_topic_through_each_example(
    spark: SparkSession, topics: Any, avro: Any, example: Any, tmp_path: Path
) -> None:
    source, target = topics.create(), topics.create()
    [one] = avro.register(f"{source}-value", FLIGHT)
    flights = [{"carrier": "UA", "delay": 30}, {"carrier": "DL", "delay": 5}, {"carrier": "AA", "delay": 16}]
    topics.produce(source, *(avro.message(one, FLIGHT, flight) for flight in flights))
    checkpoint = str(tmp_path / "database.checkpoint")
    url = f"jdbc:derby:{tmp_path}/flights;create=true"
    to_database = example("spark_kafka_to_database")["copy"]
    to_database(spark, topics.servers, avro.url, source, url, "flights", checkpoint)
    table = spark.read.jdbc(url, "flights")
    assert sorted((row.carrier, row.delay) for row in table.collect()) == [("AA", 16), ("DL", 5), ("UA", 30)]

    topics.produce(source, b"broken")
    to_kafka = example("spark_kafka_to_kafka")["copy"]
    to_kafka(spark, topics.servers, avro.url, source, target, str(tmp_path / "kafka.checkpoint"))
    late = avro.registry.version(f"{target}-value")
    assert json.loads(late.schema.text)["name"] == "LateFlight"
    found = sorted(record.value() for record in topics.consume(target, 2))
    header = b"\x00" + late.id.to_bytes(4, "big")
    assert found == [header + b"\x02\x04AA\x02\x20", header + b"\x02\x04UA\x02\x3c"]
    assert topics.consume(f"{target}-dead", 1)[0].value() == b"broken"

    history = example("spark_history")["history"](spark, topics.servers, avro.url, source).collect()
    assert [(row.id, row.problem, row.records) for row in history] == [(None, "wrong magic byte", 1), (one, None, 3)]
