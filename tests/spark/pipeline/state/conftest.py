"""Fixtures of the tests of steps that remember rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.pipeline.state.events import EVENT, MINUTE


@pytest.fixture
def strict(spark: SparkSession) -> Iterator[None]:
    """Spark 3.5 makes NULL of a text that is no number, unless it is told not to."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    yield
    spark.conf.set("spark.sql.ansi.enabled", str(before))


@pytest.fixture
def events(avro: Any, topics: Any) -> Callable[..., None]:
    """Produces events of (id, key, minute)."""

    def produce(topic: str, *rows: tuple[int, str, float]) -> None:
        [schema_id] = avro.register(f"{topic}-value", EVENT)
        made = [{"id": number, "k": key, "at": int(minute * MINUTE)} for number, key, minute in rows]
        topics.produce(topic, *(avro.message(schema_id, EVENT, row) for row in made))

    return produce
