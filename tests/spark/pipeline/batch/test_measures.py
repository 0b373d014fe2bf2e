"""The measures of a batch."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from spark_avro.pipeline.batch.measures import NEWEST, ROWS, row_measures


@pytest.mark.parametrize(
    ("newest", "expected"),
    [
        ("timestamp'2026-01-01 05:00:00'", "2026-01-01T05:00:00"),
        # A producer sent microseconds for milliseconds.
        ("timestamp_millis(1767243600000000L)", "9999-12-30T00:00:00"),
        ("cast(null as timestamp)", None),
    ],
)
def test_a_time_that_python_does_not_have_stops_no_batch(
    spark: SparkSession, newest: str, expected: str | None
) -> None:
    times = f"explode(array(timestamp'2025-01-01', {newest}))" if expected else newest
    rows = spark.sql(f"select named_struct('timestamp', at) as _kafka from (select {times} as at)")
    measured = rows.agg(*row_measures()).collect()[0]
    found = measured[NEWEST]
    assert (measured[ROWS], found and found.isoformat()) == (2 if expected else 1, expected)
