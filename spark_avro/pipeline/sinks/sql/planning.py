"""The plan of a table for rows: its columns, the statements that create or change it, and the columns that are sent."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import SqlSink, Upsert
from spark_avro.pipeline.ports import POSITION, SinkContext, SinkRefused
from spark_avro.pipeline.sinks.columns import ColumnFit, fit_columns
from spark_avro.pipeline.sinks.columns import quoted as spark_quoted
from spark_avro.pipeline.sinks.newest import DELETED_KEYS, KEY_PLACES, ORDER_FIELDS
from spark_avro.pipeline.sinks.positions import KEPT_FIELDS, NOT_DATA, PLACE_FIELDS, flat_position
from spark_avro.pipeline.sinks.sql.dialects import DIALECTS, NESTED, spark_type
from spark_avro.pipeline.sinks.sql.key_tables import key_table_statements, side_table_name
from spark_avro.pipeline.sinks.sql.statements import DELETED, Table, names, quoted

#: Columns that only the driver gets, to name refused rows.
HIDDEN = "_at_"


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The plan for writing rows to a table.

    Attributes:
        fit: The columns of the rows.
        table: The table.
        statements: The statements to run first, which create or change the table.
    """

    fit: ColumnFit
    table: Table
    statements: tuple[str, ...]

    @property
    def nested(self) -> frozenset[str]:
        """The columns that are sent as JSON."""
        return frozenset(field.name for field in self.fit.schema.fields if isinstance(field.dataType, NESTED))


