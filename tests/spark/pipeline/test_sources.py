"""A database's query as a source, in a real database; files and rows of Spark's are in test_running."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import spark_avro
from spark_avro.pipeline.run.running import Running
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
