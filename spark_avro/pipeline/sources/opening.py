"""The source of a pipeline's file."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.source import FilesSource, JdbcSource, KafkaSource
from spark_avro.pipeline.sources.kafka import KafkaRecords
from spark_avro.pipeline.sources.other_sources import FileRows, JdbcRows, RateRows
from spark_avro.pipeline.sources.source import Source


def open_source(spark: SparkSession, pipeline: Pipeline) -> Source:
    """The source that a pipeline's file names."""
    spec = pipeline.source
    if isinstance(spec, KafkaSource):
        return KafkaRecords(spark, pipeline, spec)
    if isinstance(spec, FilesSource):
        return FileRows(spark, spec)
    if isinstance(spec, JdbcSource):
        return JdbcRows(spark, spec)
    return RateRows(spark, spec, bounded=pipeline.trigger.every is None)
