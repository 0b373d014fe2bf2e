"""A row's position in Kafka as columns of a target, and rows that a target rejects by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.ports import HEADERS, KEY, POSITION, REASON
from spark_avro.pipeline.sinks.columns import quoted

#: The fields of `_kafka` that a target keeps.
KEPT_FIELDS = ("topic", "partition", "offset", "timestamp")

#: The fields of `_kafka` that identify a record.
PLACE_FIELDS = ("topic", "partition", "offset")

#: Columns of the rows that are not data: position, key and headers of the record.
NOT_DATA = (POSITION, KEY, HEADERS)

_REJECTED = f"{POSITION} struct<topic: string, partition: int, offset: bigint>, {REASON} string"


def place_position(rows: DataFrame, *, keep: bool) -> DataFrame:
    """The data of rows, with `_kafka` reduced to topic, partition, offset and timestamp, or without it."""
    return rows.select(*placed_columns(rows, keep=keep))


def placed_columns(rows: DataFrame, *, keep: bool) -> list[Column]:
    """The columns that `place_position` selects."""
    data = [F.col(quoted(name)) for name in rows.columns if name not in NOT_DATA]
    if POSITION not in rows.columns or not keep:
        return data
    kept = [name for name in KEPT_FIELDS if name in _fields(rows)]
    position = F.struct(*(F.col(f"{POSITION}.{name}") for name in kept)).alias(POSITION)
    place = sum(name not in NOT_DATA for name in rows.columns[: rows.columns.index(POSITION)])
    return [*data[:place], position, *data[place:]]


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
