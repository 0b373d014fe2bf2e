"""Records that fail in a pipeline whose steps remember rows, and schemas that come while it runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.state.materialised_batch import StateBatch
from spark_avro.pipeline.state.refused import StepFailed
from tests.spark.pipeline.flights import CrashesOnce, ListSink
from tests.spark.pipeline.state.events import EVENT, MINUTE

pytestmark = pytest.mark.usefixtures("strict")


@pytest.mark.slow
def test_a_broken_record_goes_round_the_state(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    rest = f"steps: [{{deduplicate: {{by: k, time: at, within: 1h}}}}]\nerrors: {{tolerance: all, topic: {dead}}}"
    events(topic, (1, "a", 0))
    topics.produce(topic, b"no record")
    events(topic, (2, "a", 1))
    result = spark_avro.pipeline(pipeline_file(topic, rest)).run(spark)
    assert (result.read, result.written, result.dead) == (3, 1, 1)
    assert [letter.value() for letter in topics.consume(dead, 1)] == [b"no record"]


@pytest.mark.slow
def test_a_record_that_makes_a_step_fail_goes_round_the_state(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    steps = "[{select: [id, at, cast(k as int) as k]}, {deduplicate: {by: k, time: at, within: 1h}}]"
    rest = f"steps: {steps}\nerrors: {{tolerance: all, topic: {dead}}}"
    events(topic, (1, "7", 0), (2, "seven", 1), (3, "7", 2), (4, "8", 3))
    result = spark_avro.pipeline(pipeline_file(topic, rest)).run(spark)
    assert (result.read, result.written, result.dead) == (4, 2, 1)
    [letter] = topics.consume(dead, 1)
    assert b"seven" in letter.value()
    assert sorted(row["k"] for row in sink.rows) == [7, 8]


@pytest.mark.slow
def test_a_repeat_leaves_out_an_id_that_was_unknown_when_the_batch_was_first_written(
    spark: SparkSession, topics: Any, events: Any, avro: Any, sink: Any, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    events(topic, (1, "a", 1))
    newer = json.dumps({**json.loads(EVENT), "doc": topic})
    [other_id] = avro.register(f"{topic}-other", json.dumps({**json.loads(EVENT), "doc": f"{topic}, other"}))
    topics.produce(topic, avro.message(other_id + 1, newer, {"id": 2, "k": "b", "at": MINUTE}))
    sink.__class__ = CrashesOnce
    steps = "steps: [{deduplicate: {by: k, time: at, within: 1h}}]"
    file = pipeline_file(topic, f"{steps}\nerrors: {{tolerance: all, topic: {dead}}}")
    with pytest.raises(ZeroDivisionError):
        spark_avro.pipeline(file).run(spark)
    assert avro.register(f"{topic}-value", newer) == [other_id + 1]
    events(topic, (3, "c", 2))
    topics.produce(topic, avro.message(other_id + 1, newer, {"id": 4, "k": "d", "at": MINUTE}))
    spark_avro.pipeline(file).run(spark)
    # The repeat has the same rows; the next batch knows the id.
    assert [row["id"] for row in sink.lost] == [1]
    assert sorted(row["id"] for row in sink.rows) == [1, 3, 4]


@pytest.mark.slow
def test_an_id_that_becomes_known_while_its_batch_runs_stops_nothing(
    spark: SparkSession,
    topics: Any,
    events: Any,
    avro: Any,
    sink: ListSink,
    pipeline_file: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topic, dead = topics.create(), topics.create()
    events(topic, (1, "a", 1))
    newer = json.dumps({**json.loads(EVENT), "doc": topic})
    [other_id] = avro.register(f"{topic}-other", json.dumps({**json.loads(EVENT), "doc": f"{topic}, other"}))

    def produce(number: int, key: str) -> None:
        topics.produce(topic, avro.message(other_id + 1, newer, {"id": number, "k": key, "at": MINUTE}))

    produce(2, "b")
    materialised = StateBatch.materialised

    def registers(opened: Any, frame: Any, batch: Any) -> StateBatch:
        result = materialised(opened, frame, batch)
        if batch.number == 1:
            avro.register(f"{topic}-value", newer)
        return result

    monkeypatch.setattr(StateBatch, "materialised", staticmethod(registers))
    rest = f"errors: {{tolerance: all, topic: {dead}}}\ntrigger: {{every: 100ms}}"
    file = pipeline_file(topic, f"steps: [{{deduplicate: {{by: k, time: at, within: 1h}}}}]\n{rest}")
    running = Running(spark_avro.pipeline(file).file, spark)

    def after(counts: Any) -> None:
        if counts.number == 0:
            produce(3, "c")
        elif counts.read:
            running.stop()

    running.on_batch = after
    running.run()
    # The first batch asked for the id in vain, less than a minute before.
    assert sorted(row["id"] for row in sink.rows) == [1, 3]


def test_a_record_of_a_new_schema_is_decoded_in_the_same_run(
    spark: SparkSession, topics: Any, events: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    events(topic, (1, "a", 1))
    newer = json.loads(EVENT)
    newer["fields"].append({"name": "more", "type": "string", "default": "?"})
    newer["fields"][0]["type"] = "long"

    class Registers(ListSink):
        def write(self, rows: Any, batch: Any, *, reject: Any) -> Any:
            result = super().write(rows, batch, reject=reject)
            if batch.number == 0:
                [new] = avro.register(f"{topic}-value", json.dumps(newer))
                value = {"id": 2, "k": "b", "at": MINUTE, "more": "x"}
                topics.produce(topic, avro.message(new, json.dumps(newer), value))
            return result

    sink.__class__ = Registers
    file = pipeline_file(topic, "steps: [{deduplicate: {by: [id, k], time: at, within: 1h}}]\ntrigger: {every: 100ms}")
    running = Running(spark_avro.pipeline(file).file, spark)
    running.on_batch = lambda counts: running.stop() if counts.read and counts.number else None
    result = running.run()
    assert (result.read, result.written) == (2, 2)
    assert sorted((row["id"], row.get("more")) for row in sink.rows) == [(1, None), (2, "x")]


@pytest.mark.slow
def test_a_step_that_fails_after_the_state_is_told_with_its_place(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    steps = "[{deduplicate: {by: k, time: at, within: 1h}}, {select: [cast(k as int) as k, id]}]"
    file = pipeline_file(topic, f"steps: {steps}\nerrors: {{tolerance: all, topic: {dead}}}")
    events(topic, (1, "seven", 10))
    with pytest.raises(StepFailed, match=r"pipeline.yaml:9:\d+: steps\[1\].select: .*CAST_INVALID_INPUT"):
        spark_avro.pipeline(file).run(spark)


@pytest.mark.slow
def test_a_check_that_fails_with_an_error_is_told_with_its_place(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    rest = (
        "steps: [{deduplicate: {by: k, time: at, within: 1h}}]\nquality: [{name: number, expect: cast(k as int) > 0}]"
    )
    events(topic, (1, "seven", 10))
    with pytest.raises(StepFailed, match=r"pipeline.yaml:10:\d+: quality\[0\].*CAST_INVALID_INPUT"):
        spark_avro.pipeline(pipeline_file(topic, rest)).run(spark)


@pytest.mark.slow
def test_a_value_that_the_state_has_no_room_for_is_the_fault_of_its_record(
    spark: SparkSession, topics: Any, events: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, dead = topics.create(), topics.create()
    rest = (
        "steps: [{steps}{{deduplicate: {{by: id, time: at, within: 1h}}}}]\nerrors: {{tolerance: all, topic: "
        + dead
        + "}}"
    )
    events(topic, (1, "a", 10))
    spark_avro.pipeline(pipeline_file(topic, rest.format(steps=""))).run(spark)
    wider = EVENT.replace('"id", "type": "int"', '"id", "type": "long"')
    [new] = avro.register(f"{topic}-value", wider)
    rows = [{"id": 2**40, "k": "b", "at": 11 * MINUTE}, {"id": 2, "k": "c", "at": 11 * MINUTE}]
    topics.produce(topic, *(avro.message(new, wider, row) for row in rows))
    # A step that is added before the operator changes its place, but not its number.
    result = spark_avro.pipeline(pipeline_file(topic, rest.format(steps="{where: id > 0}, "))).run(spark)
    assert (result.written, result.dead) == (1, 1)
    assert sorted(row["id"] for row in sink.rows) == [1, 2]
    [letter] = topics.consume(dead, 1)
    assert ("__connect.errors.stage", b"TRANSFORMATION") in letter.headers()
    assert b"CAST_OVERFLOW" in dict(letter.headers())["__connect.errors.exception.message"]
