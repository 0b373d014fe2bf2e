"""Tables that steps join are read once, and again after a while."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from spark_avro.pipeline.file.source import FilesSource
from spark_avro.pipeline.steps.joined_tables import Tables


def test_a_table_is_read_again_after_its_time(spark: SparkSession, tmp_path: Path) -> None:
    # Spark would notice what it writes itself.
    def write(number: int) -> None:
        pq.write_table(pa.table({"id": [number]}), tmp_path / f"{number}.parquet")

    path = str(tmp_path)
    write(0)
    now = [0.0]
    spec = FilesSource(path=path, format="parquet")
    tables = Tables(spark, {"t": spec}, {"t": timedelta(minutes=10)}, clock=lambda: now[0])
    counts = []
    for number, moment in enumerate((0.0, 599.0, 600.0, 700.0), 1):
        now[0] = moment
        is_old = tables.are_old()
        tables.refresh()
        counts.append((is_old, tables.table("t").count()))
        write(number)
    assert counts == [(False, 1), (False, 1), (True, 3), (False, 3)]
    tables.close()
    assert not tables.are_old()
