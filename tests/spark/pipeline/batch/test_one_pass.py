"""A batch of sound records is one job of Spark; any other batch goes through the stages, with the same result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from spark_avro.pipeline.batch.counts import BatchCounts
from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.sinks.files import FilesTarget
from spark_avro.pipeline.sources.kafka import KafkaRecords
from tests.spark.pipeline.flights import V1, V2, messages


def jobs_so_far(spark: SparkSession) -> int:
    context: Any = spark.sparkContext
    jobs = context._jsc.sc().statusStore().jobsList(context._jvm.java.util.ArrayList())
    return 1 + max((jobs.apply(place).jobId() for place in range(jobs.size())), default=-1)


def run(file: Path, spark: SparkSession, *overrides: str) -> list[BatchCounts]:
    counts: list[BatchCounts] = []
    Running(spark_avro.pipeline(file, overrides=overrides).file, spark, on_batch=counts.append).run()
    return counts


def ids(spark: SparkSession, folder: Path) -> list[int]:
    return sorted(row["id"] for row in spark.read.parquet(str(folder / "out")).collect())


def staged(folder: Path) -> list[Path]:
    return list((folder / "out/_magicbyte/staging").glob("*"))


FILES = "{{files: {{path: {path}/out, partition: []}}}}"


@pytest.fixture
def flights(topics: Any, avro: Any, pipeline_file: Any, tmp_path: Path) -> Any:
    """Makes a topic of flights, and the pipeline's file."""

    def make(*broken: bytes, rest: str = "") -> tuple[str, int, Path]:
        topic = topics.create()
        [one] = avro.register(f"{topic}-value", V1)
        topics.produce(topic, *messages(avro, one, 5), *broken)
        return topic, one, pipeline_file(topic, rest, FILES.format(path=tmp_path))

    return make


def test_a_batch_of_sound_records_is_one_job(spark: SparkSession, flights: Any, tmp_path: Path) -> None:
    _, one, file = flights(rest="steps: [{drop: [carrier]}]")
    before = jobs_so_far(spark)
    [counts] = run(file, spark)
    assert jobs_so_far(spark) - before == 1
    assert (counts.read, counts.written, counts.dead, dict(counts.ids)) == (5, 5, 0, {one: 5})
    assert counts.event_time is not None
    assert ids(spark, tmp_path) == [0, 1, 2, 3, 4]


def test_a_broken_record_sends_the_batch_through_the_stages(
    spark: SparkSession, topics: Any, flights: Any, tmp_path: Path
) -> None:
    dead = topics.create()
    _, one, file = flights(b"broken", rest=f"errors: {{tolerance: all, topic: {dead}}}")
    [counts] = run(file, spark)
    assert (counts.read, counts.written, counts.dead, dict(counts.ids)) == (6, 5, 1, {one: 5})
    assert [letter.value() for letter in topics.consume(dead, 1)] == [b"broken"]
    assert (ids(spark, tmp_path), staged(tmp_path)) == ([0, 1, 2, 3, 4], [])


def test_a_new_version_is_read(spark: SparkSession, topics: Any, avro: Any, flights: Any, tmp_path: Path) -> None:
    topic, _, file = flights()
    [two] = avro.register(f"{topic}-value", V2)
    topics.produce(topic, avro.message(two, V2, {"id": 9, "carrier": "B6", "delay": 1, "tail": "N1"}))
    assert [counts.written for counts in run(file, spark)] == [6]
    assert ids(spark, tmp_path) == [0, 1, 2, 3, 4, 9]


def test_a_topic_that_is_replaced_while_it_is_read_goes_through_the_stages(
    spark: SparkSession, flights: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, _, file = flights()
    answers = [(), (), (topic,), (topic,), (topic,)]
    monkeypatch.setattr(KafkaRecords, "replaced", lambda *_: answers.pop(0) if answers else ())
    [counts] = run(file, spark, "source.on-data-loss=report")
    assert (counts.read, counts.written, counts.lost, counts.replaced) == (0, 0, 5, (topic,))
    assert staged(tmp_path) == []


@pytest.mark.parametrize("place", ["write", "rename"])
def test_a_temporary_error_is_tried_again(
    spark: SparkSession, flights: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    _, _, file = flights(rest="errors: {retry: {for: 10s}}")
    answer, failures = getattr(Folder, place), [TimeoutError("for a moment")]

    def fail_once(folder: Folder, first: str, second: str) -> None:
        if failures and folder.path.endswith("/out") and "batches" in first + second:
            raise failures.pop()
        answer(folder, first, second)

    monkeypatch.setattr(Folder, place, fail_once)
    [counts] = run(file, spark)
    assert (failures, counts.written) == ([], 5)
    assert (ids(spark, tmp_path), staged(tmp_path)) == ([0, 1, 2, 3, 4], [])


def test_rows_that_are_counted_twice_send_the_batch_through_the_stages(
    spark: SparkSession, flights: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, file = flights()
    write_files = FilesTarget._write_files
    counted = [1]

    def write_one_less(target: FilesTarget, *arguments: Any) -> tuple[int, int]:
        written, late = write_files(target, *arguments)
        return written - (counted.pop() if counted else 0), late

    monkeypatch.setattr(FilesTarget, "_write_files", write_one_less)
    [counts] = run(file, spark)
    assert (counted, counts.read, counts.written) == ([], 5, 5)
    assert ids(spark, tmp_path) == [0, 1, 2, 3, 4]
