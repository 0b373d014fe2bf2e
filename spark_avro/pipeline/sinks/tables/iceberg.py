"""An Iceberg table: each batch is a snapshot with the batch's identity; the sink looks it up before it writes."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import IcebergSink, Upsert
from spark_avro.pipeline.ports import BatchIdentity, Reject, SinkContext, SinkRefused, SinkResult
from spark_avro.pipeline.sinks.broken_texts import split_rows
from spark_avro.pipeline.sinks.columns import ColumnFit, can_widen, fit_columns, log_changes, quoted
from spark_avro.pipeline.sinks.marker import MarkerKey, is_written, marker_of
from spark_avro.pipeline.sinks.positions import place_position
from spark_avro.pipeline.sinks.tables.iceberg_commit import commit_with
from spark_avro.pipeline.sinks.tables.iceberg_marker import IcebergMarkers
from spark_avro.pipeline.sinks.tables.key_table import settings_of_key_table
from spark_avro.pipeline.sinks.tables.merging import table_guarantee
from spark_avro.pipeline.sinks.tables.table_changes import change_statement, type_text
from spark_avro.pipeline.sinks.tables.upserts import Upserts

_EXTENSION = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
_CATALOG = "org.apache.iceberg.spark.SparkCatalog"

#: The microseconds whose hours Iceberg can count, in 32 bits: a later time would get the partition of another one.
_HOUR = 3_600_000_000
_COUNTED = (-(2**31) * _HOUR, 2**31 * _HOUR - 1)


class IcebergTarget:
    """An Iceberg table that rows are appended to, or that has the newest row of each key."""

    def __init__(self, spec: IcebergSink, context: SinkContext) -> None:
        """Make a sink; the catalog of the spec becomes one of the session.

        Raises:
            SinkRefused: The session was started without Iceberg, or its catalog caches tables.
        """
        self._spec, self._context = spec, context
        self._attempted = ""
        upsert = spec.mode if isinstance(spec.mode, Upsert) else None
        self._upserts: Upserts | None = None
        if upsert is not None:
            self._upserts = Upserts(upsert, spec.table, self._key_table, keep_position=spec.keep_position)
        how = "a batch is one snapshot with the batch's identity, and a repeated batch finds the snapshot"
        self.guarantee = table_guarantee("iceberg", how, upsert)
        if spec.table.count(".") < 2:
            raise SinkRefused(f"sink.iceberg.table: {spec.table} is no catalog.namespace.table")
        if _EXTENSION not in str(context.spark.conf.get("spark.sql.extensions", "")):
            raise SinkRefused(f"{spec.table}: the session has no Iceberg; start it with session(formats=['iceberg'])")
        catalog = f"spark.sql.catalog.{spec.table.partition('.')[0]}"
        if spec.catalog:
            properties = {f"{catalog}.{name}": value for name, value in spec.catalog.items()}
            settings = {catalog: _CATALOG, f"{catalog}.cache-enabled": "false", **properties}
            for name, value in settings.items():
                context.spark.conf.set(name, value)
        if context.spark.conf.get(f"{catalog}.cache-enabled", "true") != "false":
            raise SinkRefused(
                f"{spec.table}: the catalog caches tables, so that a batch would be looked up in an old table;"
                f" set {catalog}.cache-enabled=false"
            )

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check the columns; see `Sink`."""
        session = self._context.spark
        rows, target = session.createDataFrame([], schema), self.columns_of(session)
        placed = place_position(rows, keep=self._keeps_position(target))
        if self._spec.time is not None and str(self._spec.time) not in placed.columns:
            raise SinkRefused(f"sink.iceberg.time: the rows have no column {self._spec.time}")
        fit = self._fitted(placed.schema, target)
        statements = self._statements(fit, target)
        if self._upserts is not None:
            statements += self._upserts.statements(session, place_position(rows, keep=True).schema, fit)
        return statements

    @property
    def name(self) -> str:
        """The table's name in SQL."""
        return self._spec.table

    def statements_for(self, session: SparkSession, schema: spark.StructType) -> tuple[str, ...]:
        """The statements that create the table for rows of a schema, or change it."""
        target = self.columns_of(session)
        return self._statements(self._fitted(schema, target), target)

    def make(self, session: SparkSession, schema: spark.StructType) -> None:
        """Create the table for rows of a schema, or change it."""
        for statement in self.statements_for(session, schema):
            session.sql(statement)

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        """Write a batch as one snapshot; see `Sink`."""
        session = rows.sparkSession
        target = self.columns_of(session)
        markers = IcebergMarkers(session, self._spec.table, MarkerKey(batch.query_id))
        last = markers.read(batch, attempted=self._is_attempted(batch)) if target is not None else None
        self._attempted = str(batch)
        if last is not None and is_written(last, batch, self._spec.table, adopt=self._context.adopt):
            markers.note(last)
            return last.result()
        reason = self._uncounted(rows)
        count, unfit = rows.agg(F.count(F.lit(1)), F.count(F.lit(None) if reason is None else reason)).collect()[0]
        split = split_rows(rows, reason if unfit else None, reject)
        written = count - split.refused
        placed = place_position(split.good, keep=self._keeps_position(target))
        fit = self._fitted(placed.schema, target)
        statements = self._statements(fit, target)
        if target is None and self._upserts is not None:
            self._upserts.begin(session)
        for statement in statements:
            session.sql(statement)
        log_changes(self._spec.table, statements)
        if target is not None:
            fit = fit.completed(target)
        marker = marker_of(batch, last, written=written, refused=split.refused)
        properties = markers.properties(marker)
        markers.begin()
        if self._upserts is None:
            self._append(placed.select(*fit.columns()), properties)
        else:
            # Iceberg's MERGE reads its source twice, and Spark refuses one with expressions that are not deterministic.
            # The tables beside it are written here, without the marker: see key_places.py.
            rows = place_position(split.good, keep=True)
            commit_with(session, self._upserts.merge_statement(rows, fit, batch, checkpointed=True), properties)
        markers.note(marker)
        return SinkResult(written)

    def close(self) -> None:
        """Nothing is open; see `Sink`."""

    def _keeps_position(self, target: spark.StructType | None) -> bool:
        return self._spec.keep_position if self._upserts is None else self._upserts.keeps_position(target)

    def _key_table(self, suffix: str) -> IcebergTarget:
        """A table with the keys of this one, at its name or path with the suffix."""
        return IcebergTarget(settings_of_key_table(self._spec, suffix), self._context)

    def _is_attempted(self, batch: BatchIdentity) -> bool:
        """Whether an earlier attempt may have written a batch, and nobody has said that it did not."""
        return (batch.attempted or self._attempted == str(batch)) and not self._context.adopt

    def _uncounted(self, rows: DataFrame) -> Column | None:
        """The reason to reject a row whose hour Iceberg cannot count; None if the table is not partitioned by hours."""
        if self._spec.time is None:
            return None
        name = str(self._spec.time)
        first, last = (F.timestamp_micros(F.lit(micros)).cast(rows.schema[name].dataType) for micros in _COUNTED)
        problem = F.lit(f"column {name}: Iceberg counts hours in 32 bits, and would put it into another hour: ")
        return F.when(~F.col(name).between(first, last), F.concat(problem, F.col(name).cast("string")))

    def _append(self, rows: DataFrame, properties: Mapping[str, str]) -> None:
        if self._spec.time is not None:
            # One task writes all rows of an hour, so that the hour is one file.
            rows = rows.repartition(F.date_trunc("hour", F.col(str(self._spec.time))))
        writer = rows.writeTo(self._spec.table)
        for name, value in properties.items():
            writer = writer.option(f"snapshot-property.{name}", value)
        writer.append()

    def _fitted(self, schema: spark.StructType, target: spark.StructType | None) -> ColumnFit:
        return fit_columns(target, schema, columns=self._context.columns, widens=_widens, name=self._spec.table)

    def _statements(self, fit: ColumnFit, target: spark.StructType | None) -> tuple[str, ...]:
        table = self._spec.table
        if target is not None:
            return tuple(change_statement(table, change) for change in fit.changes)
        columns = ", ".join(f"{quoted(field.name)} {type_text(field.dataType)}" for field in fit.schema.fields)
        hours = f" PARTITIONED BY (hours({self._spec.time}))" if self._spec.time is not None else ""
        return (
            f"CREATE NAMESPACE IF NOT EXISTS {table.rpartition('.')[0]}",
            f"CREATE TABLE {table} ({columns}) USING iceberg{hours}",
        )

    def columns_of(self, session: SparkSession) -> spark.StructType | None:
        """The table's columns; None if it does not exist."""
        return session.table(self._spec.table).schema if session.catalog.tableExists(self._spec.table) else None


def _widens(old: spark.DataType, new: spark.DataType) -> bool:
    """Iceberg widens decimals only before the point, and has no 8-bit or 16-bit numbers."""
    if isinstance(old, spark.DecimalType) and isinstance(new, spark.DecimalType):
        return bool(old.scale == new.scale)
    return can_widen(old, new)
