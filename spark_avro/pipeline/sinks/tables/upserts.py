"""An upsert into a Delta or Iceberg table: where it keeps what decides which row is newer, and its MERGE."""

# ruff: noqa: S608  # names of the file, and of this package
from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import Upsert
from spark_avro.pipeline.ports import POSITION, BatchIdentity, SinkRefused
from spark_avro.pipeline.sinks.columns import ColumnFit
from spark_avro.pipeline.sinks.newest import DELETED_KEYS, KEY_PLACES
from spark_avro.pipeline.sinks.tables.deleted_keys import DeletedKeys
from spark_avro.pipeline.sinks.tables.key_places import KeyPlaces
from spark_avro.pipeline.sinks.tables.key_table import KeyTable, LakeTable
from spark_avro.pipeline.sinks.tables.merging import (
    BATCH_VIEW,
    DELETED,
    is_newer_row,
    merge_statement,
    newest_rows,
    orders_by_position,
    same_key,
)
from spark_avro.stored_values import exact_files


class Upserts:
    """The upserts into a table.

    If rows are ordered by their places in Kafka, these are in a table beside it (key_places.py), or in the column
    `_kafka`, if the table has one: the file asks for it, or did so before.

    Args:
        upsert: The key, the order, and the rows that delete their key.
        name: The table's name in SQL.
        key_table: Makes a table with its keys, from what is added to its name.
        keep_position: Whether the file asks for the column `_kafka`.
    """

    def __init__(
        self, upsert: Upsert, name: str, key_table: Callable[[str], LakeTable], *, keep_position: bool
    ) -> None:
        self._upsert, self._name = upsert, name
        self._deleted = DeletedKeys(KeyTable(key_table(DELETED_KEYS)), upsert) if upsert.deletes is not None else None
        places = KeyTable(key_table(KEY_PLACES)) if orders_by_position(upsert) else None
        self._places = None if places is None else KeyPlaces(places, upsert, name)
        # A key of fields of `_kafka` needs the column, too.
        self._keep_position = keep_position or any(path.parts[0] == POSITION for path in upsert.key)
        self._is_moved = False

    def keeps_position(self, target: spark.StructType | None) -> bool:
        """Whether the rows are written with `_kafka`.

        Args:
            target: The table's columns; None if it does not exist.
        """
        return self._keep_position or (self._places is not None and target is not None and _has_position(target))

    def statements(self, session: SparkSession, rows: spark.StructType, fit: ColumnFit) -> tuple[str, ...]:
        """The statements that create the table of places or change it.

        Args:
            session: The session.
            rows: The columns of the rows, with `_kafka`.
            fit: The columns in which they are written.

        Raises:
            SinkRefused: The rows have no `_kafka`.
        """
        if self._places is None or _has_position(fit.schema):
            return ()
        return self._places.statements(session, self._with_position(rows, fit))

    def begin(self, session: SparkSession) -> None:
        """Prepare for a table that does not exist yet: the places of one that was dropped do not count.

        It is called before the table is created: after a crash in between it is called again.
        """
        if self._places is not None:
            self._places.clear(session)

    def merge_statement(self, rows: DataFrame, fit: ColumnFit, batch: BatchIdentity, *, checkpointed: bool) -> str:
        """The MERGE of the newest row of each key, unless the table has a newer one, or deleted the key later.

        The table exists. What is beside it is written at once.

        Args:
            rows: The rows of the batch, with `_kafka`.
            fit: The columns in which they are written.
            batch: The batch.
            checkpointed: Whether the MERGE needs rows that are the same each time it reads them.
        """
        session, replaced = rows.sparkSession, batch.former_topic_ids
        if self._places is not None and not _has_position(fit.schema):
            self._places.prepare(session, self._with_position(rows.schema, fit), batch)
            newest = newest_rows(rows, fit, self._upsert, [self._places.name], replaced, with_position=True)
            self._places.applied(newest, batch).createOrReplaceTempView(BATCH_VIEW)
            # The MERGE compares the places once more, since another query may have noted newer ones.
            return merge_statement(self._name, self._places.still_newest(BATCH_VIEW, replaced), fit, self._upsert)
        tables = [self._name]
        if self._deleted is not None:
            self._deleted.prepare(session, rows.select(*fit.columns()).schema)
            tables.append(self._deleted.name)
        self._move_places(session)
        newest = newest_rows(rows, fit, self._upsert, tables, replaced)
        if self._deleted is not None:
            newest = self._deleted.applied(newest, replaced)
        (newest.localCheckpoint() if checkpointed else newest).createOrReplaceTempView(BATCH_VIEW)
        newer = is_newer_row(self._upsert, replaced)
        return merge_statement(self._name, f"SELECT * FROM {BATCH_VIEW}", fit, self._upsert, newer)

    def _with_position(self, rows: spark.StructType, fit: ColumnFit) -> spark.StructType:
        if not _has_position(rows):
            raise SinkRefused(
                f"{self._name}: an upsert by {self._upsert.order} needs the rows' {POSITION}, which a step leaves out;"
                " keep it, or use another order"
            )
        return spark.StructType([*fit.schema.fields, rows[POSITION]])

    def _move_places(self, session: SparkSession) -> None:
        """Move the places into the table, which now has the column `_kafka`, because the file asks for it.

        Each statement changes nothing if it is repeated after a crash; the places are deleted last.
        """
        if self._is_moved or self._places is None:
            return
        if self._places.has_rows(session):
            places, same = self._places.name, same_key(self._upsert)
            with exact_files(session):
                session.sql(
                    f"MERGE INTO {self._name} AS target USING (SELECT * FROM {places} WHERE NOT {DELETED}) AS new"
                    f" ON {same} WHEN MATCHED AND target.{POSITION} IS NULL"
                    f" THEN UPDATE SET target.{POSITION} = new.{POSITION}"
                )
                if self._deleted is not None:
                    session.sql(
                        f"MERGE INTO {self._deleted.name} AS target USING (SELECT * FROM {places} WHERE {DELETED})"
                        f" AS new ON {same} WHEN NOT MATCHED THEN INSERT *"
                    )
            self._places.clear(session)
        self._is_moved = True


def _has_position(schema: spark.StructType) -> bool:
    return any(field.name.lower() == POSITION for field in schema.fields)
