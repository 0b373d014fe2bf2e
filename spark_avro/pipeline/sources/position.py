"""The struct `_kafka` of a row: where its record came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.ports import POSITION
from spark_avro.plan.frames import BY_ID, FRAME, Guids, Message, frame_column, schema_id

#: Topics whose records name their schemas, and the ids of the guids.
NamedSchemas = tuple[Sequence[str], Guids]

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


def record_position(named: Sequence[NamedSchemas], *, of_all: bool) -> list[list[Column]]:
    """The struct `_kafka` of records of Spark's Kafka source, with `value`, `key` and `headers`.

    Args:
        named: The topics whose records name their schemas; the fields for the schema are NULL for others.
        of_all: Whether the records are all of the same topics, so that these need not be compared.

    Returns:
        The columns to select, one selection after the other.
    """
    parts = {name: F.col(name) for name in FIELDS if not name.startswith("schema_")}
    records = [F.col("value"), *parts.values()]
    selections: list[list[Column]] = []
    if named:
        message = Message(F.col("value"), F.col(FRAME))
        by_ids = [message.by_id(guids).alias(f"{BY_ID}{number}") for number, (_, guids) in enumerate(named)]
        selections = [[*records, frame_column(is_key=False)], [*records, *by_ids]]
        columns = [F.col(f"{BY_ID}{number}") for number in range(len(named))]
        if not of_all:
            pairs = zip(named, columns, strict=True)
            columns = [F.when(F.col("topic").isin(*topics), column) for (topics, _), column in pairs]
        parts["schema_id"] = schema_id(F.coalesce(*columns))
    return [*selections, [position(parts), F.col("value"), F.col("key"), F.col("headers")]]


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
