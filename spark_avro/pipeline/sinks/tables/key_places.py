"""The places in Kafka of the records that a Delta or Iceberg table has, by their keys, in a table beside it.

The order of an upsert is that of the records' places, and the table has the user's columns alone. So the table beside
says which row is newer. A key that was deleted stays in it, so that no older record brings the key back.

The two tables have no common transaction. The places are written first, without a marker, and then the table with the
batch's marker. A driver may die

- before the places or after the table: the two agree.
- in between: the marker says that the batch is not written, so it is repeated. Each place has the name of the batch
  that wrote it, and what it was before. The repeat puts the places of its earlier attempt back. Otherwise a record that
  the repeat leaves out, because the pipeline's steps were changed, would hold back older ones that the table lacks.

The other order would need the places of a batch that is written, from rows that the steps of the repeat may not give.
"""

# ruff: noqa: S608  # names of the file, and of this module
from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import Upsert
from spark_avro.pipeline.ports import POSITION, BatchIdentity
from spark_avro.pipeline.sinks.columns import quoted
from spark_avro.pipeline.sinks.tables.key_table import KeyTable, key_fields
from spark_avro.pipeline.sinks.tables.merging import DELETED, is_newer_row, same_key
from spark_avro.stored_values import exact_files

_VIEW = "magicbyte_places"
#: The columns of the batch that wrote a place, and of the place before it.
_BATCH, _BEFORE = "_batch_", "_before_"


class KeyPlaces:
    """The places of a table's keys.

    Args:
        table: The table that has them.
        upsert: The key, the order, and the rows that delete their key.
        target: The name in SQL of the table that has the rows.
    """

    def __init__(self, table: KeyTable, upsert: Upsert, target: str) -> None:
        self._table, self._upsert, self._target = table, upsert, target
        self._attempted = ""

    @property
    def name(self) -> str:
        """The table's name in SQL."""
        return self._table.name

    def statements(self, session: SparkSession, schema: spark.StructType) -> tuple[str, ...]:
        """The statements that create the table for rows of a schema, or change it."""
        return self._table.statements(session, self._columns(schema))

    def prepare(self, session: SparkSession, schema: spark.StructType, batch: BatchIdentity) -> None:
        """Create the table for rows of a schema, or change it; put back what an earlier attempt at the batch wrote."""
        self._table.prepare(session, self._columns(schema))
        if batch.attempted or self._attempted == str(batch):
            self._put_back(session, batch)
        self._attempted = str(batch)

    def clear(self, session: SparkSession) -> None:
        """Forget all places, which are those of a table that was dropped."""
        self._table.clear(session)

    def has_rows(self, session: SparkSession) -> bool:
        """Whether there are places."""
        return self._table.has_rows(session)

    def applied(self, newest: DataFrame, batch: BatchIdentity) -> DataFrame:
        """Write the places of rows, and leave out the rows that are older than those of the table.

        `prepare` was called for such rows.

        Args:
            newest: The newest row of each key of a batch, with `_kafka`.
            batch: The batch.
        """
        # Decoded columns are read several times, and need not be deterministic.
        newest = newest.localCheckpoint()
        chosen = self._not_older(newest, batch.former_topic_ids)
        if not chosen.isEmpty():
            self._note(chosen, batch)
        return chosen

    def still_newest(self, rows: str, replaced: Collection[str]) -> str:
        """The query of the rows of a view, without those for which another query has noted a newer place meanwhile."""
        return (
            f"SELECT new.* FROM {rows} AS new LEFT ANTI JOIN {self.name} AS target"
            f" ON {same_key(self._upsert)} AND {self._is_older(replaced)}"
        )

    def _columns(self, schema: spark.StructType) -> spark.StructType:
        """The columns of the table for rows of a schema: the key, its place, and that before it."""
        place = [
            spark.StructField(POSITION, schema[POSITION].dataType),
            spark.StructField(DELETED, spark.BooleanType()),
        ]
        before = spark.StructField(_BEFORE, spark.StructType(place))
        batch = spark.StructField(_BATCH, spark.StringType())
        return spark.StructType([*key_fields(self._upsert, schema), *place, before, batch])

    def _put_back(self, session: SparkSession, batch: BatchIdentity) -> None:
        written = f"{_BATCH} = '{batch}'"
        places = ", ".join(f"{name} = {_BEFORE}.{name}" for name in (POSITION, DELETED))
        with exact_files(session):
            session.sql(f"DELETE FROM {self.name} WHERE {written} AND {_BEFORE} IS NULL")
            # Such a row stays one of the batch, so a driver that dies after this puts the same place back again.
            session.sql(f"UPDATE {self.name} SET {places} WHERE {written}")

    def _is_older(self, replaced: Collection[str]) -> str:
        """The condition that a row does not take the place of its key's; of equal places it does."""
        return f"NOT coalesce({is_newer_row(self._upsert, replaced)}, false)"

    def _not_older(self, newest: DataFrame, replaced: Collection[str]) -> DataFrame:
        """The rows that take the place of the table's.

        A place without a row counts only if it deleted its key: otherwise somebody else deleted the row.
        """
        session, same = newest.sparkSession, same_key(self._upsert)
        keys = ", ".join(f"new.{quoted(field.name)}" for field in key_fields(self._upsert, newest.schema))
        older = session.sql(
            f"SELECT {keys}, target.{DELETED} FROM {{newest}} AS new JOIN {self.name} AS target"
            f" ON {same} AND {self._is_older(replaced)}",
            newest=newest,
        ).localCheckpoint()
        # The keys of the table are read only if a batch has older rows, which is rare.
        if older.isEmpty():
            return newest
        counting = session.sql(
            f"SELECT new.* FROM {{older}} AS new WHERE new.{DELETED}"
            f" UNION ALL SELECT new.* FROM {{older}} AS new LEFT SEMI JOIN {self._target} AS target ON {same}",
            older=older,
        )
        left = f"SELECT new.* FROM {{newest}} AS new LEFT ANTI JOIN {{counting}} AS target ON {same}"
        return session.sql(left, newest=newest, counting=counting).localCheckpoint()

    def _note(self, rows: DataFrame, batch: BatchIdentity) -> None:
        """Write the places of rows, whatever their keys have now."""
        keys = [quoted(field.name) for field in key_fields(self._upsert, rows.schema)]
        rows.createOrReplaceTempView(_VIEW)
        # Of two attempts of one batch, the first one found the place before it.
        before = (
            f"CASE WHEN target.{_BATCH} = '{batch}' THEN target.{_BEFORE}"
            f" ELSE named_struct('{POSITION}', target.{POSITION}, '{DELETED}', target.{DELETED}) END"
        )
        places = ", ".join(f"target.{name} = new.{name}" for name in (POSITION, DELETED))
        names = ", ".join((*keys, POSITION, DELETED, _BATCH))
        values = ", ".join((*(f"new.{key}" for key in keys), f"new.{POSITION}", f"new.{DELETED}", f"'{batch}'"))
        session = rows.sparkSession
        with exact_files(session):
            session.sql(
                f"MERGE INTO {self.name} AS target USING {_VIEW} AS new ON {same_key(self._upsert)}"
                f" WHEN MATCHED THEN UPDATE SET {places}, target.{_BEFORE} = {before}, target.{_BATCH} = '{batch}'"
                f" WHEN NOT MATCHED THEN INSERT ({names}, {_BEFORE}) VALUES ({values}, NULL)"
            )
