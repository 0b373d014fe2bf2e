"""The records of a batch on their way to several writers: stored before the first of them begins.

A repeat after a crash gives each writer the records that are stored, whatever the registry, a joined table or the clock
say by then. So a batch that some writers have committed is completed with the same records.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.observed import Observed
from spark_avro.pipeline.ports import POSITION, REASON, BatchIdentity
from spark_avro.pipeline.sinks.kafka.query_records import StageRecord
from spark_avro.pipeline.sinks.marker import Marker, marker_of
from spark_avro.pipeline.sinks.positions import PLACE_FIELDS, flat_position
from spark_avro.streams.header_columns import HEADERS

#: The column with a record's writer.
WRITER = "writer"
#: The column that is false in the row by which a writer without records learns its number.
IS_RECORD = "is_record"

#: The columns of records that writers need.
_PAYLOAD = ("topic", "key", "value", "headers", "partition", "timestamp")

#: Settings of a session that reads the files: Spark neither splits a file nor reads two of them by one task.
ONE_FILE_A_TASK = {
    "spark.sql.files.maxPartitionBytes": str(2**50),
    "spark.sql.files.openCostInBytes": str(2**50),
    "spark.sql.files.minPartitionNum": "1",
}
#: Records are read once, soon, and then deleted.
_OPTIONS = {
    "compression": "snappy",
    "parquet.enable.dictionary": "false",
    "parquet.page.write-checksum.enabled": "true",
}

_PLACE_TYPES = {"topic": "string", "partition": "int", "offset": "long"}
#: The prefix of the columns that sort a writer's records.
_ORDER = "order_"
#: Offsets have fewer bits than this; partition and offset make one number, which Spark sorts fastest.
_OFFSET_BITS = 44


@dataclass(frozen=True, slots=True)
class StagedRecords:
    """The stored records of a batch.

    Attributes:
        noted: Where they are, and how many.
        path: The folder of the files, one for each writer.
        schema: The columns; without `headers` if no record has any, because Spark hands a NULL array to Python in ten
            times the time of a key.
    """

    noted: StageRecord
    path: str
    schema: spark.StructType

    def read(self, session: SparkSession) -> DataFrame:
        """All records, with the columns WRITER, IS_RECORD and REASON."""
        return session.read.schema(self.schema).parquet(self.path)

    def rejected(self, session: SparkSession) -> DataFrame:
        """The records that the topic does not take, with POSITION and REASON."""
        return self.read(session).where(F.col(REASON).isNotNull()).select(POSITION, REASON)


class Stage:
    """The folder in which the records of a batch are stored.

    Args:
        session: The session.
        path: The folder, for this sink alone.
        topic: The sink's topic; None if an expression names it.
    """

    def __init__(self, session: SparkSession, path: str, topic: str | None) -> None:
        self._session, self.path, self._topic = session, path, topic
        self._folder = Folder(session, path)
        self._partitions: dict[int, tuple[int, ...]] = {}

    def at(self, noted: StageRecord, records: DataFrame, writers: int) -> StagedRecords | None:
        """The records of a batch where they are noted; None if they are not there.

        Args:
            noted: Where they are.
            records: The records as they are planned now; only their columns count.
            writers: How many writers there are.
        """
        if not self._folder.exists(noted.attempt):
            return None
        numbered = self._numbered(records, writers)
        schema = numbered.drop(*_sorting(numbered)).schema
        return StagedRecords(noted, f"{self.path}/{noted.attempt}", schema)

    def store(self, batch: BatchIdentity, before: Marker | None, records: DataFrame, writers: int) -> StagedRecords:
        """Store a batch; nobody uses it before it is noted.

        Args:
            batch: The batch.
            before: The marker of the batch before it.
            records: The records, as `ExactTopic.records` makes them.
            writers: How many writers there are.
        """
        attempt = f"{writers}-{uuid.uuid4().hex}"
        path = f"{self.path}/{attempt}"
        rows = self._divided(self._numbered(records, writers), writers)
        counted = Observed(rows, _counts())
        counted.rows.write.options(**_OPTIONS).parquet(path)
        counts = counted.result(["rows", "refused", "headers"])
        if counts is None:
            counts = self._session.read.schema(rows.schema).parquet(path).agg(*_counts()).collect()[0].asDict()
        marker = marker_of(batch, before, written=counts["rows"], refused=counts["refused"])
        schema = rows.schema if counts["headers"] else rows.drop("headers").schema
        return StagedRecords(StageRecord(attempt, marker), path, schema)

    def keep(self, staged: StagedRecords) -> None:
        """Delete what earlier attempts and batches left."""
        for name in self._folder.names():
            if name != staged.noted.attempt:
                self._folder.delete(name)

    def forget(self, staged: StagedRecords) -> None:
        """Delete the records of a batch that all writers have written."""
        self._folder.delete(staged.noted.attempt)

    def _numbered(self, records: DataFrame, writers: int) -> DataFrame:
        """What is stored of records: their payload, why the topic does not take one, and the number of the writer."""
        payload = [name for name in _PAYLOAD if name in records.columns and (name != "topic" or self._topic is None)]
        position = dict(flat_position(records, PLACE_FIELDS))
        place = F.struct(
            *(position.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in _PLACE_TYPES.items())
        )
        return records.select(
            *(F.col(name).cast(HEADERS).alias(name) if name == "headers" else F.col(name) for name in payload),
            F.col(REASON),
            F.when(F.col(REASON).isNotNull(), place).alias(POSITION),
            (F.pmod(_divisor(records), F.lit(writers)) + 1).alias(WRITER),
            F.lit(True).alias(IS_RECORD),
            *(column.alias(f"{_ORDER}{number}") for number, column in enumerate(_order(position))),
        )

    def _divided(self, numbered: DataFrame, writers: int) -> DataFrame:
        """The records in a partition for each writer, in the order of their positions, and a row for each writer."""
        kinds = {field.name: field.dataType for field in numbered.schema.fields}
        given = {WRITER: F.col("id").cast("int"), IS_RECORD: F.lit(False)}
        one_each = self._session.range(1, writers + 1, 1, 1).select(
            *(given.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in kinds.items())
        )
        ids = F.array(*(F.lit(number) for number in self._ids(writers)))
        divided = numbered.unionByName(one_each).repartition(writers, F.element_at(ids, F.col(WRITER)))
        order = _sorting(numbered)
        return (divided.sortWithinPartitions(*order) if order else divided).drop(*order)

    def _ids(self, writers: int) -> tuple[int, ...]:
        """For each writer a number whose hash is that of the writer's partition, so that each has a partition."""
        if writers not in self._partitions:
            numbers = ", ".join(f"({number})" for number in range(64 * writers))
            hashed = f"SELECT n, pmod(hash(n), {writers}) AS partition FROM VALUES {numbers} AS t(n)"  # noqa: S608 - ours
            ids = {row["partition"]: row["n"] for row in self._session.sql(hashed).collect()}
            self._partitions[writers] = tuple(ids[number] for number in range(writers))
        return self._partitions[writers]


