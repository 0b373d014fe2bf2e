"""A table of any database with a JDBC driver: Spark's writer appends, so a repeated batch is in the table twice.

Texts, dates and timestamps go through Java's classes, which change texts that are not UTF-8, and whose SQL has years of
four digits. Rows with other values are rejected.
"""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import JdbcSink
from spark_avro.pipeline.ports import POSITION, BatchIdentity, Delivery, Guarantee, SinkContext, SinkRefused, SinkResult
from spark_avro.pipeline.sinks.broken_texts import broken_text, split_rows
from spark_avro.pipeline.sinks.columns import ColumnFit, fit_columns, never, quoted
from spark_avro.pipeline.sinks.positions import KEPT_FIELDS, NOT_DATA, flat_position, place_position


class JdbcTarget:
    """A table that executors append to."""

    guarantee = Guarantee(
        Delivery.AT_LEAST_ONCE,
        "executors append without a common transaction; a unique key on the position refuses repeated rows",
        "rows are written again",
        "tests/spark/pipeline/sinks/test_jdbc.py",
    )

    def __init__(self, spec: JdbcSink, context: SinkContext) -> None:
        """Make a sink; nothing is connected yet.

        Raises:
            SinkRefused: The database is SQLite, whose driver changes values.
        """
        if spec.url.startswith("jdbc:sqlite:"):
            raise SinkRefused(
                "sink.jdbc.url: SQLite's driver would cut timestamps to milliseconds, make floating-point numbers of"
                " decimals, and store NaN as NULL; use sink.sql with sqlite:///FILE, which also writes exactly once"
            )
        self._spec, self._context = spec, context

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check the columns; see `Sink`."""
        rows = self._flat(self._context.spark.createDataFrame([], schema))
        target = self._target()
        if target is None:
            return (f"CREATE TABLE {self._spec.table} by Spark's types: {rows.schema.simpleString()}",)
        self._fitted(rows.schema, target)
        return ()

    def write(self, rows: DataFrame, batch: BatchIdentity) -> SinkResult:
        """Append a batch; see `Sink`."""
        split = split_rows(rows, _changed(rows), self._context, batch)
        flat = self._flat(split.good)
        target = self._target()
        selected = flat if target is None else flat.select(*self._fitted(flat.schema, target).columns())
        selected.write.jdbc(self._spec.url, self._spec.table, mode="append", properties=dict(self._spec.properties))
        return SinkResult(rows.count() - split.refused, split.rejected)

    def close(self) -> None:
        """Nothing is open; see `Sink`."""

    def _flat(self, rows: DataFrame) -> DataFrame:
        names = KEPT_FIELDS if self._spec.keep_position else ()
        position = [column.alias(f"{POSITION}_{name}") for name, column in flat_position(rows, names)]
        plain = place_position(rows, keep=False).columns
        return rows.select(*map(quoted, plain), *position)

    def _fitted(self, schema: spark.StructType, target: spark.StructType) -> ColumnFit:
        fit = fit_columns(target, schema, columns=self._context.columns, widens=never, name=self._spec.table)
        if fit.changes:
            raise SinkRefused(
                f"{self._spec.table}: {fit.changes[0]}: a JDBC table is not changed; add the column there, or set"
                " evolve.columns to ignore"
            )
        return fit

    def _target(self) -> spark.StructType | None:
        """The table's columns; None if it does not exist."""
        try:
            return self._context.spark.read.jdbc(
                self._spec.url, self._spec.table, properties=dict(self._spec.properties)
            ).schema
        except PySparkException:
            return None
        except Exception as error:
            if "SQLException" not in str(error) and "SQLSyntax" not in str(error):
                raise
            return None


#: The first and the last moment of a column's type; a DATE is compared as its first moment.
_FIRST, _LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"


def _changed(rows: DataFrame) -> Column | None:
    """Why a row is rejected that the driver would change, or NULL; None if the columns have no such values."""
    reasons = []
    for field in rows.schema.fields:
        if field.name in NOT_DATA:
            continue
        column = F.col(quoted(field.name))
        if isinstance(field.dataType, spark.DateType | spark.TimestampType | spark.TimestampNTZType):
            first, last = (F.lit(text).cast("timestamp_ntz").cast(field.dataType) for text in (_FIRST, _LAST))
            problem = f"column {field.name}: the year is outside of 1 to 9999"
            reasons.append(F.when((column < first) | (column > last), F.lit(problem)))
        elif (reason := broken_text([(field.name, column, field.dataType)], "JDBC")) is not None:
            reasons.append(reason)
    return F.coalesce(*reasons) if reasons else None
