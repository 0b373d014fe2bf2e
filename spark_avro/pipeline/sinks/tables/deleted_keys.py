"""The deleted keys of a Delta or Iceberg table with upserts, in a table beside it.

They are kept so if the table itself has what decides which row is newer; if not, see key_places.py.

Without them, an older record that is read after the one that deleted its key would bring the key back: a key's records
may be in several partitions, and no order of a column is that of the topic. The keys are written before the batch. If
the driver dies in between, they delete nothing that the repeated batch would not delete.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import Upsert
from spark_avro.pipeline.sinks.tables.key_table import KeyTable
from spark_avro.pipeline.sinks.tables.merging import DELETED, is_newer_row, same_key
from spark_avro.stored_values import exact_files

_VIEW = "magicbyte_deleted"


class DeletedKeys:
    """The deleted keys of a table.

    Args:
        table: The table that has them.
        upsert: The key, the order, and the rows that delete their key.
    """

    def __init__(self, table: KeyTable, upsert: Upsert) -> None:
        self._table, self._upsert = table, upsert

    @property
    def name(self) -> str:
        """The table's name in SQL."""
        return self._table.name

    def columns(self, schema: spark.StructType) -> spark.StructType:
        """The columns of the table for rows of a schema: those that have the key and the order."""
        names = {path.parts[0].lower() for path in (*self._upsert.key, self._upsert.order)}
        return spark.StructType([field for field in schema.fields if field.name.lower() in names])

    def prepare(self, session: SparkSession, schema: spark.StructType) -> None:
        """Create the table or change it for rows of a schema."""
        self._table.prepare(session, self.columns(schema))

    def applied(self, newest: DataFrame, replaced: Collection[str]) -> DataFrame:
        """Keep the keys that rows delete, and leave out the rows that are older than the deletion of their key.

        `prepare` was called for such rows.

        Args:
            newest: The newest row of each key of a batch.
            replaced: Topics of the source that were deleted and made again.
        """
        session = newest.sparkSession
        # Decoded columns are read three times here, and need not be deterministic.
        newest = newest.localCheckpoint()
        schema = self.columns(newest.schema)
        same, newer = same_key(self._upsert), is_newer_row(self._upsert, replaced)
        deleted = newest.where(DELETED).select(*(F.col(f"`{name}`") for name in schema.names))
        if not deleted.isEmpty():
            deleted.createOrReplaceTempView(_VIEW)
            with exact_files(session):
                session.sql(
                    f"MERGE INTO {self.name} AS target USING {_VIEW} AS new ON {same}"
                    f" WHEN MATCHED AND {newer} THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
                )
        return session.sql(
            f"SELECT new.* FROM {{newest}} AS new LEFT ANTI JOIN {self.name} AS target"  # noqa: S608 - as above
            f" ON {same} AND NOT coalesce({newer}, true)",
            newest=newest,
        )
