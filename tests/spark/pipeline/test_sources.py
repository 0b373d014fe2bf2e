"""A database's query as a source, in a real database, and files as a source; see test_running for Kafka."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import spark_avro
from spark_avro.pipeline.ports import SinkRefused
from spark_avro.pipeline.run.run_log import RunLog
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from tests.spark.pipeline.flights import ListSink


@pytest.fixture
def derby(spark: SparkSession, tmp_path: Path) -> str:
    """The URL of a database with three flights."""
    url = f"jdbc:derby:{tmp_path}/db;create=true"
    rows = spark.sql("select * from values (1, 'UA'), (2, 'B6'), (3, 'UA') as t(n, c)").coalesce(1)
    # Spark quotes the names of columns, and Derby keeps their case.
    rows = rows.toDF("N", "C")
    rows.write.jdbc(url, "flights")
    return url


def query_file(folder: Path, url: str, query: str, rest: str = "") -> Path:
    """A pipeline that reads a query."""
    file = folder / "query.yaml"
    file.write_text(
        f"""
version: 1
name: query
checkpoint: {folder}/checkpoint
source: {{jdbc: {{url: "{url}", query: "{query}"{rest}}}}}
trigger: {{available: now}}
sink: {{files: {{path: {folder}/out}}}}
"""
    )
    return file


def test_a_query_is_read_once_for_each_run(spark: SparkSession, derby: str, sink: ListSink, tmp_path: Path) -> None:
    file = query_file(tmp_path, derby, "select n, c from flights where n <> 2")
    result = spark_avro.pipeline(file).run(spark)
    assert (result.batches, result.read, result.written) == (1, 2, 2)
    assert sorted((row["N"], row["C"], row["_kafka"]["topic"]) for row in sink.rows) == [
        (1, "UA", "jdbc"),
        (3, "UA", "jdbc"),
    ]


def test_a_query_that_the_database_refuses_is_named(
    spark: SparkSession, derby: str, sink: ListSink, tmp_path: Path
) -> None:
    file = query_file(tmp_path, derby, "select nothing from flights")
    with pytest.raises(Exception, match=r"(?i)nothing"):
        Running(spark_avro.pipeline(file).file, spark).run()
    assert sink.rows == []


def crash(*_: object) -> None:
    raise RuntimeError("a crash")


def write_file(folder: Path, number: int) -> None:
    """A file with one row, the number."""
    folder.mkdir(exist_ok=True)
    (folder / f"{number}.json").write_text(f'{{"n": {number}}}')


def files_pipeline(folder: Path, sink: str, limit: int = 100) -> Path:
    """A pipeline that reads the folder `in`."""
    file = folder / "files.yaml"
    file.write_text(
        f"""
version: 1
name: files
checkpoint: {folder}/checkpoint
source: {{files: {{path: {folder}/in, format: json, schema: n long, limit: {limit}}}}}
sink: {sink}
"""
    )
    return file


def test_an_older_checkpoint_of_files_is_refused_and_a_crash_is_not(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint, copy = tmp_path / "checkpoint", tmp_path / "copy"

    def numbers() -> list[int]:
        with sqlite3.connect(tmp_path / "t.db") as connection:
            return [n for (n,) in connection.execute("select n from t order by n")]

    file = files_pipeline(tmp_path, f"{{sql: {{url: 'sqlite:///{tmp_path}/t.db', table: t}}}}")
    write_file(tmp_path / "in", 0)
    spark_avro.pipeline(file).run(spark)
    shutil.copytree(checkpoint, copy)
    write_file(tmp_path / "in", 1)
    spark_avro.pipeline(file).run(spark)
    # A crash before Spark notes the batch as done.
    for name in ("1", ".1.crc"):
        (checkpoint / "commits" / name).unlink()
    assert spark_avro.pipeline(file).run(spark).written == 1
    assert numbers() == [0, 1]
    write_file(tmp_path / "in", 2)
    shutil.rmtree(checkpoint)
    shutil.copytree(copy, checkpoint)
    with pytest.raises(SinkRefused, match=r"batch .*-1 was written from other input: .* is an older copy"):
        spark_avro.pipeline(file).run(spark)
    assert numbers() == [0, 1]


def test_an_older_checkpoint_of_a_query_is_refused_and_a_crash_is_not(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "rate.yaml"
    file.write_text(
        f"""
version: 1
name: rate
checkpoint: {tmp_path}/checkpoint
source: {{rate: {{rows: 3}}}}
sink: {{sql: {{url: 'sqlite:///{tmp_path}/t.db', table: t}}}}
"""
    )
    log = tmp_path / "checkpoint/_magicbyte/runs.json"

    def count() -> int:
        with sqlite3.connect(tmp_path / "t.db") as connection:
            return int(connection.execute("select count(*) from t").fetchone()[0])

    spark_avro.pipeline(file).run(spark)
    before = log.read_text()
    # A crash after the sink's commit.
    with monkeypatch.context() as patch:
        patch.setattr(RunLog, "commit", crash)
        with pytest.raises(RuntimeError, match="a crash"):
            spark_avro.pipeline(file).run(spark)
    assert spark_avro.pipeline(file).run(spark).written == 3
    assert count() == 6
    log.write_text(before)
    # Also the second time, when the batch was begun before.
    for _ in range(2):
        with pytest.raises(SinkRefused, match=r"batch .*-1 was written from other input: .* is an older copy"):
            spark_avro.pipeline(file).run(spark)
    assert count() == 6


@pytest.mark.slow
def test_each_batch_of_files_has_a_digest_of_its_own(spark: SparkSession, sink: ListSink, tmp_path: Path) -> None:
    # Spark's log of files has one file for each entry, and one for the first ten.
    for number in range(12):
        write_file(tmp_path / "in", number)
    spark_avro.pipeline(files_pipeline(tmp_path, f"{{files: {{path: {tmp_path}/out}}}}", limit=1)).run(spark)
    digests = [batch.input_id for batch in sink.identities]
    assert [len(digest) for digest in digests] == [16] * 12
    assert len(set(digests)) == 12
    checkpoint = Checkpoint(spark, f"{tmp_path}/checkpoint")
    assert [checkpoint.files_digest(number) for number in range(12)] == digests
    # No digest of a checkpoint of Kafka's offsets, or without offsets.
    assert checkpoint.files_digest(12) == ""
