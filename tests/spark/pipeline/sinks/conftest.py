"""Batches of numbered rows with positions, for every sink."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from spark_avro.pipeline.ports import BatchIdentity, SinkContext, SourceRange

#: The struct that every row has, of a record at an offset that is its number.
POSITION = """
    named_struct('topic', 'flights', 'partition', 0, 'offset', n, 'timestamp', timestamp'2026-01-01 05:00:00',
        'headers', cast(null as array<struct<key: string, value: binary>>), 'key', cast(null as binary),
        'schema_id', 7) as _kafka
"""


@pytest.fixture
def numbers(spark: SparkSession) -> Callable[..., DataFrame]:
    """Rows from start to end with these columns, SQL of the number n."""

    def make(start: int, end: int, *columns: str) -> DataFrame:
        return spark.range(start, end, 1, 2).toDF("n").selectExpr(*(columns or ("n",)), POSITION)

    return make


def batch(number: int, start: int, end: int, query: str = "q1", pipeline: str = "flights") -> BatchIdentity:
    return BatchIdentity(pipeline, query, number, (SourceRange("flights", 0, start, end),))


@pytest.fixture
def context(spark: SparkSession) -> Callable[..., SinkContext]:
    def make(**settings: Any) -> SinkContext:
        return SinkContext(spark, "flights", **settings)

    return make


@pytest.fixture(name="batch")
def batch_maker() -> Callable[..., BatchIdentity]:
    return batch


@pytest.fixture
def positions() -> Callable[[DataFrame | None], list[tuple[int, str]]]:
    """Offsets and reasons of rejected rows."""

    def read(rejected: DataFrame | None) -> list[tuple[int, str]]:
        assert rejected is not None
        return sorted((row["_kafka"]["offset"], row["_error"]) for row in rejected.collect())

    return read
