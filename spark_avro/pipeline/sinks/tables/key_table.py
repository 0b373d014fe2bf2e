"""A table beside a Delta or Iceberg table, with the keys of an upsert."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeVar

from pyspark.sql import SparkSession
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import DeltaSink, IcebergSink, Upsert
from spark_avro.stored_values import exact_files

_Spec = TypeVar("_Spec", DeltaSink, IcebergSink)


class LakeTable(Protocol):
    """A table of the sink's format."""

    @property
    def name(self) -> str:
        """The table's name in SQL."""

    def columns_of(self, session: SparkSession) -> spark.StructType | None:
        """The table's columns; None if it does not exist."""

    def statements_for(self, session: SparkSession, schema: spark.StructType) -> tuple[str, ...]:
        """The statements that create the table for rows of a schema, or change it."""

    def make(self, session: SparkSession, schema: spark.StructType) -> None:
        """Create the table for rows of a schema, or change it."""


class KeyTable:
    """A table beside the target.

    Args:
        table: The table.
    """

    def __init__(self, table: LakeTable) -> None:
        self._table = table
        self._made: spark.StructType | None = None

    @property
    def name(self) -> str:
        """The table's name in SQL."""
        return self._table.name

    def statements(self, session: SparkSession, schema: spark.StructType) -> tuple[str, ...]:
        """The statements that create the table for rows of a schema, or change it."""
        return self._table.statements_for(session, schema)

    def prepare(self, session: SparkSession, schema: spark.StructType) -> None:
        """Create the table for rows of a schema, or change it."""
        if self._made != schema:
            self._table.make(session, schema)
            self._made = schema

    def has_rows(self, session: SparkSession) -> bool:
        """Whether the table exists and has rows."""
        return self._table.columns_of(session) is not None and not session.table(self.name).isEmpty()

    def clear(self, session: SparkSession) -> None:
        """Delete all rows, if there are any."""
        if self.has_rows(session):
            with exact_files(session):
                session.sql(f"DELETE FROM {self.name}")  # noqa: S608 - a name of the file


def key_fields(upsert: Upsert, schema: spark.StructType) -> list[spark.StructField]:
    """The columns of a schema that have the key."""
    names = {path.parts[0].lower() for path in upsert.key}
    return [field for field in schema.fields if field.name.lower() in names]


def settings_of_key_table(spec: _Spec, suffix: str) -> _Spec:
    """The settings of a table with the keys of another table.

    Args:
        spec: The settings of the other table.
        suffix: What is added to its name or path.
    """
    if isinstance(spec, IcebergSink):
        return replace(spec, table=f"{spec.table}{suffix}", mode="append", time=None)
    path, table = (name and f"{name.rstrip('/')}{suffix}" for name in (spec.path, spec.table))
    return replace(spec, path=path, table=table, mode="append", partition=())
