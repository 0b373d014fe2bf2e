from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from compat.schema import AVRO, SchemaText
from magicbyte.testing import running_registry
from serdes.client.clients import RegistryClient
from serdes.error import RegistryUnavailable
from spark_avro.pipeline.batch.changes import read_changes
from spark_avro.pipeline.batch.refusals import SchemaRefused
from spark_avro.pipeline.run.running import Running
from tests.spark.pipeline.flights import V1, V2, ListSink, messages


class Streaming:
    """A pipeline that runs in a thread, with an event for each number of rows."""

    def __init__(self, file: Path, spark: SparkSession, *settings: str) -> None:
        pipeline = spark_avro.pipeline(file, overrides=["trigger={every: 100ms}", *settings]).file
        self._changed = threading.Condition()
        self._read = 0
        self.error: BaseException | None = None
        self.running = Running(pipeline, spark, on_batch=self._add)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.running.run()
        except BaseException as error:  # noqa: BLE001 - for the test's thread
            self.error = error
        with self._changed:
            self._changed.notify_all()

    def _add(self, counts: Any) -> None:
        with self._changed:
            self._read += counts.read
            self._changed.notify_all()

    def wait_for(self, rows: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self._read >= rows or self.error is not None, 120)
        assert self.error is None

    def ended(self) -> BaseException | None:
        self._thread.join(120)
        assert not self._thread.is_alive()
        return self.error

    def stop(self) -> None:
        self.running.stop()
        self._thread.join(120)


def test_a_version_registered_while_it_runs_is_read_without_a_restart(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 3))
    stream = Streaming(pipeline_file(topic, ""), spark)
    try:
        stream.wait_for(3)
        [two] = avro.register(f"{topic}-value", V2)
        topics.produce(topic, avro.message(two, V2, {"id": 3, "carrier": "B6", "delay": None, "tail": "N1"}))
        stream.wait_for(4)
    finally:
        stream.stop()
    assert sorted((row["id"], row.get("tail")) for row in sink.rows) == [(0, None), (1, None), (2, None), (3, "N1")]
    changes = read_changes({"bootstrap.servers": topics.servers}, "flights")
    assert [change.statements for change in changes if change.schemas == {str(two): 2}] == [()]


@pytest.mark.parametrize(("policy", "dead"), [("fail", None), ("dead-letter", 1)])
@pytest.mark.slow
def test_a_new_version_may_be_refused(
    spark: SparkSession,
    topics: Any,
    avro: Any,
    sink: ListSink,
    pipeline_file: Callable[..., Path],
    policy: str,
    dead: int | None,
) -> None:
    topic, letters = topics.create(), topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 1))
    rest = f"evolve: {{new-version: {policy}, unreadable: dead-letter}}\nerrors: {{tolerance: all, topic: {letters}}}"
    stream = Streaming(pipeline_file(topic, rest), spark)
    try:
        stream.wait_for(1)
        [two] = avro.register(f"{topic}-value", V2)
        topics.produce(topic, avro.message(two, V2, {"id": 3, "carrier": "B6", "delay": None, "tail": "N1"}))
        if dead is None:
            error = stream.ended()
            assert isinstance(error, SchemaRefused)
            assert str(error).endswith(": evolve.new-version is fail")
        else:
            stream.wait_for(2)
            assert len(topics.consume(letters, 1)) == dead
    finally:
        stream.stop()
    assert [row["id"] for row in sink.rows] == [0]


@pytest.mark.slow
def test_records_are_read_as_a_pinned_version(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    topic = topics.create()
    one, two = avro.register(f"{topic}-value", V1, V2)
    new = avro.message(two, V2, {"id": 3, "carrier": "B6", "delay": None, "tail": "N1"})
    topics.produce(topic, *messages(avro, one, 1), new)
    assert spark_avro.pipeline(pipeline_file(topic, "evolve: {new-version: {pin: 1}}")).run(spark).written == 2
    assert all("tail" not in row for row in sink.rows)


@pytest.mark.slow
def test_a_registry_that_does_not_answer_makes_no_dead_letter(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    topic, letters = topics.create(), topics.create()
    with running_registry() as server:
        client = RegistryClient(server.url)
        one = client.register(f"{topic}-value", SchemaText(AVRO, V1)).id
        topics.produce(topic, *messages(avro, one, 2))
        file = pipeline_file(topic, f"errors: {{tolerance: all, topic: {letters}}}")
        stream = Streaming(file, spark, f"registry.url={server.url}")
        stream.wait_for(2)
    try:
        # Its ids are in the plan.
        topics.produce(topic, *messages(avro, one, 2, 2))
        stream.wait_for(4)
        # An id that only the registry knows: the batch waits for `patience`, and stays undone.
        topics.produce(topic, *messages(avro, one + 1, 1))
        assert isinstance(stream.ended(), RegistryUnavailable)
    finally:
        stream.stop()
    assert sorted(row["id"] for row in sink.rows) == [0, 1, 2, 3]
    # The registry is back, and does not have the id: it is the record's fault.
    with running_registry() as server:
        client = RegistryClient(server.url)
        client.register(f"{topic}-value", SchemaText(AVRO, V1))
        result = spark_avro.pipeline(file, overrides=[f"registry.url={server.url}"]).run(spark)
    assert (result.read, result.dead) == (1, 1)
    assert len(topics.consume(letters, 1)) == 1
