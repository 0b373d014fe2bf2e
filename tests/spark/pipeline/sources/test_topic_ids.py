"""A topic that is deleted and made again is another topic, although its name is the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

import spark_avro
from magicbyte.platform.broker import LocalBroker
from spark_avro.pipeline.batch.counts import BatchCounts
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.sources.opening import open_source
from spark_avro.pipeline.sources.topic_ids import TopicReplaced, read_topic_ids
from tests.kafka_2.kafka_2 import add_kafka_2
from tests.spark.pipeline.flights import V1, ListSink, messages
from tests.topics import create_topics

#: Most tests of this file take seconds each.
pytestmark = pytest.mark.slow


def broker_id(servers: str, topic: str) -> str:
    """A topic's id, as the broker tells it."""
    admin = AdminClient({"bootstrap.servers": servers})
    return str(admin.describe_topics(TopicCollection([topic]))[topic].result(30).topic_id)


def test_a_batch_has_the_ids_of_its_topics(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 3))
    spark_avro.pipeline(pipeline_file(topic, "")).run(spark)
    assert [batch.topic_ids for batch in sink.identities] == [{topic: broker_id(topics.servers, topic)}]


def test_a_broker_without_topic_ids_gives_none(spark: SparkSession, tmp_path: Path) -> None:
    older = {"inter.broker.protocol.version": "2.7"}
    add_kafka_2()
    broker = LocalBroker(tmp_path, port=0, version="2.8.2", properties=older)
    broker.start()
    try:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        create_topics(admin, NewTopic("flights", 1))
        assert read_topic_ids(admin, ["flights", "missing"]) == {}
        file = tmp_path / "pipeline.yaml"
        file.write_text(
            f"""
version: 1
name: flights
kafka: {{bootstrap.servers: "{broker.bootstrap_servers}"}}
checkpoint: {tmp_path}/checkpoint
source: {{topics: [flights], value: {{format: string}}}}
sink: {{files: {{path: {tmp_path}/out}}}}
"""
        )
        [caution] = open_source(spark, spark_avro.pipeline(file).file).cautions()
        assert caution.startswith("the broker has no topic ids (Kafka before 2.8)")
    finally:
        broker.kill()


def test_a_missing_topic_has_no_id(topics: Any) -> None:
    topic = topics.create()
    admin = AdminClient({"bootstrap.servers": topics.servers})
    assert read_topic_ids(admin, [topic, "missing"]) == {topic: broker_id(topics.servers, topic)}


def ids(sink: ListSink) -> list[int]:
    return sorted(row["id"] for row in sink.rows)


@pytest.fixture
def flights(topics: Any, avro: Any) -> tuple[str, Any]:
    """A topic, and the function that produces flights of some numbers."""
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    return topic, lambda first, count: topics.produce(topic, *messages(avro, one, count, first))


@pytest.fixture
def report_file(pipeline_file: Any) -> Callable[..., Path]:
    """Writes a pipeline with a policy for lost records."""

    def write(topic: str, policy: str = "report", rest: str = "") -> Path:
        file: Path = pipeline_file(topic, rest)
        text = file.read_text().replace(f"topics: [{topic}]", f"topics: [{topic}], on-data-loss: {policy}")
        file.write_text(text)
        return file

    return write


