"""Writers on executors: batches that some of them have committed, tasks that run twice, another number of writers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import KafkaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.sinks import Payload
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import Fenced, SinkContext, SinkRefused
from spark_avro.pipeline.sinks.kafka.query_records import StageRecord
from tests.spark.pipeline.sinks.executors_tasks import Crash, crash_after, first_task
from tests.spark.pipeline.sinks.kafka_topic import Topic, murmur2

pytestmark = pytest.mark.slow

Rows = Callable[..., DataFrame]

WRITERS = 3
ON_EXECUTORS: dict[str, Any] = {"via": "executors", "writers": WRITERS}


@pytest.fixture
def topic(kafka: str, registry_url: str, context: Callable[..., SinkContext], tmp_path: Path) -> Iterator[Topic]:
    made = Topic(kafka, registry_url, partial(context, checkpoint=str(tmp_path / "checkpoint")), **ON_EXECUTORS)
    yield made
    made.close()


@pytest.mark.parametrize("committed", [0, 1, 2])
def test_a_repeat_writes_the_rows_of_the_first_time(
    topic: Topic, numbers: Rows, monkeypatch: pytest.MonkeyPatch, committed: int
) -> None:
    crash_after(monkeypatch, committed)
    key = {"key": (FieldPath(("n",)),)}
    with pytest.raises(Crash):
        topic.sink(**key).write(numbers(0, 40), topic.batch(0, 0, 40))
    before = topic.values()
    assert (0 < len(before) < 40) == (committed > 0)
    # By now the steps would give other rows, with keys of other writers.
    others = numbers(0, 40, "n + 100 as n")
    sink = topic.sink(**key)
    result = sink.write(others, topic.batch(0, 0, 40))
    assert (result.written, result.repeated) == (40, committed > 0)
    assert topic.values() == sorted(b"%d" % n for n in range(40))
    assert sink.write(numbers(40, 45), topic.batch(1, 40, 45)).written == 5
    assert topic.values() == sorted(b"%d" % n for n in range(45))


def test_records_that_were_refused_are_counted_by_a_repeat(
    topic: Topic, numbers: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic.create(2, **{"max.message.bytes": "1000"})
    rows = numbers(0, 9, "if(n = 4, repeat('x', 2000), cast(n as string)) as v")
    crash_after(monkeypatch, 2)
    with pytest.raises(Crash):
        topic.sink().write(rows, topic.batch(0, 0, 9))
    result = topic.sink().write(rows, topic.batch(0, 0, 9))
    assert (result.written, result.refused, result.repeated, result.rejected) == (8, 1, True, None)
    assert len(topic.values()) == 8


def test_a_lost_stage_is_refused_unless_it_is_adopted(
    topic: Topic, numbers: Rows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    crash_after(monkeypatch, 1)
    with pytest.raises(Crash):
        topic.sink().write(numbers(0, 40), topic.batch(0, 0, 40))
    [stage] = (tmp_path / "checkpoint" / "kafka" / topic.name / "q1").iterdir()
    stage.rename(tmp_path / "lost")
    with pytest.raises(SinkRefused, match=r"some of 3 writers have written batch q1-0.*or run once with --adopt"):
        topic.sink().write(numbers(0, 40), topic.batch(0, 0, 40))
    topic.sink({"adopt": True}).write(numbers(0, 40), topic.batch(0, 0, 40))
    assert topic.values() == sorted(b"%d" % n for n in range(40))


def test_the_sink_completes_a_batch_of_an_earlier_release(
    topic: Topic, numbers: Rows, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, spark: SparkSession
) -> None:
    def value(record: StageRecord) -> bytes:
        return orjson.dumps({"attempt": f"{WRITERS}-{record.attempt}", "marker": record.marker.text()})

    monkeypatch.setattr(StageRecord, "value", value)
    crash_after(monkeypatch, 0)
    with pytest.raises(Crash):
        topic.sink().write(numbers(0, 40), topic.batch(0, 0, 40))
    monkeypatch.undo()
    [stage] = (tmp_path / "checkpoint" / "kafka" / topic.name / "q1").iterdir()
    stored = spark.read.parquet(str(stage))
    for writer in range(1, WRITERS + 1):
        # Without positions, the row with a writer's number could be anywhere.
        part = stored.where(F.col("writer") == writer).withColumn("is_record", F.expr("mark <= 0")).drop("mark")
        part.coalesce(1).sortWithinPartitions(F.desc("is_record")).write.mode("append").parquet(
            str(stage.with_name(f"{WRITERS}-{stage.name}"))
        )
    shutil.rmtree(stage)
    result = topic.sink().write(numbers(0, 40, "n + 100 as n"), topic.batch(0, 0, 40))
    assert (result.written, result.repeated) == (40, False)
    assert topic.values() == sorted(b"%d" % n for n in range(40))


def test_a_backfill_leaves_what_the_stream_has_stored(
    topic: Topic, numbers: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash_after(monkeypatch, 1)
    with pytest.raises(Crash):
        topic.sink().write(numbers(100, 140), topic.batch(7, 100, 140))
    topic.sink().write(numbers(0, 10), topic.batch(0, 0, 10, "bf-0"))
    assert topic.sink().write(numbers(100, 140), topic.batch(7, 100, 140)).repeated is True
    assert topic.values() == sorted(b"%d" % n for n in (*range(10), *range(100, 140)))


def test_another_number_of_writers_begins_with_a_batch(
    topic: Topic, numbers: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    layouts: list[dict[str, Any]] = [
        {"via": "driver", "writers": None},
        {"writers": 2},
        {"writers": None},
        {"writers": 4},
        {"via": "driver", "writers": None},
    ]
    for number, layout in enumerate(layouts):
        start = 10 * number
        sink = topic.sink(**layout)
        if number:
            # Spark did not note that the batch before was done.
            repeated = sink.write(numbers(start - 10, start), topic.batch(number - 1, start - 10, start))
            assert (repeated.written, repeated.repeated) == (10, True)
        assert sink.write(numbers(start, start + 10), topic.batch(number, start, start + 10)).repeated is False
    assert topic.values() == sorted(b"%d" % n for n in range(50))
    with pytest.raises(SinkRefused, match=r"begins at offset 70 .* the target ends at 50"):
        topic.sink(writers=2).write(numbers(70, 80), topic.batch(5, 70, 80))
    topic.sink(writers=2).write(numbers(50, 60), topic.batch(5, 50, 60))
    crash_after(monkeypatch, 1)
    with pytest.raises(Crash):
        topic.sink(writers=2).write(numbers(60, 70), topic.batch(6, 60, 70))
    told = "1 of 2 writers have written batch 6; run with sink.kafka.via: executors and writers: 2 until"
    for layout in ({"via": "driver", "writers": None}, {"writers": 5}):
        with pytest.raises(SinkRefused, match=told):
            topic.sink(**layout).write(numbers(60, 70), topic.batch(6, 60, 70))
    assert topic.sink(writers=None).write(numbers(60, 70), topic.batch(6, 60, 70)).repeated is True
    assert topic.values() == sorted(b"%d" % n for n in range(70))


def test_zombies_of_other_layouts_are_fenced(topic: Topic, numbers: Rows) -> None:
    driver = topic.sink(via="driver", writers=None)
    driver.write(numbers(0, 5), topic.batch(0, 0, 5))
    executors = topic.sink()
    executors.write(numbers(5, 10), topic.batch(1, 5, 10))
    with pytest.raises(Fenced):
        driver.write(numbers(5, 10), topic.batch(1, 5, 10))
    topic.sink(via="driver", writers=None).write(numbers(10, 15), topic.batch(2, 10, 15))
    with pytest.raises(Fenced):
        executors.write(numbers(10, 15), topic.batch(2, 10, 15))
    assert topic.values() == sorted(b"%d" % n for n in range(15))


@pytest.fixture
def task(topic: Topic, numbers: Rows, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, Any]]:
    """The first writer's task of a batch, which tests run in this process, as often as they like."""
    sink = topic.sink()
    return first_task(sink, numbers(0, 40), topic.batch(0, 0, 40), monkeypatch)


