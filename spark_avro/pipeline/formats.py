"""The table formats that a pipeline's file names, whose modules Spark has to load."""

from __future__ import annotations

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.sinks import DeltaSink, IcebergSink
from spark_avro.pipeline.file.source import DeltaTable


def table_formats(pipeline: Pipeline) -> tuple[str, ...]:
    """`delta` and `iceberg`, if a sink or table is of this format."""
    parts = (*pipeline.all_sinks, *pipeline.tables.values())
    named = {"delta": (DeltaSink, DeltaTable), "iceberg": (IcebergSink,)}
    return tuple(name for name, kinds in named.items() if any(isinstance(part, kinds) for part in parts))
