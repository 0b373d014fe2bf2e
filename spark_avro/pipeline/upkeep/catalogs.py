"""The Delta and Iceberg tables of a pipeline in SQL: their names, and the catalogs that know them."""

from __future__ import annotations

from typing import TypeVar

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.sinks import DeltaSink, IcebergSink, Upsert
from spark_avro.pipeline.ports import SinkContext
from spark_avro.pipeline.sinks import open_sink
from spark_avro.pipeline.sinks.newest import DELETED_KEYS, KEY_PLACES
from spark_avro.pipeline.sinks.tables.delta import DeltaTarget
from spark_avro.pipeline.sinks.tables.iceberg import IcebergTarget
from spark_avro.pipeline.sinks.tables.key_table import settings_of_key_table

_Spec = TypeVar("_Spec", DeltaSink, IcebergSink)


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


def with_key_tables(spec: _Spec, context: SinkContext) -> list[_Spec]:
    """The settings of a table, and of the tables beside it that an upsert has made.

    Args:
        spec: The settings of the table.
        context: The session, which knows the table's catalog, and the pipeline.
    """
    suffixes = (KEY_PLACES, DELETED_KEYS) if isinstance(spec.mode, Upsert) else ()
    specs = [spec]
    for suffix in suffixes:
        key_table = settings_of_key_table(spec, suffix)
        if _target(key_table, context).columns_of(context.spark) is not None:
            specs.append(key_table)
    return specs


def _target(spec: DeltaSink | IcebergSink, context: SinkContext) -> DeltaTarget | IcebergTarget:
    return DeltaTarget(spec, context) if isinstance(spec, DeltaSink) else IcebergTarget(spec, context)
