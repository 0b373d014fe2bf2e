"""A session with Delta and Iceberg, for tests that run in a process of their own: a JVM has one session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

import spark_avro
from tests.spark.conftest import SETTINGS


@contextmanager
def lake_session(folder: Path) -> Iterator[SparkSession]:
    """Start a session whose warehouse is in a folder."""
    settings = {
        **SETTINGS,
        "spark.sql.warehouse.dir": str(folder),
        "spark.databricks.delta.snapshotPartitions": "2",
    }
    session = spark_avro.session("lakes", master="local[2]", settings=settings, formats=["delta", "iceberg"])
    yield session
    session.stop()
