"""A row's position in Kafka as columns of a target, and rows that a target rejects by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.ports import HEADERS, KEY, POSITION, REASON

#: The fields of `_kafka` that a target keeps.
KEPT_FIELDS = ("topic", "partition", "offset", "timestamp")

#: The fields of `_kafka` that identify a record.
PLACE_FIELDS = ("topic", "partition", "offset")

#: Columns of the rows that are not data: position, key and headers of the record.
NOT_DATA = (POSITION, KEY, HEADERS)

_REJECTED = f"{POSITION} struct<topic: string, partition: int, offset: bigint>, {REASON} string"


def place_position(rows: DataFrame, *, keep: bool) -> DataFrame:
    """The data of rows, with `_kafka` reduced to topic, partition, offset and timestamp, or without it."""
    rows = rows.drop(KEY, HEADERS)
    if POSITION not in rows.columns or not keep:
        return rows.drop(POSITION)
    fields = [name for name in KEPT_FIELDS if name in _fields(rows)]
    return rows.withColumn(POSITION, F.struct(*(F.col(f"{POSITION}.{name}") for name in fields)))


def flat_position(rows: DataFrame, names: Sequence[str]) -> list[tuple[str, Column]]:
    """The fields of `_kafka` that the rows have, by name."""
    present = _fields(rows)
    return [(name, F.col(f"{POSITION}.{name}")) for name in names if name in present]


def rejected_rows(spark_session: SparkSession, refused: Sequence[tuple[tuple[Any, ...], str]]) -> DataFrame:
    """Rejected rows, made of positions and reasons; a missing position is NULL."""
    return spark_session.createDataFrame([(place or None, reason) for place, reason in refused], _REJECTED)


def _fields(rows: DataFrame) -> list[str]:
    kind = rows.schema[POSITION].dataType if POSITION in rows.columns else None
    return list(kind.names) if isinstance(kind, spark.StructType) else []
