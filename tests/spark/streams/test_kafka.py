from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

V1 = json.dumps({"type": "record", "name": "Flight", "fields": [{"name": "carrier", "type": "string"}]})
V2 = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [{"name": "carrier", "type": "string"}, {"name": "delay", "type": "int", "default": 0}],
    }
)


def test_kafka_to_parquet(spark: SparkSession, topics: Any, avro: Any, example: Any, tmp_path: Path) -> None:
    topic = topics.create()
    copy = example("spark_kafka_to_parquet")["copy"]
    folder = str(tmp_path / "flights")
    one, two = avro.register(f"{topic}-value", V1, V2)
    old = [avro.message(one, V1, {"carrier": f"A{n}"}) for n in range(20)]
    new = [avro.message(two, V2, {"carrier": f"B{n}", "delay": n}) for n in range(20)]
    topics.produce(topic, *old, *new)
    copy(spark, topics.servers, avro.url, topic, folder)
    rows = spark.read.parquet(folder).select("carrier", "delay").collect()
    expected = [(f"A{n}", 0) for n in range(20)] + [(f"B{n}", n) for n in range(20)]
    assert sorted(tuple(row) for row in rows) == sorted(expected)

    topics.produce(topic, old[0])
    copy(spark, topics.servers, avro.url, topic, folder)
    assert spark.read.parquet(folder).count() == 41

    topics.produce(topic, b"\x00\x00\x0f\x42\x40\x02")
    with pytest.raises(PySparkException) as failure:
        copy(spark, topics.servers, avro.url, topic, folder)
    assert "unknown schema id: 1000000 (0x000F4240) is not among those of subject" in str(failure.value)
    assert f"at topic {topic}, partition" in str(failure.value)
    assert spark.read.parquet(folder).count() == 41
