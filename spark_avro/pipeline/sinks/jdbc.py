"""A table of any database with a JDBC driver: Spark's writer appends, so a repeated batch is in the table twice.

Texts, dates and timestamps go through Java's classes, which change texts that are not UTF-8. Its SQL has years of four
digits, and its calendar has no days between those of Julius and Gregory. Rows with other values are rejected.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import JdbcSink
from spark_avro.pipeline.ports import (
    POSITION,
    BatchIdentity,
    Delivery,
    Guarantee,
    Reject,
    SinkContext,
    SinkRefused,
    SinkResult,
)
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
        self._is_postgresql = spec.url.startswith("jdbc:postgresql:")

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check the columns; see `Sink`."""
        rows = self._flat(self._context.spark.createDataFrame([], schema))
        self._check_types(rows.schema)
        target = self._target()
        if target is None:
            return (f"CREATE TABLE {self._spec.table} by Spark's types: {rows.schema.simpleString()}",)
        self._fitted(rows.schema, target)
        return ()

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        """Append a batch; see `Sink`."""
        del batch
        split = split_rows(rows, _changed(rows, is_postgresql=self._is_postgresql), reject)
        flat = self._flat(split.good)
        target = self._target()
        selected = flat if target is None else flat.select(*self._fitted(flat.schema, target).columns())
        selected.write.jdbc(self._spec.url, self._spec.table, mode="append", properties=dict(self._spec.properties))
        return SinkResult(rows.count() - split.refused)

    def close(self) -> None:
        """Nothing is open; see `Sink`."""

    def _flat(self, rows: DataFrame) -> DataFrame:
        names = KEPT_FIELDS if self._spec.keep_position else ()
        position = [column.alias(f"{POSITION}_{name}") for name, column in flat_position(rows, names)]
        plain = place_position(rows, keep=False).columns
        return rows.select(*map(quoted, plain), *position)

    def _check_types(self, schema: spark.StructType) -> None:
        """Refuse columns that no driver takes; that of PostgreSQL takes arrays."""
        for field in schema.fields:
            kind = _element(field.dataType) if self._is_postgresql else field.dataType
            if isinstance(kind, spark.StructType | spark.MapType | spark.ArrayType):
                raise SinkRefused(
                    f"{self._spec.table}: column {field.name}: JDBC has no type for {field.dataType.simpleString()};"
                    " make a text of it in a step with to_json"
                )

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


_Test = Callable[[Column], Column]

#: The first and the last moment of a column's type; a DATE is compared as its first moment.
_FIRST, _LAST = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"
#: The days that Java's calendar does not have, and those that touch them in some time zone.
_GAP, _GAP_ANYWHERE = ("1582-10-05", "1582-10-14"), ("1582-10-04", "1582-10-15")


def _changed(rows: DataFrame, *, is_postgresql: bool) -> Column | None:
    """The reason why the driver would change or refuse a row, or NULL; None if the columns have no such values."""
    reasons = []
    for field in rows.schema.fields:
        if field.name in NOT_DATA:
            continue
        column, kind = F.col(quoted(field.name)), _element(field.dataType)
        tests = _time_tests(kind)
        if (broken := broken_text([(field.name, column, field.dataType)], "JDBC")) is not None:
            reasons.append(broken)
        if is_postgresql and isinstance(kind, spark.StringType):
            tests = {"PostgreSQL has no text with U+0000; replace it in a step": lambda text: text.contains("\0")}
        reasons += [
            F.when(_is_in(column, field.dataType, test), F.lit(f"column {field.name}: {problem}"))
            for problem, test in tests.items()
        ]
    return F.coalesce(*reasons) if reasons else None


def _time_tests(kind: spark.DataType) -> dict[str, _Test]:
    """Tests of a date or timestamp, by the problem of a value that passes; none for other types."""
    if not isinstance(kind, spark.DateType | spark.TimestampType | spark.TimestampNTZType):
        return {}
    first, last = (F.lit(text).cast("timestamp_ntz").cast(kind) for text in (_FIRST, _LAST))
    gap = _GAP_ANYWHERE if isinstance(kind, spark.TimestampType) else _GAP
    return {
        "the year is outside of 1 to 9999": lambda value: (value < first) | (value > last),
        f"Java has no days from {gap[0]} to {gap[1]}": lambda value: value.cast("date").between(*map(F.lit, gap)),
    }


def _is_in(value: Column, kind: spark.DataType, test: _Test) -> Column:
    """Whether a value, or an element of an array, passes a test."""
    if isinstance(kind, spark.ArrayType):
        element = kind.elementType
        return F.exists(value, lambda part: _is_in(part, element, test))
    return test(value)


def _element(kind: spark.DataType) -> spark.DataType:
    """The type of an array's elements, also in arrays of arrays; other types are their own."""
    return _element(kind.elementType) if isinstance(kind, spark.ArrayType) else kind
