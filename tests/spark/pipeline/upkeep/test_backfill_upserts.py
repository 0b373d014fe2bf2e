"""Backfills of tables with upserts: they read what they say, and leave deleted keys deleted."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

import spark_avro
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.ports import SinkRefused, SourceRange
from spark_avro.pipeline.upkeep.backfill import backfill

#: Most tests of this file take seconds each.
pytestmark = pytest.mark.slow


class Table:
    """A table in SQLite that a pipeline writes, and the topic it reads."""

    def __init__(self, spark: SparkSession, servers: str, topic: str, folder: Path) -> None:
        self.spark, self.topic, self.folder = spark, topic, folder
        self._servers = servers

    def file(
        self,
        value: str = "v",
        mode: str = "{upsert: {key: [id], deletes: op = 'd'}}",
        where: str = "true",
        start: str = "earliest",
    ) -> Pipeline:
        path = self.folder / "pipeline.yaml"
        path.write_text(f"""
version: 1
name: flights
kafka: {{bootstrap.servers: "{self._servers}"}}
checkpoint: {self.folder}/checkpoint
source:
  topics: [{self.topic}]
  start: {start}
  on-data-loss: report
  value: {{format: json-plain, type: "id int, v string, op string"}}
steps: [{{where: "{where}"}}, {{select: [id, "{value} as v", op]}}]
sink:
  sql:
    url: sqlite:///{self.folder}/t.db
    table: t
    mode: {mode}
""")
        return spark_avro.pipeline(path).file

    def run(self, **settings: str) -> int:
        self.file(**settings)
        return spark_avro.pipeline(self.folder / "pipeline.yaml").run(self.spark).read

    def produce(self, *records: tuple[int, int, str, str]) -> None:
        producer = Producer({"bootstrap.servers": self._servers})
        for partition, key, value, op in records:
            text = f'{{"id": {key}, "v": "{value}", "op": "{op}"}}'
            producer.produce(self.topic, text.encode(), partition=partition)
        assert producer.flush(30) == 0

    def rows(self) -> list[tuple[int, str]]:
        with sqlite3.connect(self.folder / "t.db") as connection:
            return connection.execute("select id, v from t order by id").fetchall()


@pytest.fixture
def table(spark: SparkSession, topics: Any, tmp_path: Path) -> Table:
    return Table(spark, topics.servers, topics.create(), tmp_path)


def test_keys_that_were_deleted_later_stay_deleted(table: Table) -> None:
    table.produce((0, 1, "a", "u"), (0, 2, "b", "u"), (0, 3, "c", "u"), (1, 4, "d", "u"))
    table.produce((0, 2, "", "d"), (0, 3, "e", "u"))
    assert table.run() == 6
    assert table.rows() == [(1, "a"), (3, "e"), (4, "d")]
    result = backfill(table.file("upper(v)"), table.spark, [SourceRange(table.topic, 0, 0, 3)], replace=True)
    assert table.rows() == [(1, "A"), (3, "E"), (4, "d")]
    # The records behind the range say which keys were deleted later.
    assert (result.read, result.written) == (5, 5)
    assert result.ranges == (SourceRange(table.topic, 0, 0, 5),)


def test_only_the_range_is_read_if_no_row_deletes_its_key(table: Table) -> None:
    table.produce(*((0, key, "a", "u") for key in range(10)))
    table.run()
    wanted = (SourceRange(table.topic, 0, 2, 4), SourceRange(table.topic, 0, 6, 9))
    result = backfill(table.file("upper(v)", "{upsert: {key: [id]}}"), table.spark, wanted, replace=True)
    assert (result.read, result.ranges) == (5, wanted)
    assert [key for key, value in table.rows() if value == "A"] == [2, 3, 6, 7, 8]


def test_a_topic_made_again_is_written_from_its_beginning(table: Table, topics: Any) -> None:
    table.produce(*((0, key, "old", "u") for key in range(10)))
    settings = {"mode": "append", "start": f"{{{table.topic}: {{'0': 5}}}}"}
    assert table.run(**settings) == 5
    topics.create_again(table.topic)
    table.produce(*((0, key, "new", "u") for key in range(8)))
    assert table.run(**settings) == 8
    with pytest.raises(SinkRefused, match=r"has written .*0:0-2 already; --replace"):
        backfill(table.file(**settings), table.spark, [SourceRange(table.topic, 0, 0, 3)])
    assert len(table.rows()) == 13


def test_a_record_of_a_topic_made_again_takes_the_place_of_an_older_row(table: Table, topics: Any) -> None:
    mode = "{upsert: {key: [id]}}"
    table.produce((0, 7, "other", "u"), (0, 1, "old", "u"))
    assert table.run(mode=mode) == 2
    topics.create_again(table.topic)
    table.produce((0, 1, "new", "u"))
    assert table.run(mode=mode, where="v <> 'new'") == 1
    assert table.rows() == [(1, "old"), (7, "other")]
    backfill(table.file(mode=mode), table.spark, [SourceRange(table.topic, 0, 0, 1)], replace=True)
    assert table.rows() == [(1, "new"), (7, "other")]
