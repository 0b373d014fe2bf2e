"""Batches of several checkpoints in one folder of Parquet files: no row is lost, and none is there twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_avro.sinks import parquet, table
from spark_avro.streams.followers import Follower
from spark_avro.streams.following import Write, follow

#: Most tests of this file take seconds each.
pytestmark = pytest.mark.slow

N = json.dumps({"type": "record", "name": "N", "fields": [{"name": "n", "type": "int"}]})


class Job:
    """One topic, whose records a query copies from the beginning, or from where its checkpoint stands."""

    def __init__(self, spark: SparkSession, topics: Any, avro: Any, folder: Path) -> None:
        self.topic = topics.create()
        self.folder = str(folder / "numbers")
        self._spark = spark
        self._topics, self._avro = topics, avro
        [self._id] = avro.register(f"{self.topic}-value", N)

    def produce(self, *numbers: int) -> None:
        self._topics.produce(self.topic, *(self._avro.message(self._id, N, {"n": n}) for n in numbers))

    def produce_broken(self, *values: bytes) -> None:
        self._topics.produce(self.topic, *values)

    def copy(self, checkpoint: Path, write: Write, dead_letters: Write | None = None) -> None:
        options = {"kafka.bootstrap.servers": self._topics.servers, "subscribe": self.topic}
        records = self._spark.readStream.format("kafka").options(**options, startingOffsets="earliest").load()
        follower = Follower(self._avro.url, topic=self.topic)
        writer = follow(records, write, follower=follower, dead_letters=dead_letters)
        writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
        writer.start().awaitTermination()

    def numbers(self) -> list[int]:
        return sorted(row.n for row in self._spark.read.option("mergeSchema", "true").parquet(self.folder).collect())


@pytest.fixture
def job(spark: SparkSession, topics: Any, avro: Any, tmp_path: Path) -> Job:
    return Job(spark, topics, avro, tmp_path)


def forget_commit(checkpoint: Path, batch: int) -> None:
    """The state after a kill between the write of a batch and Spark's note of it."""
    (checkpoint / "commits" / str(batch)).unlink()
    (checkpoint / "commits" / f".{batch}.crc").unlink()


def test_a_second_checkpoint_on_one_folder_overwrites_nothing(job: Job, tmp_path: Path) -> None:
    job.produce(*range(100))
    job.copy(tmp_path / "first", parquet(job.folder))
    job.copy(tmp_path / "second", parquet(job.folder))
    assert job.numbers() == sorted([*range(100), *range(100)])


def test_dead_letters_of_a_second_checkpoint_overwrite_none(spark: SparkSession, job: Job, tmp_path: Path) -> None:
    job.produce_broken(b"one", b"two")
    letters = str(tmp_path / "letters")
    job.copy(tmp_path / "first", parquet(job.folder), table(letters))
    job.copy(tmp_path / "second", parquet(job.folder), table(letters))
    raw = sorted(bytes(row.raw) for row in spark.read.parquet(letters).collect())
    assert raw == [b"one", b"one", b"two", b"two"]


def test_a_repeated_batch_replaces_its_own_rows_only(job: Job, tmp_path: Path) -> None:
    job.produce(*range(10))
    job.copy(tmp_path / "first", parquet(job.folder))
    job.copy(tmp_path / "second", parquet(job.folder))
    forget_commit(tmp_path / "second", 0)
    job.copy(tmp_path / "second", parquet(job.folder))
    assert job.numbers() == sorted([*range(10), *range(10)])
    job.produce(10)
    job.copy(tmp_path / "first", parquet(job.folder))
    assert job.numbers() == sorted([*range(10), *range(10), 10])


def test_a_query_without_an_id_needs_a_name(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "numbers")
    rows = spark.createDataFrame([(1,)], "n int")
    with pytest.raises(ValueError, match=r"query: Spark does not tell the id .* give the sink a name with query="):
        parquet(folder, None)(rows, 0)
    with pytest.raises(ValueError, match=r"query: 'a/b' is not a name"):
        parquet(folder, None, query="a/b")(rows, 0)
    parquet(folder, None, query="nightly")(rows, 0)
    parquet(folder, None, query="nightly")(rows, 0)
    assert [(row.n, row.batch) for row in spark.read.parquet(folder).collect()] == [(1, "nightly-0")]