def test_a_task_that_runs_again_writes_nothing(topic: Topic, task: Callable[[], dict[str, Any]]) -> None:
    first = task()
    assert (first["error"], first["written"]) == (None, len(topic.values()))
    assert 0 < first["written"] < 40
    again = task()
    assert (again["error"], again["written"]) == (None, first["written"])
    assert len(topic.values()) == first["written"]


def test_a_task_of_a_former_owner_writes_nothing(
    topic: Topic, numbers: Rows, task: Callable[[], dict[str, Any]]
) -> None:
    topic.sink({"adopt": True}).write(numbers(0, 40), topic.batch(0, 0, 40, "q2"))
    late = task()
    assert (late["code"], late["error"]) == (KafkaError._FENCED, "query q2 owns the topic")
    assert topic.values() == sorted(b"%d" % n for n in range(40))


def test_a_task_of_a_former_driver_whose_successor_went_on_writes_nothing(
    topic: Topic, numbers: Rows, task: Callable[[], dict[str, Any]]
) -> None:
    successor = topic.sink()
    successor.write(numbers(0, 40), topic.batch(0, 0, 40))
    assert task()["error"] is None
    successor.write(numbers(40, 50), topic.batch(1, 40, 50))
    late = task()
    assert (late["code"], late["error"]) == (KafkaError._FENCED, "batch 1 is written")
    assert topic.values() == sorted(b"%d" % n for n in range(50))


