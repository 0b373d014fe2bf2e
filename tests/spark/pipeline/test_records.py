"""Topics with several record types, and the version of each record's schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from spark_avro.errors import NoSubject
from spark_avro.pipeline.file.place import PipelineError
from tests.spark.pipeline.flights import V1, V2, ListSink, messages

LANDING = json.dumps(
    {
        "type": "record",
        "name": "Landing",
        "namespace": "air",
        "fields": [{"name": "gate", "type": "string"}],
    }
)


def columns(row: dict[str, Any]) -> dict[str, Any]:
    """The columns without the position."""
    return {name: value for name, value in row.items() if not name.startswith("_")}


@pytest.mark.slow
def test_topics_with_several_types_have_a_column_for_each(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    flights, mixed, dead = topics.create(), topics.create(), topics.create()
    [flight] = avro.register(f"{flights}-value", V1)
    [landing] = avro.register(f"{mixed}-air.Landing", LANDING)
    file = pipeline_file(flights, f"errors: {{tolerance: all, topic: {dead}}}")
    settings = [f"source.topics=[{flights}, {mixed}]", "source.records={}"]
    topics.produce(flights, *messages(avro, flight, 2))
    # A topic may have records of all types, tombstones, and broken records.
    topics.produce(mixed, avro.message(landing, LANDING, {"gate": "A1"}), *messages(avro, flight, 1, 2), None, b"x")
    result = spark_avro.pipeline(file, overrides=settings).run(spark)
    assert (result.read, result.written, result.dead) == (6, 5, 1)
    assert sorted((columns(row) for row in sink.rows), key=repr) == [
        {"Flight": None, "Landing": None},
        {"Flight": None, "Landing": {"gate": "A1"}},
        *({"Flight": {"id": n, "carrier": "UA", "delay": n}, "Landing": None} for n in range(3)),
    ]
    # A version that is registered later is read by the next batch, and steps take one type.
    [newer] = avro.register(f"{flights}-value", V2)
    topics.produce(flights, avro.message(newer, V2, {"id": 9, "carrier": "B6", "delay": None, "tail": "N1"}))
    steps = 'steps=[{where: Flight is not null}, {select: ["Flight.*"]}]'
    assert spark_avro.pipeline(file, overrides=[*settings, steps]).run(spark).written == 1
    assert columns(sink.rows[-1]) == {"id": 9, "carrier": "B6", "delay": None, "tail": "N1"}


def test_subjects_of_records_may_be_named(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path], subject: str
) -> None:
    topic = topics.create()
    [landing] = avro.register(subject, LANDING)
    topics.produce(topic, avro.message(landing, LANDING, {"gate": "B2"}))
    file = pipeline_file(topic, "")
    spark_avro.pipeline(file, overrides=[f"source.records={{subjects: {subject}}}"]).run(spark)
    assert [columns(row) for row in sink.rows] == [{"Landing": {"gate": "B2"}}]
    with pytest.raises(NoSubject, match=f"{topic}-value"):
        spark_avro.pipeline(file, overrides=["source.records={}"]).run(spark)


@pytest.mark.parametrize(
    ("settings", "finding"),
    [
        (["source.value={format: avro}"], "source.records: stands beside value; give one of them"),
        (
            ["source={pattern: flights.*, records: {}}"],
            "source.records: subjects is missing: a pattern names no subjects",
        ),
        (
            ["evolve={new-version: {pin: 1}}"],
            "evolve: new-version: {pin: N} is a version of one subject, and source.records reads several",
        ),
    ],
)
def test_records_contradict_other_settings(
    pipeline_file: Callable[..., Path], settings: list[str], finding: str
) -> None:
    with pytest.raises(PipelineError) as error:
        spark_avro.pipeline(pipeline_file("flights", ""), overrides=["source.records={}", *settings])
    assert str(error.value).endswith(finding)


def test_steps_see_the_version_of_each_record(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    topic = topics.create()
    one, two = avro.register(f"{topic}-value", V1, V2)
    newer = avro.message(two, V2, {"id": 1, "carrier": "B6", "delay": None, "tail": "N1"})
    topics.produce(topic, *messages(avro, one, 1), newer, None)
    steps = 'steps: [{select: [id, "_kafka.schema_version as version"]}, {where: version is null or version < 3}]'
    assert spark_avro.pipeline(pipeline_file(topic, steps)).run(spark).written == 3
    assert {row["id"]: row["version"] for row in sink.rows} == {0: 1, 1: 2, None: None}
    assert {row["_kafka"]["schema_version"] for row in sink.rows} == {1, 2, None}
