"""The struct `_kafka` of a row: where its record came from."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
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


def record_position(*, by_id: bool) -> Column:
    """The struct `_kafka` of records of Spark's Kafka source; the fields for the schema are NULL without `by_id`."""
    parts = {name: F.col(name) for name in FIELDS if not name.startswith("schema_")}
    if by_id:
        parts["schema_id"] = schema_id(F.col("value"))
    return position(parts)


def with_version(versions: Mapping[int, int]) -> Column:
    """`_kafka` with the number of each record's version; it is computed only for rows whose step or sink uses it.

    Args:
        versions: The version numbers in the subject by schema id.
    """
    # SQL is parsed in one call to Spark's JVM; columns are made in one for each operator.
    pairs = ", ".join(f"{schema_id}, {version}" for schema_id, version in versions.items())
    number = F.expr(f"map({pairs})[CAST({POSITION}.schema_id AS INT)]" if versions else "CAST(NULL AS INT)")
    return F.col(POSITION).withField("schema_version", number).alias(POSITION)
