"""The JDBC sink on Derby, which Spark brings: at least once, and the table is not changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_avro.pipeline.file.sinks import JdbcSink
from spark_avro.pipeline.ports import BatchIdentity, Delivery, SinkContext, SinkRefused
from spark_avro.pipeline.sinks import open_sink


def test_a_repeated_batch_is_there_twice_and_a_unique_key_tells(
    spark: SparkSession,
    context: Callable[..., SinkContext],
    numbers: Callable[..., DataFrame],
    batch: Callable[..., BatchIdentity],
    tmp_path: Path,
) -> None:
    url = f"jdbc:derby:{tmp_path}/db;create=true"

    def sink(**settings: Any) -> Any:
        return open_sink(JdbcSink(url=url, table="t", keep_position=True), context(**settings))

    def rows() -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in spark.read.jdbc(url, "t").select("n", "_kafka_offset").collect())

    assert sink().guarantee.delivery is Delivery.AT_LEAST_ONCE
    assert sink().prepare(numbers(0, 1).schema)[0].startswith("CREATE TABLE t by Spark's types: struct<n:bigint,")
    assert sink().write(numbers(0, 2), batch(0, 0, 2)).written == 2
    assert sink().write(numbers(0, 2), batch(0, 0, 2)).repeated is False
    assert rows() == [(0, 0), (0, 0), (1, 1), (1, 1)]
    wider = numbers(2, 3, "n", "'new' as s")
    with pytest.raises(SinkRefused, match=r"t: add column s string: a JDBC table is not changed"):
        sink().prepare(wider.schema)
    sink(columns="ignore").write(wider, batch(1, 2, 3))
    assert rows()[-1] == (2, 2)
