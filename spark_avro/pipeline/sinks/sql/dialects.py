"""The differences between PostgreSQL and SQLite: column types, and the form in which values are sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.sinks.broken_texts import broken_text_of
from spark_avro.pipeline.sinks.columns import Widens, can_widen, never
from spark_avro.stored_values import has_json, json_text
from spark_avro.valid_text import has_broken_text

#: The types that are sent as JSON.
NESTED = (spark.StructType, spark.ArrayType, spark.MapType)


def _json(column: Column, kind: spark.DataType) -> Column:
    """The JSON of a column; for a value that has none, the problem, which is no JSON of a NESTED type."""
    whole = json_text(column, nulls=True)
    broken = has_broken_text(column, kind)
    return whole if broken is None else F.when(broken, F.lit(broken_text_of("JSON"))).otherwise(whole)


def _text(column: Column) -> Column:
    return column.cast("string")


def _number(column: Column) -> Column:
    return column.cast("bigint")


def _hex(column: Column) -> Column:
    return F.concat(F.lit("\\x"), F.hex(column))


@dataclass(frozen=True, slots=True)
class Dialect:
    """A kind of database.

    Attributes:
        types: Spark type -> SQL type; other types cannot be columns.
        nested: The SQL type of structs, arrays and maps, which are sent as JSON.
        forms: Spark type -> how its values are sent, if not as they are.
        stored: Spark type -> the type under which the database keeps it, if it is another one.
        widens: Which column types can be changed.
    """

    types: Mapping[type[spark.DataType], str]
    nested: str
    forms: Mapping[type[spark.DataType], Callable[[Column], Column]]
    stored: Mapping[type[spark.DataType], spark.DataType]
    widens: Widens

    def sql_type(self, kind: spark.DataType) -> str | None:
        """The SQL type for a Spark type; None if there is none."""
        if isinstance(kind, NESTED):
            return self.nested if has_json(kind) else None
        if isinstance(kind, spark.DecimalType) and type(kind) not in self.types:
            return f"numeric({kind.precision},{kind.scale})"
        return self.types.get(type(kind))

    def sent(self, column: Column, kind: spark.DataType) -> Column:
        """A column in the form in which it is sent."""
        if isinstance(kind, NESTED):
            return _json(column, kind)
        form = self.forms.get(type(kind))
        return column if form is None else form(column)

    def kept(self, kind: spark.DataType) -> spark.DataType:
        """The Spark type of a column after it was written, to compare it with the table's."""
        return spark.StringType() if isinstance(kind, NESTED) else self.stored.get(type(kind), kind)


POSTGRESQL = Dialect(
    types={
        spark.BooleanType: "boolean",
        spark.ByteType: "smallint",
        spark.ShortType: "smallint",
        spark.IntegerType: "integer",
        spark.LongType: "bigint",
        spark.FloatType: "real",
        spark.DoubleType: "double precision",
        spark.StringType: "text",
        spark.BinaryType: "bytea",
        spark.DateType: "date",
        spark.TimestampType: "timestamptz",
        spark.TimestampNTZType: "timestamp",
    },
    nested="jsonb",
    forms={spark.BinaryType: _hex, spark.DecimalType: _text},
    stored={spark.ByteType: spark.ShortType()},
    widens=can_widen,
)

#: SQLite has numbers of 64 bits, texts and bytes; a decimal is a text, because a number would lose digits.
SQLITE = Dialect(
    types={
        spark.BooleanType: "INTEGER",
        spark.ByteType: "INTEGER",
        spark.ShortType: "INTEGER",
        spark.IntegerType: "INTEGER",
        spark.LongType: "INTEGER",
        spark.FloatType: "REAL",
        spark.DoubleType: "REAL",
        spark.StringType: "TEXT",
        spark.BinaryType: "BLOB",
        spark.DateType: "TEXT",
        spark.TimestampType: "TEXT",
        spark.TimestampNTZType: "TEXT",
        spark.DecimalType: "TEXT",
    },
    nested="TEXT",
    forms={
        spark.BooleanType: _number,
        spark.DateType: _text,
        spark.TimestampType: _text,
        spark.TimestampNTZType: _text,
        spark.DecimalType: _text,
    },
    stored={
        **dict.fromkeys((spark.BooleanType, spark.ByteType, spark.ShortType, spark.IntegerType), spark.LongType()),
        spark.FloatType: spark.DoubleType(),
        **dict.fromkeys(
            (spark.DateType, spark.TimestampType, spark.TimestampNTZType, spark.DecimalType), spark.StringType()
        ),
    },
    widens=never,
)

DIALECTS = {"postgresql": POSTGRESQL, "sqlite": SQLITE}


def spark_type(column: sa.types.TypeEngine[object], dialect: str) -> spark.DataType | None:
    """The Spark type of a table's column; None if it takes any text, such as PostgreSQL's domains and ranges."""
    if isinstance(column, sa.Numeric) and not isinstance(column, sa.Float):
        if column.precision is None or column.scale is None:
            return None
        return spark.DecimalType(column.precision, column.scale)
    if isinstance(column, sa.DateTime):
        return spark.TimestampType() if column.timezone else spark.TimestampNTZType()
    for kind, result in _SPARK_TYPES[dialect]:
        if isinstance(column, kind):
            return result
    return None


_SPARK_TYPES: Mapping[str, tuple[tuple[type, spark.DataType], ...]] = {
    "postgresql": (
        (sa.Boolean, spark.BooleanType()),
        (sa.BigInteger, spark.LongType()),
        (sa.SmallInteger, spark.ShortType()),
        (sa.Integer, spark.IntegerType()),
        (sa.Double, spark.DoubleType()),
        (sa.REAL, spark.FloatType()),
        (sa.String, spark.StringType()),
        (sa.LargeBinary, spark.BinaryType()),
        (sa.Date, spark.DateType()),
        (sa.JSON, spark.StringType()),
        (sa.Uuid, spark.StringType()),
    ),
    "sqlite": (
        (sa.Integer, spark.LongType()),
        (sa.Float, spark.DoubleType()),
        (sa.String, spark.StringType()),
        (sa.LargeBinary, spark.BinaryType()),
    ),
}
