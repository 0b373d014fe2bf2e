"""The records of a batch on their way to several writers: stored before the first of them begins.

A repeat after a crash gives each writer the records that are stored, whatever the registry, a joined table or the clock
say by then. So a batch that some writers have committed is completed with the same records. Records that go by source
are stored only if the topic does not take some of them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.observed import Observed
from spark_avro.pipeline.ports import POSITION, REASON, BatchIdentity
from spark_avro.pipeline.sinks.kafka.division import MARK, RECORD, REFUSED, WRITER, Divider, Division
from spark_avro.pipeline.sinks.kafka.query_records import StageRecord
from spark_avro.pipeline.sinks.marker import Marker, marker_of

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


@dataclass(frozen=True, slots=True)
class StagedRecords:
    """The stored records of a batch.

    Attributes:
        noted: Where they are, and how many.
        path: The folder of the files, one for each writer.
        schema: The columns of the files; without `headers` if no record has any, because Spark hands a NULL array to
            Python in ten times the time of a key.
    """

    noted: StageRecord
    path: str
    schema: spark.StructType

    def read(self, session: SparkSession) -> DataFrame:
        """All records, with the columns WRITER, MARK and REASON."""
        records = session.read.schema(self.schema).parquet(self.path)
        return records if MARK in records.columns else _marked(records)

    def rejected(self, session: SparkSession) -> DataFrame:
        """The records that the topic does not take, with POSITION and REASON."""
        return self.read(session).where(F.col(REASON).isNotNull()).select(POSITION, REASON)


class Stage:
    """The folder in which the records of a batch are stored.

    Args:
        session: The session.
        path: The folder, for this sink alone.
    """

    def __init__(self, session: SparkSession, path: str) -> None:
        self._session, self.path = session, path
        self._folder = Folder(session, path)

    def at(self, noted: StageRecord) -> StagedRecords | None:
        """The records of a batch where they are noted; None if they are not there."""
        if not noted.stored or not self._folder.exists(noted.attempt):
            return None
        path = f"{self.path}/{noted.attempt}"
        # The steps may give other columns by now.
        return StagedRecords(noted, path, self._session.read.parquet(path).schema)

    def store(
        self,
        batch: BatchIdentity,
        before: Marker | None,
        numbered: DataFrame,
        divider: Divider,
        *,
        division: Division,
        writers: Iterable[int],
    ) -> StagedRecords:
        """Store records of a batch; nobody uses them before they are noted.

        Args:
            batch: The batch.
            before: The marker of the batch before it.
            numbered: The records, as `divider` numbers them.
            divider: Divides them among the writers.
            division: How they are numbered.
            writers: The numbers of the writers whose records these are.
        """
        attempt = uuid.uuid4().hex
        path = f"{self.path}/{attempt}"
        rows = divider.parts(numbered)
        counts_of = _counts(rows)
        counted = Observed(rows, counts_of)
        counted.rows.write.options(**_OPTIONS).parquet(path)
        counts = counted.result(["rows", "refused", "headers"])
        if counts is None:
            counts = self._session.read.schema(rows.schema).parquet(path).agg(*counts_of).collect()[0].asDict()
        marker = marker_of(batch, before, written=counts["rows"], refused=counts["refused"])
        schema = rows.schema if counts["headers"] else rows.drop("headers").schema
        noted = StageRecord(marker, divider.writers, division, attempt, tuple(writers))
        return StagedRecords(noted, path, schema)

    def keep(self, noted: StageRecord) -> None:
        """Delete what earlier attempts and batches left."""
        for name in self._folder.names():
            if name != noted.attempt:
                self._folder.delete(name)

    def forget(self, staged: StagedRecords) -> None:
        """Delete the records of a batch that all writers have written."""
        self._folder.delete(staged.noted.attempt)


#: The column of earlier releases that was false in the row with a writer's number, and true in records.
_IS_RECORD = "is_record"


def _marked(records: DataFrame) -> DataFrame:
    """The records of an earlier release, with the column MARK; a writer's number was not always in the first row."""
    mark = F.when(~F.col(_IS_RECORD), F.col(WRITER)).when(F.col(REASON).isNotNull(), REFUSED).otherwise(RECORD)
    marked = records.withColumn(MARK, mark).withColumn("place", F.monotonically_increasing_id())
    return marked.sortWithinPartitions(_IS_RECORD, "place").drop(_IS_RECORD, "place")


def _counts(rows: DataFrame) -> list[Column]:
    """The numbers of records that the topic takes, of the others, and of those with headers."""
    return [
        F.count(F.when(F.col(MARK) == RECORD, 1)).alias("rows"),
        F.count(F.when(F.col(MARK) == REFUSED, 1)).alias("refused"),
        (F.count("headers") if "headers" in rows.columns else F.lit(0)).alias("headers"),
    ]
