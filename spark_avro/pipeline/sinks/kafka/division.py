"""The division of a batch's records among writers: by source partition, or by key.

By source, a writer has all rows that a batch makes of some partitions of the source. Which partitions these are follows
from the batch's offsets alone, so a repeat gives each writer the same records of the source, whatever the registry, a
joined table or the clock say by then. Rows that are made of several records have no source partition of their own: they
go by key, and a repeat needs them as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.plan_operators import plan_operators
from spark_avro.pipeline.ports import POSITION, REASON, BatchIdentity, SourceRange
from spark_avro.pipeline.sinks.positions import PLACE_FIELDS, flat_position
from spark_avro.streams.header_columns import HEADERS

#: The column with a record's writer.
WRITER = "writer"
#: The column that says what a row is: RECORD, REFUSED, or the number of the writer in the first row of its part. Spark
#: hands one column to Python faster than several, and a writer without records needs its number, too.
MARK = "mark"
RECORD, REFUSED = 0, -1

#: The columns of records that are sent.
PAYLOAD = ("topic", "key", "value", "headers", "partition", "timestamp")
_PLACE_TYPES = {"topic": "string", "partition": "int", "offset": "long"}
#: The column that sorts a writer's records.
_ORDER = "order"
#: Offsets have fewer bits than this; partition and offset make one number, which Spark sorts fastest.
_OFFSET_BITS = 44

#: The operators of Spark's plan for window functions and aggregates, which SQL in a step such as `select` may have.
_LOOK_AROUND = {"Window", "Aggregate"}


class Division(StrEnum):
    """The property of a record that decides its writer."""

    BY_SOURCE = "source"
    BY_KEY = "key"


class Divider:
    """Divides the records of batches among writers.

    Args:
        session: The session.
        topic: The sink's topic; None if an expression names it.
        writers: How many writers there are.

    Attributes:
        writers: How many writers there are.
    """

    def __init__(self, session: SparkSession, topic: str | None, writers: int) -> None:
        self._session, self._topic, self.writers = session, topic, writers
        self._ids: tuple[int, ...] = ()

    def numbered(self, records: DataFrame, batch: BatchIdentity, division: Division) -> DataFrame:
        """The columns that writers need: the payload, why the topic refuses a record, and the number of its writer."""
        # No topic if all records have one, and no headers if none has any: Spark hands them to Python slowly.
        kinds = {field.name: field.dataType for field in records.schema.fields}
        unneeded = {"topic"} if self._topic is not None else set[str]()
        if isinstance(kinds["headers"], spark.NullType):
            unneeded.add("headers")
        payload = [name for name in PAYLOAD if name in kinds and name not in unneeded]
        position = dict(flat_position(records, PLACE_FIELDS))
        place = F.struct(
            *(position.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in _PLACE_TYPES.items())
        )
        return records.select(
            *(F.col(name).cast(HEADERS).alias(name) if name == "headers" else F.col(name) for name in payload),
            F.col(REASON),
            F.when(F.col(REASON).isNotNull(), place).alias(POSITION),
            _WRITERS[division](records, batch, self.writers).alias(WRITER),
            F.when(F.col(REASON).isNotNull(), REFUSED).otherwise(RECORD).alias(MARK),
            _order(position).alias(_ORDER),
        )

    def parts(self, numbered: DataFrame) -> DataFrame:
        """The records in a partition for each writer, in the order of their positions, after a row with its number."""
        kinds = {field.name: field.dataType for field in numbered.schema.fields}
        given = {WRITER: F.col("id").cast("int"), MARK: F.col("id").cast("int")}
        one_each = self._session.range(1, self.writers + 1, 1, 1).select(
            *(given.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in kinds.items())
        )
        ids = F.array(*(F.lit(number) for number in self._partition_ids()))
        divided = numbered.unionByName(one_each).repartition(self.writers, F.element_at(ids, F.col(WRITER)))
        # The row with the number has NULL, and is the first.
        return divided.sortWithinPartitions(_ORDER).drop(_ORDER)

    def _partition_ids(self) -> tuple[int, ...]:
        """For each writer a number whose hash is that of the writer's partition, so that each has a partition."""
        if not self._ids:
            count = self.writers
            numbers = ", ".join(f"({number})" for number in range(64 * count))
            hashed = f"SELECT n, pmod(hash(n), {count}) AS partition FROM VALUES {numbers} AS t(n)"  # noqa: S608 - ours
            ids = {row["partition"]: row["n"] for row in self._session.sql(hashed).collect()}
            self._ids = tuple(ids[number] for number in range(count))
        return self._ids


