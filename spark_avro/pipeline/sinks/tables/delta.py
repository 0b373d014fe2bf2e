"""A Delta table: each batch is a transaction with the query's id and the batch's number, which Delta writes once."""

from __future__ import annotations

from typing import Any

import pyspark
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import DeltaSink, Upsert
from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import BatchIdentity, Reject, SinkContext, SinkRefused, SinkResult
from spark_avro.pipeline.sinks.broken_texts import broken_text, split_rows
from spark_avro.pipeline.sinks.columns import ColumnFit, can_widen, fit_columns, log_changes, quoted
from spark_avro.pipeline.sinks.marker import MarkerKey, is_written, marker_of
from spark_avro.pipeline.sinks.positions import place_position
from spark_avro.pipeline.sinks.tables.delta_marker import DeltaMarkers
from spark_avro.pipeline.sinks.tables.key_table import settings_of_key_table
from spark_avro.pipeline.sinks.tables.merging import table_guarantee
from spark_avro.pipeline.sinks.tables.table_changes import change_statement, type_text
from spark_avro.pipeline.sinks.tables.upserts import Upserts
from spark_avro.stored_values import exact_files

_LOG = "_delta_log"
_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"


class DeltaTarget:
    """A Delta table that rows are appended to, or that has the newest row of each key."""

    def __init__(self, spec: DeltaSink, context: SinkContext) -> None:
        """Make a sink.

        Raises:
            SinkRefused: The session was started without Delta.
        """
        self._spec, self._context = spec, context
        self._name = spec.table if spec.table is not None else f"delta.`{spec.path}`"
        if _EXTENSION not in str(context.spark.conf.get("spark.sql.extensions", "")):
            raise SinkRefused(f"{self._name}: the session has no Delta; start it with session(formats=['delta'])")
        self._fit: tuple[spark.StructType, ColumnFit] | None = None
        self._markers: tuple[MarkerKey, DeltaMarkers] | None = None
        upsert = spec.mode if isinstance(spec.mode, Upsert) else None
        self._upserts: Upserts | None = None
        if upsert is not None:
            self._upserts = Upserts(upsert, self._name, self._key_table, keep_position=spec.keep_position)
        how = "a batch is one Delta transaction with the query's id and the batch's number"
        self.guarantee = table_guarantee("delta", how, upsert)

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check the columns; see `Sink`."""
        session = self._context.spark
        rows, target = session.createDataFrame([], schema), self.columns_of(session)
        fit = self._fitted(place_position(rows, keep=self._keeps_position(target)).schema, target)
        statements = self._statements(fit, target)
        if self._upserts is not None:
            statements += self._upserts.statements(session, place_position(rows, keep=True).schema, fit)
        return statements

    @property
    def name(self) -> str:
        """The table's name in SQL."""
        return self._name

    def statements_for(self, session: SparkSession, schema: spark.StructType) -> tuple[str, ...]:
        """The statements that create the table for rows of a schema, or change it."""
        target = self.columns_of(session)
        return self._statements(self._fitted(schema, target), target)

    def make(self, session: SparkSession, schema: spark.StructType) -> None:
        """Create the table for rows of a schema, or change it."""
        is_new = self.columns_of(session) is None
        self._run(session, self.statements_for(session, schema), is_new=is_new)

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        """Write a batch in one Delta transaction; see `Sink`."""
        session = rows.sparkSession
        target = self.columns_of(session)
        markers = self._markers_of(batch)
        marker = markers.read(session, self._folder(session)) if target is not None else None
        if marker is not None and is_written(marker, batch, self._name, adopt=self._context.adopt):
            return marker.result()
        count = rows.count()
        split = split_rows(rows, self._broken_text(rows), reject)
        placed = place_position(split.good, keep=self._keeps_position(target))
        fit = self._fitted(placed.schema, target)
        statements = self._statements(fit, target)
        if target is None and self._upserts is not None:
            self._upserts.begin(session)
        self._run(session, statements, is_new=target is None)
        log_changes(self._name, statements)
        if target is not None:
            fit = fit.completed(target)
        written = count - split.refused
        marker = marker_of(batch, marker, written=written, refused=split.refused)
        merge = None
        if self._upserts is not None:
            # The tables beside it are written here, without the marker: see key_places.py.
            rows = place_position(split.good, keep=True)
            merge = self._upserts.merge_statement(rows, fit, batch, checkpointed=False)
        with markers.committing(session, marker), exact_files(session):
            if merge is None:
                self._append(placed.select(*fit.columns()))
            else:
                session.sql(merge)
        return SinkResult(written)

    def close(self) -> None:
        """Nothing is open; see `Sink`."""

    def _run(self, session: SparkSession, statements: tuple[str, ...], *, is_new: bool) -> None:
        if is_new and self._spec.path is not None:
            _delete_unfinished_log(Folder(session, self._spec.path))
        for statement in statements:
            session.sql(statement)

    def _keeps_position(self, target: spark.StructType | None) -> bool:
        return self._spec.keep_position if self._upserts is None else self._upserts.keeps_position(target)

    def _key_table(self, suffix: str) -> DeltaTarget:
        """A table with the keys of this one, at its name or path with the suffix."""
        return DeltaTarget(settings_of_key_table(self._spec, suffix), self._context)

    def _broken_text(self, rows: DataFrame) -> Column | None:
        """The reason to reject a row whose partition has no name; the files have the bytes of a text as they are."""
        kinds = [(str(path), F.col(str(path))) for path in self._spec.partition]
        schema = rows.select(*(column.alias(name) for name, column in kinds)).schema
        return broken_text([(name, column, schema[name].dataType) for name, column in kinds], "the folder's name")

    def _append(self, rows: DataFrame) -> None:
        writer = rows.write.format("delta").mode("append")
        if self._spec.table is not None:
            writer.saveAsTable(self._spec.table)
        else:
            writer.save(self._spec.path)

    def _fitted(self, schema: spark.StructType, target: spark.StructType | None) -> ColumnFit:
        return fit_columns(target, schema, columns=self._context.columns, widens=_widens, name=self._name)

    def _statements(self, fit: ColumnFit, target: spark.StructType | None) -> tuple[str, ...]:
        if target is None:
            columns = ", ".join(f"{quoted(field.name)} {type_text(field.dataType)}" for field in fit.schema.fields)
            partitions = ", ".join(map(str, self._spec.partition))
            partitioned = f" PARTITIONED BY ({partitions})" if partitions else ""
            return (f"CREATE TABLE {self._name} ({columns}) USING delta{partitioned}",)
        widened = any(change.old is not None for change in fit.changes)
        # Readers without the feature can read the table until a type is widened.
        enabled = (f"ALTER TABLE {self._name} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",)
        changes = tuple(change_statement(self._name, change) for change in fit.changes)
        return (*enabled, *changes) if widened else changes

    def columns_of(self, session: SparkSession) -> spark.StructType | None:
        """The table's columns; None if it does not exist."""
        if self._spec.table is not None:
            return session.table(self._spec.table).schema if session.catalog.tableExists(self._spec.table) else None
        java: Any = session._jvm  # noqa: SLF001 - Delta's Java API
        is_table = java.io.delta.tables.DeltaTable.isDeltaTable(session._jsparkSession, self._spec.path)  # noqa: SLF001
        return session.read.format("delta").load(self._spec.path).schema if is_table else None

    def _markers_of(self, batch: BatchIdentity) -> DeltaMarkers:
        """The markers of a batch's query, kept for its next batch."""
        key = MarkerKey(batch.query_id)
        if self._markers is None or self._markers[0] != key:
            self._markers = (key, DeltaMarkers(key, self._name))
        return self._markers[1]

    def _folder(self, session: SparkSession) -> str:
        if self._spec.path is not None:
            return self._spec.path
        return str(session.sql(f"DESCRIBE DETAIL {self._name}").collect()[0]["location"])


def _widens(old: spark.DataType, new: spark.DataType) -> bool:
    """Whether Delta can change a column's type: Delta 3, that of Spark 3, only knows whole numbers of up to 32 bits."""
    if pyspark.__version__.startswith("3."):
        return can_widen(old, new) and isinstance(new, spark.ShortType | spark.IntegerType)
    return can_widen(old, new)


def _delete_unfinished_log(table: Folder) -> None:
    """Delete the log of a driver that was killed before its first commit: Delta cannot make a table there.

    Such a log has a hidden file with the commit, and empty folders. A finished commit has another name and is kept.
    """
    for name in table.names(_LOG):
        if name.startswith("."):
            table.delete(f"{_LOG}/{name}")
        elif name.startswith("_"):
            table.delete_if_empty(f"{_LOG}/{name}")
    table.delete_if_empty(_LOG)
