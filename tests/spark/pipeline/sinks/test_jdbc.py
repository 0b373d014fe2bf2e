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


def test_a_row_that_java_would_change_is_rejected(
    spark: SparkSession,
    context: Callable[..., SinkContext],
    numbers: Callable[..., DataFrame],
    batch: Callable[..., BatchIdentity],
    positions: Callable[[DataFrame | None], list[tuple[int, str]]],
    tmp_path: Path,
) -> None:
    url = f"jdbc:derby:{tmp_path}/db;create=true"
    values = (
        "if(n = 1, cast(unhex('FF41') as string), 'a') as s",
        "date_from_unix_date(if(n = 2, 2932897, 2932896)) as d",
        "timestamp_micros(if(n = 3, -62135596800000001, 0)) as t",
    )
    result = open_sink(JdbcSink(url=url, table="t"), context()).write(numbers(0, 5, "n", *values), batch(0, 0, 5))
    assert result.written == 2
    assert [(place, reason.partition(",")[0]) for place, reason in positions(result.rejected)] == [
        (1, "column s: a text is not UTF-8"),
        (2, "column d: the year is outside of 1 to 9999"),
        (3, "column t: the year is outside of 1 to 9999"),
    ]
    assert sorted(row["n"] for row in spark.read.jdbc(url, "t").collect()) == [0, 4]
    with pytest.raises(SinkRefused, match=r"sink.jdbc.url: SQLite's driver would cut .*; use sink.sql with sqlite:///"):
        open_sink(JdbcSink(url="jdbc:sqlite:/tmp/t.db", table="t"), context())