def have_places(records: DataFrame, batch: BatchIdentity) -> bool:
    """Whether records say from which record of the source they come."""
    return bool(batch.ranges) and len(flat_position(records, PLACE_FIELDS)) == len(PLACE_FIELDS)


def look_around(records: DataFrame) -> bool:
    """Whether SQL makes a row of several records, in a step that makes each row of one record otherwise."""
    return not _LOOK_AROUND.isdisjoint(plan_operators(records))


def shares(ranges: Sequence[SourceRange], writers: int) -> dict[tuple[str, int], int]:
    """The writer of each source partition: the next largest one goes to the writer with the fewest records.

    Args:
        ranges: The partitions with their offsets.
        writers: How many writers there are.
    """
    loads = dict.fromkeys(range(1, writers + 1), 0)
    found: dict[tuple[str, int], int] = {}
    for part in sorted(ranges, key=lambda part: (part.start - part.end, part.topic, part.partition)):
        writer = min(loads, key=lambda number: loads[number])
        loads[writer] += part.end - part.start
        found[part.topic, part.partition] = writer
    return found


def _by_source(_records: DataFrame, batch: BatchIdentity, writers: int) -> Column:
    """The writer of a row's source partition; writer 1 if the row has no place in the batch."""
    by_topic: dict[str, dict[int, int]] = {}
    for (topic, partition), writer in shares(batch.ranges, writers).items():
        by_topic.setdefault(topic, {})[partition] = writer
    found: Column | None = None
    for topic, numbers in by_topic.items():
        # One literal for all partitions: a plan with a branch for each of hundreds is slow.
        literal = F.expr(f"array({', '.join(str(numbers.get(at, 1)) for at in range(max(numbers) + 1))})")
        number = F.get(literal, F.col(f"{POSITION}.partition"))
        is_topic = F.col(f"{POSITION}.topic") == topic
        found = F.when(is_topic, number) if found is None else found.when(is_topic, number)
    return F.lit(1) if found is None else F.coalesce(found, F.lit(1))


def _by_key(records: DataFrame, _batch: BatchIdentity, writers: int) -> Column:
    """One writer has all records of a partition that is named, or else of a key."""
    position = [column for _, column in flat_position(records, PLACE_FIELDS)]
    others = F.hash(*(position or ["value"]))
    by_key = F.when(F.col("key").isNotNull(), F.hash("key")).otherwise(others)
    if "partition" in records.columns:
        by_key = F.when(F.col("partition").isNotNull(), F.hash("partition")).otherwise(by_key)
    return F.pmod(by_key, F.lit(writers)) + 1


_WRITERS: Mapping[Division, Callable[[DataFrame, BatchIdentity, int], Column]] = {
    Division.BY_SOURCE: _by_source,
    Division.BY_KEY: _by_key,
}


def _order(position: Mapping[str, Column]) -> Column:
    """The number by which records are sorted by position; it is the same for all if they have none.

    Records of several topics need no order among them.
    """
    if not {"partition", "offset"} <= position.keys():
        return F.lit(0).cast("long")
    number = F.shiftleft(position["partition"].cast("long"), _OFFSET_BITS).bitwiseOR(position["offset"])
    return F.coalesce(number, F.lit(0).cast("long"))