def _counts() -> list[Column]:
    """The numbers of records that the topic takes, of the others, and of those with headers."""
    return [
        F.count(F.when(F.col(IS_RECORD) & F.col(REASON).isNull(), 1)).alias("rows"),
        F.count(F.when(F.col(REASON).isNotNull(), 1)).alias("refused"),
        F.count("headers").alias("headers"),
    ]


def _divisor(records: DataFrame) -> Column:
    """What decides a record's writer: one writer has all records of a partition that is named, or else of a key."""
    position = [column for _, column in flat_position(records, PLACE_FIELDS)]
    others = F.hash(*(position or ["value"]))
    by_key = F.when(F.col("key").isNotNull(), F.hash("key")).otherwise(others)
    if "partition" not in records.columns:
        return by_key
    return F.when(F.col("partition").isNotNull(), F.hash("partition")).otherwise(by_key)


def _sorting(numbered: DataFrame) -> list[str]:
    """The names of the columns that sort records, which are not stored."""
    return [name for name in numbered.columns if name.startswith(_ORDER)]


def _order(position: dict[str, Column]) -> list[Column]:
    """The column that sorts records by position, as one number; none if they have none.

    Records of several topics need no order among them.
    """
    if not {"partition", "offset"} <= position.keys():
        return []
    return [F.shiftleft(position["partition"].cast("long"), _OFFSET_BITS).bitwiseOR(position["offset"])]
