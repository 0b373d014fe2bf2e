from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

import spark_avro
from spark_avro.pipeline import prepared
from spark_avro.pipeline.ports import BatchIdentity, Delivery, Guarantee, SinkResult

V1 = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "carrier", "type": "string"},
            {"name": "delay", "type": ["null", "int"], "default": None},
        ],
    }
)
V2 = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "carrier", "type": "string"},
            {"name": "delay", "type": ["null", "int"], "default": None},
            {"name": "tail", "type": "string", "default": "?"},
        ],
    }
)


class ListSink:
    """Keeps rows in memory, each batch once."""

    guarantee = Guarantee(Delivery.EXACTLY_ONCE, "in memory", "gone", "none")

    def __init__(self) -> None:
        self.batches: dict[str, list[dict[str, Any]]] = {}
        self.lose = 0

    def prepare(self, schema: StructType) -> tuple[str, ...]:
        del schema
        return ()

    def write(self, rows: DataFrame, batch: BatchIdentity) -> SinkResult:
        if str(batch) in self.batches:
            return SinkResult(len(self.batches[str(batch)]), repeated=True)
        self.batches[str(batch)] = [row.asDict(recursive=True) for row in rows.collect()]
        return SinkResult(len(self.batches[str(batch)]) - self.lose)

    def close(self) -> None:
        pass

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for batch in self.batches.values() for row in batch]


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> ListSink:
    made = ListSink()
    monkeypatch.setattr(prepared.sinks, "open_sink", lambda _spec, _context: made, raising=False)
    return made


@pytest.fixture
def pipeline_file(topics: Any, registry_url: str, tmp_path: Path) -> Callable[..., Path]:
    def write(topic: str, rest: str) -> Path:
        file = tmp_path / "pipeline.yaml"
        file.write_text(
            f"""
version: 1
name: flights
kafka: {{bootstrap.servers: "{topics.servers}"}}
registry: {{url: "{registry_url}", patience: 1s}}
checkpoint: {tmp_path}/checkpoint
source: {{topics: [{topic}]}}
sink: {{files: {{path: {tmp_path}/out}}}}
{rest}
"""
        )
        return file

    return write


def test_steps_run_over_batches_and_the_next_run_goes_on(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    flights = [{"id": n, "carrier": "UA", "delay": n - 5 if n else None} for n in range(10)]
    topics.produce(topic, *(avro.message(one, V1, flight) for flight in flights))
    file = pipeline_file(
        topic,
        """
steps:
  - where: delay is not null
  - mask: {carrier: sha256}
  - select: [id, carrier, "delay * 60 as seconds"]
  - sql: "select *, seconds > 0 as late from this"
""",
    )
    result = spark_avro.pipeline(file).run(spark)
    assert (result.batches, result.read, result.written, result.dropped, result.dead) == (1, 10, 9, 1, 0)
    rows = sorted(sink.rows, key=lambda row: row["id"])
    assert [(row["id"], row["seconds"], row["late"]) for row in rows[:6]] == [
        (1, -240, False),
        (2, -180, False),
        (3, -120, False),
        (4, -60, False),
        (5, 0, False),
        (6, 60, True),
    ]
    assert {row["_kafka"]["topic"] for row in rows} == {topic}
    assert {row["_kafka"]["schema_id"] for row in rows} == {one}
    [two] = avro.register(f"{topic}-value", V2)
    topics.produce(topic, avro.message(two, V2, {"id": 10, "carrier": "B6", "delay": 1, "tail": "N1"}))
    result = spark_avro.pipeline(file).run(spark)
    assert (result.batches, result.read, result.written) == (1, 1, 1)
    assert [row["id"] for row in sink.rows][9:] == [10]
