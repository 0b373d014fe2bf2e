"""Backfill and compaction of Delta and Iceberg tables; test_upkeep runs this file in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark_avro.pipeline.upkeep.backfill import backfill
from spark_avro.pipeline.upkeep.compact import compact
from tests.spark.pipeline.sinks.lake_session import lake_session
from tests.spark.pipeline.upkeep.test_upkeep import HOUR, ROWS, written

#: Each test takes ten jobs of Spark and a session.
pytestmark = pytest.mark.timeout(420)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with lake_session(tmp_path_factory.mktemp("warehouse")) as session:
        yield session


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_an_hour_is_replaced_twice_and_files_are_compacted(
    spark: SparkSession, topics: Any, avro: Any, tmp_path: Path, kind: str
) -> None:
    catalog = f'{{type: hadoop, warehouse: "{tmp_path}"}}'
    sink, table = {
        "delta": (f'{{delta: {{path: "{tmp_path}/t", keep-position: true}}}}', f"delta.`{tmp_path}/t`"),
        "iceberg": (f"{{iceberg: {{table: lake.db.t, keep-position: true, catalog: {catalog}}}}}", "lake.db.t"),
    }[kind]
    lake = written(spark, topics, avro, tmp_path, sink, table)
    for _ in range(2):
        result = backfill(lake.file(), lake.spark, lake.hour(1), replace=True)
        assert (result.batches, result.read, result.written) == (1, 40, 40)
        assert lake.rows() == ROWS
    backfill(lake.file("delay + 100"), lake.spark, lake.hour(1), replace=True)
    assert [row[:2] for row in lake.rows()] == [row[:2] for row in ROWS]
    assert {delay // 100 for hour, _, delay in lake.rows() if hour == 1} == {1}
    before = lake.rows()
    [line] = compact(lake.file(), lake.spark, HOUR)
    many, few = (int(word) for word in line.split() if word.isdigit())
    assert many > few > 0
    assert lake.rows() == before
    # Rows that maintenance writes anew have times that other programs read as they are.
    assert physical_types(tmp_path, "_kafka.timestamp") == {"INT64"}


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_rows_of_keys_are_replaced_and_compacted_with_their_places(
    spark: SparkSession, topics: Any, avro: Any, tmp_path: Path, kind: str
) -> None:
    mode = "mode: {upsert: {key: [id]}}"
    sink, table, beside = {
        "delta": (
            f'{{delta: {{path: "{tmp_path}/t", {mode}}}}}',
            f"delta.`{tmp_path}/t`",
            f"delta.`{tmp_path}/t_key_places`",
        ),
        "iceberg": (
            f'{{iceberg: {{table: keyed.db.t, {mode}, catalog: {{type: hadoop, warehouse: "{tmp_path}"}}}}}}',
            "keyed.db.t",
            "keyed.db.t_key_places",
        ),
    }[kind]
    lake = written(spark, topics, avro, tmp_path, sink, table)
    assert spark.table(table).columns == ["id", "delay"]
    backfill(lake.file("delay + 100"), lake.spark, lake.hour(1), replace=True)
    assert [row[:2] for row in lake.rows()] == [row[:2] for row in ROWS]
    assert {delay // 100 for hour, _, delay in lake.rows() if hour == 1} == {1}
    rows, places = lake.rows(), sorted(map(str, spark.table(beside).collect()))
    assert len(places) == len(ROWS)
    [line] = compact(lake.file(), lake.spark, HOUR)
    first, second = line.split("; ")
    assert "t: " in first
    assert "t_key_places: " in second
    assert lake.rows() == rows
    assert sorted(map(str, spark.table(beside).collect())) == places


def physical_types(folder: Path, column: str) -> set[str]:
    """The physical types of a column in all data files."""
    files = [file for file in folder.rglob("*.parquet") if "_delta_log" not in file.parts]
    schemas = [pq.ParquetFile(file).schema for file in files]
    columns = [schema.column(number) for schema in schemas for number in range(len(schema))]
    return {found.physical_type for found in columns if found.path == column}
