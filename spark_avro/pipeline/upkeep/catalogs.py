"""The Delta and Iceberg tables of a pipeline in SQL: their names, and the catalogs that know them."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.sinks import DeltaSink, IcebergSink
from spark_avro.pipeline.ports import SinkContext
from spark_avro.pipeline.sinks import open_sink


def open_catalogs(pipeline: Pipeline, spark: SparkSession) -> None:
    """Make the catalogs of a pipeline's tables those of the session, as its sinks do.

    Raises:
        SinkRefused: the session was started without the format.
    """
    for spec in pipeline.all_sinks:
        if isinstance(spec, DeltaSink | IcebergSink):
            open_sink(spec, SinkContext(spark, pipeline.name)).close()


def table_name(spec: DeltaSink | IcebergSink) -> str:
    """A table's name in SQL."""
    path = spec.path if isinstance(spec, DeltaSink) else None
    return str(spec.table) if path is None else f"delta.`{path}`"