class Planner:
    """Makes plans for a table."""

    def __init__(self, spec: SqlSink, context: SinkContext, dialect: str, shown: str) -> None:
        self._spec, self._context, self._shown = spec, context, shown
        self._dialect = DIALECTS[dialect]
        self._dialect_name = dialect
        schema, _, self._table = spec.table.rpartition(".")
        self._schema = schema or None
        self._name = ".".join(quoted(part) for part in (schema, self._table) if part)
        self.upsert = spec.mode if isinstance(spec.mode, Upsert) else None

    def plan(self, rows: DataFrame, bind: sa.Connection | None) -> TablePlan:
        """The plan for rows.

        Args:
            rows: The rows, with `_kafka`.
            bind: A connection; None if there is no database yet.

        Raises:
            SinkRefused: The rows do not fit the table, or the table has no such key.
        """
        flat = rows.select(*self._data(rows)).schema
        kept = spark.StructType([spark.StructField(field.name, self._kept(field)) for field in flat.fields])
        target = None if bind is None else self._target(bind, kept)
        if target is None and not self._spec.create:
            raise SinkRefused(f"{self._shown}: there is no such table; create it, or set sink.sql.create")
        places = self._missing_places(target)
        data = spark.StructType([field for field in kept.fields if field.name not in places])
        fit = fit_columns(target, data, columns=self._context.columns, widens=self._dialect.widens, name=self._shown)
        # Rows keep their own types, such as dates that SQLite has as texts, unless the table's type is a wider one.
        fields = [
            flat[field.name] if field.dataType == kept[field.name].dataType else field for field in fit.schema.fields
        ]
        apart = [flat[field.name] for field in kept.fields if field.name in places]
        types, of_places = (
            {field.name: str(self._dialect.sql_type(field.dataType)) for field in part} for part in (fields, apart)
        )
        fields += apart
        table = self._keyed(types, of_places)
        statements = key_table_statements(table, fit, bind, self._table, self._schema, is_new=target is None)
        if target is None:
            return TablePlan(ColumnFit(flat, spark.StructType(fields)), table, (table.create(), *statements))
        assert bind is not None
        self._check_key(table, bind)
        changes = tuple(
            f"ALTER TABLE {self._name} ADD COLUMN {quoted(change.path)} {types[change.path]}"
            if change.old is None
            else f"ALTER TABLE {self._name} ALTER COLUMN {quoted(change.path)} TYPE {types[change.path]}"
            for change in fit.changes
        )
        return TablePlan(ColumnFit(flat, spark.StructType(fields)), table, (*changes, *statements))

    def _missing_places(self, target: spark.StructType | None) -> tuple[str, ...]:
        """The columns that decide which row is newer, unless the target has them or the settings ask for them."""
        if self.upsert is None or self.upsert.order.parts[0] != POSITION or self._spec.keep_position:
            return ()
        fields = ORDER_FIELDS if self.upsert.is_by_offset else self.upsert.order.parts[1:]
        places = tuple(f"{POSITION}_{name}" for name in fields)
        # The table has them if the file asked for them before.
        has_them = target is not None and any(field.name.lower() in places for field in target.fields)
        return () if has_them else places

    def sent(self, rows: DataFrame, plan: TablePlan) -> DataFrame:
        """The columns to send: those of the table, DELETED for an upsert with deletes, and those of HIDDEN."""
        others = [column.alias(f"{HIDDEN}{name}") for name, column in flat_position(rows, PLACE_FIELDS)]
        if plan.table.deletes:
            assert self.upsert is not None
            others.append(F.coalesce(F.expr(str(self.upsert.deletes)), F.lit(False)).alias(DELETED))
        flat = rows.select(*self._data(rows), *others)
        extra = [F.col(name) for name in flat.columns[len(flat.columns) - len(others) :]]
        fitted = flat.select(*plan.fit.columns(), *extra)
        sent = [
            self._dialect.sent(F.col(spark_quoted(field.name)), field.dataType).alias(field.name)
            for field in plan.fit.schema.fields
        ]
        return fitted.select(*sent, *extra)

    def _data(self, rows: DataFrame) -> list[Column]:
        """The rows' columns, and the parts of `_kafka` that the table has."""
        parts: tuple[str, ...] = KEPT_FIELDS if self._spec.keep_position else ()
        if self.upsert is not None and self.upsert.order.parts[0] == POSITION:
            order = ORDER_FIELDS if self.upsert.is_by_offset else self.upsert.order.parts[1:]
            parts = tuple(dict.fromkeys((*parts, *order)))
        plain = [F.col(spark_quoted(name)) for name in rows.columns if name not in NOT_DATA]
        return [*plain, *(column.alias(f"{POSITION}_{name}") for name, column in flat_position(rows, parts))]

    def _kept(self, field: spark.StructField) -> spark.DataType:
        if self._dialect.sql_type(field.dataType) is None:
            raise SinkRefused(
                f"{self._shown}: column {field.name}: there is no SQL type for {field.dataType.simpleString()}; cast it"
            )
        return self._dialect.kept(field.dataType)

    def _target(self, bind: sa.Connection, kept: spark.StructType) -> spark.StructType | None:
        """The table's columns; a column that takes any text has the rows' type."""
        inspector = sa.inspect(bind)
        if not inspector.has_table(self._table, self._schema):
            return None
        types = {field.name.lower(): field.dataType for field in kept.fields}
        return spark.StructType(
            [
                spark.StructField(
                    column["name"],
                    spark_type(column["type"], self._dialect_name)
                    or types.get(column["name"].lower(), spark.StringType()),
                )
                for column in inspector.get_columns(self._table, self._schema)
            ]
        )

    def _keyed(self, types: dict[str, str], apart: dict[str, str]) -> Table:
        if self.upsert is None:
            return Table(self._name, types)
        key, order = tuple(".".join(path.parts) for path in self.upsert.key), "_".join(self.upsert.order.parts)
        for name in (*key, order):
            if name not in types | apart:
                raise SinkRefused(f"sink.sql.mode.upsert: the rows have no column {name}, but {', '.join(types)}")
        places = [f"{POSITION}_{name}" for name in ORDER_FIELDS] if self.upsert.is_by_offset else []
        if not (types | apart).keys() >= {*places}:
            raise SinkRefused(
                f"{self._shown}: offsets order only the records of one partition, so an upsert by _kafka.offset needs"
                f" the columns {', '.join(places)}; evolve.columns: add makes them, or use another order"
            )
        is_by_offset, deletes = self.upsert.is_by_offset, self.upsert.deletes is not None
        if apart:
            return Table(
                self._name,
                types,
                key,
                order,
                is_by_offset,
                deletes,
                key_places=side_table_name(self._table, self._schema, KEY_PLACES),
                places=apart,
            )
        return Table(
            self._name,
            types,
            key,
            order,
            is_by_offset,
            deletes,
            side_table_name(self._table, self._schema, DELETED_KEYS) if deletes else "",
        )

    def _check_key(self, table: Table, bind: sa.Connection) -> None:
        if not table.key:
            return
        inspector = sa.inspect(bind)
        of_table = (self._table, self._schema)
        unique = [set(inspector.get_pk_constraint(*of_table)["constrained_columns"])]
        unique += [set(constraint["column_names"]) for constraint in inspector.get_unique_constraints(*of_table)]
        unique += [
            {str(name) for name in index["column_names"]}
            for index in inspector.get_indexes(*of_table)
            if index["unique"]
        ]
        if set(table.key) not in unique:
            raise SinkRefused(
                f"{self._shown}: an upsert needs a unique key on ({names(table.key)});"
                f" CREATE UNIQUE INDEX ON {self._name} ({names(table.key)})"
            )