def test_the_records_of_a_key_keep_their_order(topic: Topic, numbers: Rows) -> None:
    topic.create(4)
    rows = numbers(0, 400, "cast(n % 7 as string) as k", "n").repartition(5)
    topic.sink(key=(FieldPath(("k",)),), value=Payload(format="json-plain")).write(rows, topic.batch(0, 0, 400))
    by_key: dict[bytes, list[int]] = {}
    for message in topic.messages():
        by_key.setdefault(message.key(), []).append(int(message.value().split(b'"n":')[1][:-1]))
    assert len(by_key) == 7
    assert all(found == list(range(int(key), 400, 7)) for key, found in by_key.items())


@pytest.mark.parametrize("layout", [ON_EXECUTORS, {"via": "driver", "writers": None}, {"delivery": "at-least-once"}])
def test_an_expression_names_the_partition(topic: Topic, numbers: Rows, positions: Any, layout: dict[str, Any]) -> None:
    topic.create(6)
    if "delivery" in layout:
        topic.spec = {}
    # Java's producer would choose these partitions for the keys '0' to '9'.
    expected = {b"%d" % n: murmur2(b"%d" % n) % 6 for n in range(10)}
    part = Sql("murmur2(cast(n % 10 as string)) % 6")
    topic.sink(partition=part, **layout).write(numbers(0, 30), topic.batch(0, 0, 30))
    assert {(m.value()[-1:], m.partition()) for m in topic.messages()} == set(expected.items())


def test_a_partition_that_the_topic_lacks_is_rejected(topic: Topic, numbers: Rows, positions: Any) -> None:
    topic.create(2)
    part = Sql("cast(if(n = 3, 7, if(n = 4, null, 1)) as int)")
    for layout in (ON_EXECUTORS, {"via": "driver", "writers": None}):
        number = 0 if layout is ON_EXECUTORS else 1
        start = 5 * number
        rows = numbers(start, start + 5, f"n - {start} as n")
        result = topic.sink(partition=part, **layout).write(rows, topic.batch(number, start, start + 5))
        assert positions(result.rejected) == [(start + 3, "partition 7, and the topic has 2")]
    assert len(topic.values()) == 8


@pytest.mark.parametrize(
    ("expression", "told"),
    [("n / 2", "the expression gives double, not a whole number"), ("missing", "cannot be resolved")],
)
def test_a_partition_that_is_no_number_is_refused(topic: Topic, numbers: Rows, expression: str, told: str) -> None:
    with pytest.raises(SinkRefused, match=f"sink.kafka.partition: .*{told}"):
        topic.sink(partition=Sql(expression)).prepare(numbers(0, 0).schema)


def test_speculation_is_refused(topic: Topic, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    # A session cannot change it when it runs.
    monkeypatch.setattr(type(spark.conf), "get", lambda _, name, *__: "true" if name == "spark.speculation" else "")
    with pytest.raises(SinkRefused, match=r"via: executors needs spark\.speculation: false"):
        topic.sink()
