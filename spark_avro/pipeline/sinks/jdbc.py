"""A table of any database with a JDBC driver: Spark's writer appends, so a repeated batch is in the table twice."""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import JdbcSink
from spark_avro.pipeline.ports import POSITION, BatchIdentity, Delivery, Guarantee, SinkContext, SinkRefused, SinkResult
from spark_avro.pipeline.sinks.columns import ColumnFit, fit_columns, never, quoted
from spark_avro.pipeline.sinks.positions import KEPT_FIELDS, flat_position, place_position


class JdbcTarget:
    """A table that executors append to."""

    guarantee = Guarantee(
        Delivery.AT_LEAST_ONCE,
        "executors append without a common transaction; a unique key on the position refuses repeated rows",
        "rows are written again",
        "tests/spark/pipeline/sinks/test_jdbc.py",
    )

    def __init__(self, spec: JdbcSink, context: SinkContext) -> None:
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
        del batch
        flat = self._flat(rows)
        target = self._target()
        selected = flat if target is None else flat.select(*self._fitted(flat.schema, target).columns())
        selected.write.jdbc(self._spec.url, self._spec.table, mode="append", properties=dict(self._spec.properties))
        return SinkResult(rows.count())

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