def test_a_topic_made_again_is_refused_with_the_way_out(
    spark: SparkSession, topics: Any, flights: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic, produce = flights
    produce(0, 10)
    file = pipeline_file(topic, "")
    spark_avro.pipeline(file).run(spark)
    topics.create_again(topic)
    produce(100, 30)
    for _ in range(2):
        with pytest.raises(
            TopicReplaced, match=rf"deleted and made again .*{topic} .*on-data-loss: report.*checkpoint"
        ):
            spark_avro.pipeline(file).run(spark)
    assert ids(sink) == list(range(10))


@pytest.mark.parametrize("count", [30, 4])
def test_report_reads_the_new_topic_from_its_beginning(
    spark: SparkSession, topics: Any, flights: Any, sink: ListSink, report_file: Any, count: int
) -> None:
    topic, produce = flights
    produce(0, 10)
    file = report_file(topic)
    spark_avro.pipeline(file).run(spark)
    topics.create_again(topic)
    produce(100, count)
    result = spark_avro.pipeline(file).run(spark)
    assert result.written == count
    assert ids(sink) == [*range(10), *range(100, 100 + count)]
    produce(200, 5)
    assert spark_avro.pipeline(file).run(spark).written == 5
    assert ids(sink)[-5:] == list(range(200, 205))
    new = sink.identities[-1]
    assert new.topic_ids[topic] == broker_id(topics.servers, topic)
    assert new.former_topic_ids == {topic: (sink.identities[0].topic_ids[topic],)}


@pytest.mark.parametrize("was_written", [True, False])
def test_a_planned_batch_keeps_its_identity_and_reads_nothing_of_the_new_topic(
    spark: SparkSession,
    topics: Any,
    flights: Any,
    sink: ListSink,
    report_file: Any,
    tmp_path: Path,
    was_written: bool,
) -> None:
    topic, produce = flights
    produce(0, 10)
    file = report_file(topic)
    spark_avro.pipeline(file).run(spark)
    for name in ("0", ".0.crc"):
        (tmp_path / "checkpoint/commits" / name).unlink()
    if not was_written:
        sink.batches.clear()
    topics.create_again(topic)
    produce(100, 30)
    counts: list[BatchCounts] = []
    Running(spark_avro.pipeline(file).file, spark, on_batch=counts.append).run()
    assert ids(sink) == [*(range(10) if was_written else ()), *range(100, 130)]
    assert sink.identities[0] == sink.identities[1]
    assert [batch.lost for batch in counts] == [10, 0]


@pytest.mark.parametrize("policy", ["fail", "report"])
def test_a_topic_made_again_while_the_query_runs_is_noticed(
    spark: SparkSession, topics: Any, flights: Any, sink: ListSink, report_file: Any, policy: str
) -> None:
    topic, produce = flights
    produce(0, 10)
    file = report_file(topic, policy, "trigger: {every: 1ms}")
    seen: list[int] = []

    def change(counts: BatchCounts) -> None:
        seen.append(counts.number)
        if len(seen) == 1:
            topics.create_again(topic)
            produce(100, 30)
        if max(ids(sink)) == 129:
            running.stop()

    running = Running(spark_avro.pipeline(file).file, spark, on_batch=change)
    if policy == "fail":
        with pytest.raises(TopicReplaced):
            running.run()
        assert ids(sink) == list(range(10))
    else:
        running.run()
        assert ids(sink) == [*range(10), *range(100, 130)]


def test_a_real_sink_takes_the_new_topic_under_report(
    spark: SparkSession, topics: Any, flights: Any, pipeline_file: Any, tmp_path: Path
) -> None:
    topic, produce = flights
    table = f"{{sql: {{url: 'sqlite:///{tmp_path}/t.db', table: t, mode: {{upsert: {{key: [id]}}}}}}}}"
    produce(0, 10)
    file = pipeline_file(topic, "", table)
    file.write_text(file.read_text().replace(f"topics: [{topic}]", f"topics: [{topic}], on-data-loss: report"))
    spark_avro.pipeline(file).run(spark)
    topics.create_again(topic)
    produce(5, 30)
    assert spark_avro.pipeline(file).run(spark).written == 30
    with sqlite3.connect(tmp_path / "t.db") as connection:
        assert connection.execute("select id from t order by id").fetchall() == [(n,) for n in range(35)]


def test_a_repeated_batch_counts_no_rows_of_a_recreated_topic(
    spark: SparkSession, topics: Any, flights: Any, report_file: Callable[..., Path], tmp_path: Path
) -> None:
    topic, produce = flights
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("create table t (id integer check (id <> 7), carrier text, delay integer)")
    produce(0, 10)
    file = report_file(topic, rest=f"errors: {{tolerance: all, topic: {topics.create()}}}")
    file.write_text(
        file.read_text().replace(
            f"files: {{path: {tmp_path}/out}}", f"sql: {{url: 'sqlite:///{tmp_path}/t.db', table: t}}"
        )
    )
    counts: list[BatchCounts] = []
    Running(spark_avro.pipeline(file).file, spark, on_batch=counts.append).run()
    for name in ("0", ".0.crc"):
        (tmp_path / "checkpoint/commits" / name).unlink()
    topics.create_again(topic)
    produce(100, 3)
    Running(spark_avro.pipeline(file).file, spark, on_batch=counts.append).run()
    assert [(batch.read, batch.written, batch.dead, batch.lost) for batch in counts] == [
        (10, 9, 1, 0),
        (0, 0, 0, 10),
        (3, 3, 0, 0),
    ]
