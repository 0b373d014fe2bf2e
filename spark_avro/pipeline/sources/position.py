"""The struct `_kafka` of a row: where its record came from."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.ports import POSITION
from spark_avro.plan.decoding import schema_id

#: The fields with their types.
FIELDS: Mapping[str, str] = {
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "headers": "array<struct<key: string, value: binary>>",
    "key": "binary",
    "schema_id": "bigint",
    "schema_version": "int",
}


def position(parts: Mapping[str, Column]) -> Column:
    """The struct `_kafka` of some fields; the others are NULL."""
    nothing = F.lit(None)
    return F.struct(*(parts.get(name, nothing).cast(kind).alias(name) for name, kind in FIELDS.items())).alias(POSITION)


def with_position(records: DataFrame, *, by_id: bool) -> DataFrame:
    """Records of Spark's Kafka source as `_kafka`, and as `value`, `key` and `headers` for decoding."""
    parts = {name: F.col(name) for name in FIELDS if name in records.columns}
    if by_id:
        parts["schema_id"] = schema_id(F.col("value"))
    return records.select(position(parts), "value", "key", "headers")


def with_version(versions: Mapping[int, int]) -> Column:
    """`_kafka` with the number of each record's version; it is computed only for rows whose step or sink uses it.

    Args:
        versions: The version numbers in the subject by schema id.
    """
    number = F.lit(None).cast("int")
    if versions:
        pairs = (F.lit(part) for schema_id, version in versions.items() for part in (schema_id, version))
        number = F.create_map(*pairs)[F.col(f"{POSITION}.schema_id").cast("int")]
    return F.col(POSITION).withField("schema_version", number).alias(POSITION)
