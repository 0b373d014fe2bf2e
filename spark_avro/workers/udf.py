"""Columns decoded in Python workers: for features that the JVM lacks, and for ids that were unknown to the plan."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import types as spark

from spark_avro.plan.frames import schema_id
from spark_avro.plan.parts import Decoded
from spark_avro.plan.rules.workers.vectorized import REASON, VALUE, Batch, vectorized
from spark_avro.registry import Registry, settings_for_workers
from spark_avro.workers.decoding import WorkerSettings


def decoded_by(batch: Batch, message: Column, kind: spark.DataType) -> Decoded:
    """The parts of a column that Python workers decode with one call per batch of rows.

    Args:
        batch: The decoder.
        message: The messages with ids before the payloads.
        kind: The Spark type of the values.
    """
    fields = [spark.StructField(VALUE, kind), spark.StructField(REASON, spark.StringType())]
    whole = vectorized(batch, spark.StructType(fields))(message)
    return Decoded(whole[VALUE], whole[REASON].isNull(), whole[REASON], schema_id(message))


def worker_settings(registry: Registry) -> WorkerSettings:
    """The settings with which workers connect to the registry.

    Raises:
        PlanError: the settings contain a secret as plain text, or they are hidden inside a given client.
    """
    return tuple(sorted(settings_for_workers(registry).items()))
