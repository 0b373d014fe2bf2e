"""Sends a batch's rows to the database; finds the rows that it refuses by halving, each half after a savepoint."""

from __future__ import annotations

import io
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.csv as pa_csv

from magicbyte.kit.extras import require
from spark_avro.pipeline.modules import SQL_EXTRAS
from spark_avro.pipeline.ports import SinkRefused
from spark_avro.pipeline.sinks.sql.statements import STAGE, Table, names
from spark_avro.pipeline.sinks.sql.unfit_rows import postgresql_changes, sqlite_changes, unfit_rows

#: The most rows of a batch that are dead-lettered; beyond that, the fault is not in single rows.
_MOST_REFUSED = 10_000

#: The rows of one call of `executemany`.
_ROWS = 50_000


class Rows(Protocol):
    """Rows that can be halved: those of the driver in a `pyarrow.Table`, or those of a stage."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""

    def slice(self, offset: int = 0, length: int | None = None) -> Any:
        """A part of the rows."""

    def take(self, numbers: pa.Array) -> Any:
        """The rows with some numbers."""


class Loader(Protocol):
    """A loader of rows into a table of a database.

    Attributes:
        refusals: The driver's errors that mean that a row is at fault.
        errors: The base of all errors of the driver.
    """

    refusals: tuple[type[Exception], ...]
    errors: type[Exception]

    def load(self, cursor: Any, name: str, rows: Any) -> None:
        """Append rows to a table."""

    def unfit(self, rows: Any, nested: Collection[str]) -> dict[int, str]:
        """The numbers of rows that the database would take and change, with the reasons."""


class PostgresqlLoader:
    """Sends rows by COPY."""

    def __init__(self) -> None:
        require(SQL_EXTRAS["postgresql"], user="a pipeline's sink in PostgreSQL")
        from psycopg import errors  # noqa: PLC0415 - in an extra

        self.refusals: tuple[type[Exception], ...] = (errors.IntegrityError, errors.DataError)
        self.errors: type[Exception] = errors.Error

    def unfit(self, rows: pa.Table, nested: Collection[str]) -> dict[int, str]:
        """The rows that the database would change; see `Loader`."""
        return unfit_rows(rows, postgresql_changes, nested)

    def load(self, cursor: Any, name: str, rows: pa.Table) -> None:
        """Append rows; see `Loader`."""
        options = pa_csv.WriteOptions(include_header=False)
        with cursor.copy(f"COPY {name} ({names(rows.column_names)}) FROM STDIN (FORMAT csv)") as copy:
            for batch in rows.to_batches(max_chunksize=_ROWS):
                buffer = io.BytesIO()
                pa_csv.write_csv(batch, buffer, options)
                copy.write(buffer.getbuffer())


class SqliteLoader:
    """Sends rows by `executemany`."""

    def __init__(self) -> None:
        import sqlite3  # noqa: PLC0415 - a Python may be built without it

        self.refusals: tuple[type[Exception], ...] = (
            sqlite3.IntegrityError,
            sqlite3.DataError,
            sqlite3.ProgrammingError,
            UnicodeDecodeError,
        )
        self.errors: type[Exception] = sqlite3.Error

    def unfit(self, rows: pa.Table, nested: Collection[str]) -> dict[int, str]:
        """The rows that the database would change; see `Loader`."""
        return unfit_rows(rows, sqlite_changes, nested)

    def load(self, cursor: Any, name: str, rows: pa.Table) -> None:
        """Append rows; see `Loader`."""
        marks = ", ".join("?" * rows.num_columns)
        statement = f"INSERT INTO {name} ({names(rows.column_names)}) VALUES ({marks})"  # noqa: S608 - quoted names
        for batch in rows.to_batches(max_chunksize=_ROWS):
            cursor.executemany(statement, zip(*(column.to_pylist() for column in batch.columns), strict=True))


LOADERS: dict[str, type[PostgresqlLoader | SqliteLoader]] = {"postgresql": PostgresqlLoader, "sqlite": SqliteLoader}


@dataclass(slots=True)
class Loading:
    """A batch that is being written.

    Attributes:
        cursor: A cursor of the database's driver, in the batch's transaction.
        loader: How rows are sent.
        table: The table.
        nested: The columns that are sent as JSON.
        replaced: Topics of the source that were deleted and made again.
        refused: Number of the row in the batch -> the database's reason.
    """

    cursor: Any
    loader: Loader
    table: Table
    nested: Collection[str] = ()
    replaced: Collection[str] = ()
    refused: dict[int, str] = field(default_factory=dict)

    def run(self, rows: Rows) -> None:
        """Write all rows that the database accepts and keeps as they are.

        Raises:
            SinkRefused: It refuses more than 10,000 of them.
        """
        if self.table.key:
            self.cursor.execute(f"DROP TABLE IF EXISTS {STAGE}")
            self.cursor.execute(self.table.create_stage())
        unfit = self.loader.unfit(rows, self.nested)
        if unfit:
            kept = [number for number in range(rows.num_rows) if number not in unfit]
            # An empty list has no type, and is refused.
            self._write(rows.take(pa.array(kept, pa.int64())), 0)
            self.refused = unfit | {kept[number]: reason for number, reason in self.refused.items()}
            self._limit(next(reversed(unfit.values())))
        else:
            self._write(rows, 0)
        if self.table.key:
            self.cursor.execute(f"DROP TABLE {STAGE}")

    def _write(self, rows: Rows, first: int) -> None:
        self.cursor.execute("SAVEPOINT magicbyte_rows")
        try:
            self._send(rows)
        except self.loader.refusals as error:
            self.cursor.execute("ROLLBACK TO SAVEPOINT magicbyte_rows")
            self.cursor.execute("RELEASE SAVEPOINT magicbyte_rows")
            if rows.num_rows > 1:
                half = rows.num_rows // 2
                self._write(rows.slice(0, half), first)
                self._write(rows.slice(half), first + half)
                return
            self.refused[first] = " ".join(str(error).split())[:500]
            self._limit(self.refused[first], error)
        else:
            self.cursor.execute("RELEASE SAVEPOINT magicbyte_rows")

    def _limit(self, reason: str, error: Exception | None = None) -> None:
        if len(self.refused) > _MOST_REFUSED:
            raise SinkRefused(
                f"{self.table.name}: the database refuses more than {_MOST_REFUSED} rows of a batch,"
                f" the last because: {reason}"
            ) from error

    def _send(self, rows: Rows) -> None:
        if not self.table.key:
            self.loader.load(self.cursor, self.table.name, rows)
            return
        self.cursor.execute(f"DELETE FROM {STAGE}")  # noqa: S608 - a constant
        self.loader.load(self.cursor, STAGE, rows)
        for statement in self.table.merge(self.replaced):
            self.cursor.execute(statement)
