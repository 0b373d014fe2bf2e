"""Backfill and compaction of Delta and Iceberg tables; test_upkeep runs this file in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_avro.pipeline.upkeep.backfill import backfill
from spark_avro.pipeline.upkeep.compact import compact
from tests.spark.pipeline.sinks.lake_session import lake_session
from tests.spark.pipeline.upkeep.test_upkeep import HOUR, ROWS, written


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
