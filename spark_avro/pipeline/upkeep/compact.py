"""`pipeline compact`: many small files of a sink become few large ones."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.sinks import DeltaSink, FilesSink, IcebergSink
from spark_avro.pipeline.ports import SinkContext, SinkRefused
from spark_avro.pipeline.upkeep.catalogs import open_catalogs, table_name, with_key_tables
from spark_avro.pipeline.upkeep.compact_files import compact_files
from spark_avro.stored_values import exact_files


def compact(
    pipeline: Pipeline,
    spark: SparkSession,
    older_than: dt.timedelta,
    *,
    target: int | None = None,
    offline: bool = False,
    grace: dt.timedelta | None = None,
    now: dt.datetime | None = None,
) -> list[str]:
    """Compact the sinks of a pipeline.

    Args:
        pipeline: The file.
        spark: The session.
        older_than: How long an hour or day has to be over, for files.
        target: The size of a file in bytes; by default that of the sink.
        offline: Whether nobody reads the folder meanwhile; plain files need that: a reader might see rows twice.
        grace: Instead of `offline`: how long the old files stay for readers of plain files that have listed them.
        now: The time.

    Returns:
        What was done with each sink, in words.

    Raises:
        SinkRefused: a sink has no files to compact, or neither `offline` nor `grace` is given.
    """
    open_catalogs(pipeline, spark)
    done = []
    for spec in pipeline.all_sinks:
        act = _COMPACTING.get(type(spec))
        if act is None:
            raise SinkRefused(f"a sink of {type(spec).__name__} has no files of ours to compact")
        if isinstance(spec, FilesSink) and not offline and grace is None:
            raise SinkRefused(
                f"{spec.path}: who reads plain files while they are compacted may see rows twice; stop the readers and"
                " give --offline, or --grace to keep the old files for readers that have listed them"
            )
        task = _Task(spark, pipeline.name, older_than, now or dt.datetime.now(dt.UTC), target, grace)
        done.append(act(spec, task))
    return done


@dataclass(frozen=True, slots=True)
class _Task:
    """The arguments of `compact` for one sink."""

    spark: SparkSession
    pipeline: str
    older_than: dt.timedelta
    now: dt.datetime
    target: int | None
    grace: dt.timedelta | None


def _files(spec: FilesSink, task: _Task) -> str:
    sized = spec if task.target is None else replace(spec, target=task.target)
    made = compact_files(task.spark, sized, task.pipeline, task.older_than, task.now, task.grace)
    text = f"{spec.path}: {made.partitions:,} partitions, {made.before:,} files became {made.after:,}"
    if made.deleted:
        text += f"; {made.deleted:,} files of earlier compactions were deleted"
    if made.partitions and task.grace is not None:
        until = (task.now + task.grace).isoformat(timespec="seconds")
        text += f"; the old files stay until {until}, and the first compaction after that deletes them"
    return text


def _delta(spec: DeltaSink, task: _Task) -> str:
    done = []
    for each in with_key_tables(spec, SinkContext(task.spark, task.pipeline)):
        with exact_files(task.spark):
            metrics = task.spark.sql(f"OPTIMIZE {table_name(each)}").select("metrics").collect()[0]["metrics"]
        done.append(
            f"{each.path or each.table}: {metrics['numFilesRemoved']:,} files became {metrics['numFilesAdded']:,}"
        )
    return "; ".join(done)


def _iceberg(spec: IcebergSink, task: _Task) -> str:
    done = []
    options = "" if task.target is None else f", options => map('target-file-size-bytes', '{task.target}')"
    for each in with_key_tables(spec, SinkContext(task.spark, task.pipeline)):
        catalog, _, table = each.table.partition(".")
        row = task.spark.sql(f"CALL {catalog}.system.rewrite_data_files(table => '{table}'{options})").collect()[0]
        done.append(f"{each.table}: {row[0]:,} files became {row[1]:,}")
    return "; ".join(done)


_COMPACTING: Mapping[type[Any], Callable[[Any, _Task], str]] = {
    FilesSink: _files,
    DeltaSink: _delta,
    IcebergSink: _iceberg,
}
