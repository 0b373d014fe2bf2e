"""`pipeline compact`: many small files of a sink become few large ones."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.sinks import DeltaSink, FilesSink, IcebergSink
from spark_avro.pipeline.ports import SinkRefused
from spark_avro.pipeline.upkeep.catalogs import open_catalogs, table_name
from spark_avro.pipeline.upkeep.compact_files import Compacted, compact_files


def compact(
    pipeline: Pipeline,
    spark: SparkSession,
    older_than: dt.timedelta,
    *,
    target: int | None = None,
    offline: bool = False,
    now: dt.datetime | None = None,
) -> list[str]:
    """Compact the sinks of a pipeline.

    Args:
        pipeline: The file.
        spark: The session.
        older_than: How long an hour or day has to be over, for files.
        target: The size of a file in bytes; by default that of the sink.
        offline: Whether nobody reads the folder meanwhile, which plain files need: a reader might see rows twice.
        now: The time.

    Returns:
        What was done with each sink, in words.

    Raises:
        SinkRefused: a sink has no files to compact, or `offline` is not given.
    """
    open_catalogs(pipeline, spark)
    done = []
    for spec in pipeline.all_sinks:
        act = _COMPACTING.get(type(spec))
        if act is None:
            raise SinkRefused(f"a sink of {type(spec).__name__} has no files of ours to compact")
        if isinstance(spec, FilesSink) and not offline:
            raise SinkRefused(
                f"{spec.path}: who reads plain files while they are compacted may see rows twice; stop the readers and"
                " give --offline"
            )
        chosen = spec if target is None or not isinstance(spec, FilesSink) else replace(spec, target=target)
        done.append(act(chosen, spark, pipeline.name, older_than, now or dt.datetime.now(dt.UTC), target))
    return done


def _files(
    spec: FilesSink, spark: SparkSession, name: str, older_than: dt.timedelta, now: dt.datetime, _target: int | None
) -> str:
    made: Compacted = compact_files(spark, spec, name, older_than, now)
    return f"{spec.path}: {made.partitions:,} partitions, {made.before:,} files became {made.after:,}"


def _delta(spec: DeltaSink, spark: SparkSession, *_: Any) -> str:
    metrics = spark.sql(f"OPTIMIZE {table_name(spec)}").select("metrics").collect()[0]["metrics"]
    return f"{spec.path or spec.table}: {metrics['numFilesRemoved']:,} files became {metrics['numFilesAdded']:,}"


def _iceberg(
    spec: IcebergSink, spark: SparkSession, _name: str, _older: dt.timedelta, _now: dt.datetime, target: int | None
) -> str:
    catalog, _, table = spec.table.partition(".")
    options = "" if target is None else f", options => map('target-file-size-bytes', '{target}')"
    row = spark.sql(f"CALL {catalog}.system.rewrite_data_files(table => '{table}'{options})").collect()[0]
    return f"{spec.table}: {row[0]:,} files became {row[1]:,}"


_COMPACTING: Mapping[type[Any], Callable[..., str]] = {FilesSink: _files, DeltaSink: _delta, IcebergSink: _iceberg}
