"""The struct `_kafka` of a row: where its record came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

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


def record_position(*, by_id: bool | Sequence[str]) -> Column:
    """The struct `_kafka` of records of Spark's Kafka source.

    Args:
        by_id: Whether the records name their schemas by id, or the topics whose records do; the fields for the schema
            are NULL for others.
    """
    parts = {name: F.col(name) for name in FIELDS if not name.startswith("schema_")}
    if by_id:
        number = schema_id(F.col("value"))
        parts["schema_id"] = number if by_id is True else F.when(F.col("topic").isin(*by_id), number)
    return position(parts)


def with_version(versions: Sequence[tuple[Sequence[str], Mapping[int, int]]]) -> Column:
    """`_kafka` with the number of each record's version; it is computed only for rows whose step or sink uses it.

    Args:
        versions: Topics, and the version numbers in their subject by schema id; the topics are not compared if there is
            only one entry.
    """
    # SQL is parsed in one call to Spark's JVM; columns are made in one for each operator.
    numbers = [_number(by_id) for _, by_id in versions]
    number = F.expr(numbers[0])
    if len(numbers) > 1:
        # A schema may have several numbers: its id is the same in all subjects.
        number = reduce(
            lambda other, entry: F.when(F.col(f"{POSITION}.topic").isin(*entry[0]), F.expr(entry[1])).otherwise(other),
            [(topics, text) for (topics, _), text in zip(versions, numbers, strict=True)],
            F.lit(None).cast("int"),
        )
    return F.col(POSITION).withField("schema_version", number).alias(POSITION)


def _number(versions: Mapping[int, int]) -> str:
    pairs = ", ".join(f"{schema_id}, {version}" for schema_id, version in versions.items())
    return f"map({pairs})[CAST({POSITION}.schema_id AS INT)]" if versions else "CAST(NULL AS INT)"
