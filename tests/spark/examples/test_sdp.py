"""The example of a declarative pipeline, run by Spark's own command (`make test-spark VERSION=4.1.1`)."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from confluent_kafka import Producer

from compat.schema import AVRO, SchemaText
from magicbyte.platform.java import find_spark_java
from serdes.codec import compile_codec
from spark_avro.errors import PlanError
from spark_avro.sdp import tables
from spark_avro.spark_session import modules

EXAMPLE = Path(__file__).parents[3] / "examples" / "sdp"
IS_DECLARATIVE = importlib.util.find_spec("pyspark.pipelines") is not None

V1 = {"type": "record", "name": "Flight", "fields": [{"name": "carrier", "type": "string"}]}
V1["fields"].append({"name": "delay", "type": "double"})  # type: ignore[attr-defined]
V2 = {**V1, "fields": [*V1["fields"], {"name": "tail", "type": ["null", "string"], "default": None}]}


@pytest.mark.parametrize(
    ("topics", "message"),
    [((), "topics: give at least one"), (("a.b", "a-b"), "topics: a.b and a-b would both be the table a_b")],
)
def test_topics_that_are_none(topics: tuple[str, ...], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        tables(topics=topics, bootstrap_servers="127.0.0.1:1", registry="http://127.0.0.1:1")


@pytest.mark.skipif(IS_DECLARATIVE, reason="this PySpark has declarative pipelines")
def test_another_spark_says_what_it_lacks() -> None:
    with pytest.raises(PlanError, match="no declarative pipelines"):
        tables(topics=["a"], bootstrap_servers="127.0.0.1:1", registry="http://127.0.0.1:1")


@pytest.mark.slow
@pytest.mark.skipif(not IS_DECLARATIVE, reason="declarative pipelines came with PySpark 4.1")
def test_the_example_decodes_a_topic_and_keeps_broken_records(avro: Any, kafka: str, tmp_path: Path) -> None:
    project = tmp_path / "flights"
    shutil.copytree(EXAMPLE, project)
    spec = project / "spark-pipeline.yml"
    spec.write_text(spec.read_text().replace("file:///tmp/magicbyte-sdp", (tmp_path / "storage").as_uri()))
    environment = {
        **os.environ,
        "JAVA_HOME": str(find_spark_java().home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_TESTING": "1",
        "BOOTSTRAP_SERVERS": kafka,
        "SCHEMA_REGISTRY_URL": avro.url,
    }
    settings = {
        **modules(),
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.ui.enabled": "false",
    }
    conf = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    command = [str(Path(sys.executable).with_name("spark-pipelines")), *conf, "run", "--spec", str(spec)]

    def rows(table: str) -> list[dict[str, Any]]:
        data: list[dict[str, Any]] = ds.dataset(tmp_path / "warehouse" / table, format="parquet").to_table().to_pylist()
        return data

    producer = Producer({"bootstrap.servers": kafka})

    def send(schema: dict[str, Any], *flights: dict[str, Any]) -> None:
        text = json.dumps(schema)
        schema_id = avro.registry.register("flights-value", SchemaText(AVRO, text)).id
        for flight in flights:
            producer.produce("flights", b"\x00" + schema_id.to_bytes(4, "big") + compile_codec(text).encode(flight))
        assert producer.flush(30) == 0

    send(V1, {"carrier": "UA", "delay": 2.0})
    producer.produce("flights", b"broken")
    send(V2, {"carrier": "UA", "delay": 4.0, "tail": "N1"})
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    flights = sorted((row["_kafka"]["offset"], row["carrier"], row["delay"], row["tail"]) for row in rows("flights"))
    assert flights == [(0, "UA", 2.0, None), (2, "UA", 4.0, "N1")]
    (dead,) = rows("flights_dead")
    assert (dead["value"], dead["_kafka"]["offset"]) == (b"broken", 1)
    assert "magic byte" in dead["error"]["reason"]
    assert rows("delays") == [{"carrier": "UA", "delay": 3.0, "flights": 2}]
