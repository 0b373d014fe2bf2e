"""Runs a pipeline to the end of its source; kills itself with -9 at a named point, or maintains the tables first.

python tests/chaos/kit/pipeline_crashing.py FILE [--crash POINT] [--maintain TABLE...] [--adopt]

Points: `sink:K` after the K-th sink of a batch has written, so between two sinks or after the last one; `marker:files`,
`marker:iceberg`, `marker:sql`, `marker:kafka` after the rows, and before the marker or the commit; `stage` when the
driver has noted how records are divided among writers on executors, and where they are stored, if they are; and
`writer:K` when the K-th of them has committed.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

import spark_avro
from spark_avro.pipeline.batch.writer import BatchWriter
from spark_avro.pipeline.modules import table_formats
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.sinks.files_marker import FilesMarker
from spark_avro.pipeline.sinks.kafka import executors, producing
from spark_avro.pipeline.sinks.kafka.ownership import Started
from spark_avro.pipeline.sinks.kafka.writing import Outcome, Writing
from spark_avro.pipeline.sinks.sql.marker import TableMarkers
from spark_avro.pipeline.sinks.tables.iceberg_marker import IcebergMarkers


def _die(*_: Any, **__: Any) -> None:
    os.killpg(0, signal.SIGKILL)


def _die_before(owner: Any, method: str) -> None:
    setattr(owner, method, _die)


def _die_after(owner: Any, method: str, calls: int) -> None:
    original, left = getattr(owner, method), [calls]

    def counted(*arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        left[0] -= 1
        if left[0] == 0:
            _die()
        return result

    setattr(owner, method, counted)


@dataclass(frozen=True)
class KillingWriting(Writing):
    """Kills the driver when a writer has committed; later ones have not begun."""

    last: int
    group: int

    def _write(self, number: int, parts: Iterator[pa.RecordBatch]) -> Outcome:
        if number > self.last:
            time.sleep(600)
        outcome = super()._write(number, parts)
        if number == self.last:
            # Its own group is that of Spark's workers.
            os.killpg(self.group, signal.SIGKILL)
        return outcome


def _die_after_writer(number: int) -> None:
    def make(*arguments: Any) -> Writing:
        given: Any = (*arguments, number, os.getpgrp())
        return KillingWriting(*given)

    setattr(executors, "Writing", make)  # noqa: B010 - not a name that the module gives away


POINTS: dict[str, Callable[[], None]] = {
    "marker:files": lambda: _die_before(FilesMarker, "note"),
    "marker:iceberg": lambda: _die_before(IcebergMarkers, "note"),
    "marker:sql": lambda: _die_before(TableMarkers, "set_marker"),
    "marker:kafka": lambda: _die_after(producing.RecordQueue, "put", 1),
    "stage": lambda: _die_after(Started, "note_stage", 1),
    **{f"writer:{number}": lambda number=number: _die_after_writer(number) for number in (1, 2)},  # type: ignore[misc]
    **{f"sink:{number}": lambda number=number: _die_after(BatchWriter, "_to_sink", number) for number in range(1, 10)},  # type: ignore[misc]
}


def _maintain(spark: SparkSession, delta: str, iceberg: str) -> None:
    """Delete everything that maintenance may delete; another writer's commits come after the pipeline's."""
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    spark.sql(f"DELETE FROM delta.`{delta}` WHERE n < 0")
    spark.sql(f"VACUUM delta.`{delta}` RETAIN 0 HOURS")
    spark.sql(f"ALTER TABLE {iceberg} WRITE ORDERED BY n")
    spark.sql(f"INSERT INTO {iceberg} SELECT * FROM {iceberg} WHERE n < 0")
    catalog, _, table = iceberg.partition(".")
    expire = f"table => '{table}', older_than => TIMESTAMP '2999-01-01', retain_last => 1"
    spark.sql(f"CALL {catalog}.system.expire_snapshots({expire})")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--crash", choices=POINTS)
    parser.add_argument("--maintain", nargs=2)
    parser.add_argument("--adopt", action="store_true")
    options = parser.parse_args()
    pipeline = spark_avro.pipeline(options.file).file
    formats = sorted(table_formats(pipeline))
    spark = spark_avro.session("crashing", master="local[2]", settings=pipeline.spark, formats=formats)
    running = Running(pipeline, spark, adopt=options.adopt, until_caught_up=True)
    if options.maintain:
        for sink in pipeline.all_sinks:
            for name, value in getattr(sink, "catalog", {}).items():
                spark.conf.set(f"spark.sql.catalog.lake.{name}", value)
        spark.conf.set("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog")
        spark.conf.set("spark.sql.catalog.lake.cache-enabled", "false")
        _maintain(spark, *options.maintain)
    if options.crash:
        POINTS[options.crash]()
    result = running.run()
    print(f"read={result.read} written={result.written} dead={result.dead}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
