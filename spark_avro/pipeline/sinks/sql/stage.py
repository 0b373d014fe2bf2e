"""A stage for big batches: executors send the rows to an unlogged table, and the batch's transaction takes them.

A task first deletes the rows of its earlier attempts, in the same transaction as it sends its own. The number of staged
rows must equal the number that the tasks sent, so a task that ran twice at once stops the batch.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from sqlalchemy.pool import NullPool

from spark_avro.pipeline.ports import BatchIdentity, SinkRefused
from spark_avro.pipeline.sinks.sql.loading import LOADERS
from spark_avro.pipeline.sinks.sql.statements import names, quoted

_PREFIX = "magicbyte_rows_"
#: The columns with the number of a row, and with the task that sent it.
_ROW, _TASK = "row_", "task_"
_SENT = "rows bigint, refusal string"


class RowsNotStaged(Exception):
    """A row that cannot be staged as texts, or that would change, such as one with U+0000; the error says why."""


@dataclass(frozen=True, slots=True)
class StagedRows:
    """Rows of a stage by their numbers, with the methods of `pyarrow.Table` that loading needs.

    Attributes:
        table: The stage's quoted name.
        column_names: The columns to load.
        first: The number of the first row.
        num_rows: How many numbers there are; some may have no row.
        count: How many rows the stage has.
    """

    table: str
    column_names: list[str]
    first: int
    num_rows: int
    count: int

    def slice(self, offset: int = 0, length: int | None = None) -> StagedRows:
        """A part of the rows."""
        rest = self.num_rows - offset
        return replace(self, first=self.first + offset, num_rows=rest if length is None else min(length, rest))

    def take(self, numbers: pa.Array) -> StagedRows:
        """Not needed: no row of a stage is unfit."""
        raise NotImplementedError


class StageLoader:
    """Copies rows from a stage, whose columns are all texts, into a table in the same transaction."""

    def __init__(self, refusals: tuple[type[Exception], ...], errors: type[Exception]) -> None:
        self.refusals, self.errors = refusals, errors

    def unfit(self, rows: StagedRows, nested: Collection[str]) -> dict[int, str]:  # noqa: ARG002
        """No rows: executors have looked at each; see `Loader`."""
        return {}

    def load(self, cursor: Any, name: str, rows: StagedRows) -> None:
        """Append rows to a table; see `Loader`."""
        # Leave out the length of a type: a cast to varchar(3) would cut the text, but an assignment refuses it.
        cursor.execute(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = %s::regclass", [name]
        )
        types = dict(cursor.fetchall())
        values = ", ".join(f"CAST({quoted(column)} AS {types[column]})" for column in rows.column_names)
        # Pass no parameters, because a name may have a percent sign.
        cursor.execute(
            f"INSERT INTO {name} ({names(rows.column_names)}) SELECT {values} FROM {rows.table}"  # noqa: S608 - quoted
            f" WHERE {_ROW} >= {rows.first} AND {_ROW} < {rows.first + rows.num_rows} ORDER BY {_ROW}"
        )


class Stage:
    """The stage of one batch. The caller holds the lock of the batch's marker, so there is one stage at a time."""

    def __init__(self, engine: sa.Engine, schema: str | None, target: str, batch: BatchIdentity) -> None:
        self._engine, self._schema = engine, schema
        owner = hashlib.sha256(f"{target}\n{batch.query_id}".encode()).hexdigest()[:12]
        self._prefix = f"{_PREFIX}{owner}_"
        # Each attempt has its own stage: executors of a killed driver add nothing to it.
        self.name = self._quoted(f"{self._prefix}{uuid.uuid4().hex[:8]}")

    def fill(self, rows: DataFrame, others: dict[str, str], nested: Collection[str]) -> StagedRows:
        """Create the stage, and let executors send rows to it.

        Args:
            rows: The rows in the form in which they are sent.
            others: The columns that are not loaded later, with their SQL types.
            nested: The columns that are sent as JSON.

        Raises:
            RowsNotStaged: The database refuses or would change a row.
            SinkRefused: A task ran twice at once.
            PySparkException: A task failed.
        """
        columns = [name for name in rows.columns if name not in others]
        self._create({**dict.fromkeys(columns, "text"), **others})
        results = rows.mapInArrow(sender(self._engine.url, self.name, nested), _SENT).collect()
        refusal = next((result["refusal"] for result in results if result["refusal"] is not None), None)
        if refusal is not None:
            raise RowsNotStaged(refusal)
        sent = sum(result["rows"] for result in results)
        with self._engine.connect() as connection:
            query = f"SELECT count(*), coalesce(min({_ROW}), 0), coalesce(max({_ROW}), -1) FROM {self.name}"  # noqa: S608
            count, first, last = connection.exec_driver_sql(query).one()
        if count != sent:
            raise SinkRefused(f"{self.name}: executors sent {sent:,} rows, and {count:,} are there: a task ran twice")
        return StagedRows(self.name, columns, first, last - first + 1, count)

    def places(self, cursor: Any, columns: list[str], numbers: list[int]) -> dict[int, tuple[Any, ...]]:
        """Some columns of rows, by their numbers."""
        if not numbers or not columns:
            return {}
        chosen = ", ".join(map(str, numbers))
        cursor.execute(f"SELECT {_ROW}, {names(columns)} FROM {self.name} WHERE {_ROW} IN ({chosen})")  # noqa: S608
        return {number: tuple(place) for number, *place in cursor.fetchall()}

    def _create(self, columns: dict[str, str]) -> None:
        sent = ", ".join(f"{quoted(column)} {kind}" for column, kind in columns.items())
        with self._engine.begin() as connection:
            # Drop the stages that crashed attempts left behind.
            for table in sa.inspect(connection).get_table_names(self._schema):
                if table.startswith(self._prefix):
                    connection.exec_driver_sql(f"DROP TABLE {self._quoted(table)}")
            connection.exec_driver_sql(f"CREATE UNLOGGED TABLE {self.name} ({_ROW} bigserial, {_TASK} integer, {sent})")

    def _quoted(self, table: str) -> str:
        return ".".join(quoted(part) for part in (self._schema, table) if part)


def sender(
    url: sa.URL, name: str, nested: Collection[str]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that sends a task's rows to a stage, and returns their number or why one was refused."""
    text = url.render_as_string(hide_password=False)

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows, refusal = _sent(text, name, nested, batches)
        yield pa.RecordBatch.from_pydict(
            {"rows": pa.array([rows], pa.int64()), "refusal": pa.array([refusal], pa.string())}
        )

    return send


def _sent(url: str, name: str, nested: Collection[str], batches: Iterator[pa.RecordBatch]) -> tuple[int, str | None]:
    context = TaskContext.get()
    assert context is not None
    task, rows = context.partitionId(), 0
    loader = LOADERS["postgresql"]()
    engine = sa.create_engine(url, poolclass=NullPool)
    try:
        with engine.begin() as connection:
            cursor = connection.connection.cursor()
            cursor.execute(f"DELETE FROM {name} WHERE {_TASK} = {task}")  # noqa: S608 - a quoted name
            for batch in batches:
                part = pa.Table.from_batches([batch])
                unfit = loader.unfit(part, nested)
                if unfit:
                    return 0, next(iter(unfit.values()))
                loader.load(cursor, name, part.append_column(_TASK, pa.array([task] * batch.num_rows, pa.int32())))
                rows += batch.num_rows
    except loader.refusals as error:
        return 0, " ".join(str(error).split())[:500]
    return rows, None
