"""A table of PostgreSQL or SQLite: rows and the batch's marker are written in one transaction of the driver."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from pyspark.sql import DataFrame
from pyspark.sql import types as spark
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError

from magicbyte.kit.secret import hide_query_secrets
from spark_avro.pipeline.file.sinks import SqlSink
from spark_avro.pipeline.ports import (
    BatchIdentity,
    Delivery,
    Guarantee,
    Reject,
    SinkContext,
    SinkRefused,
    SinkResult,
)
from spark_avro.pipeline.sinks.collected import collected
from spark_avro.pipeline.sinks.columns import log_changes
from spark_avro.pipeline.sinks.marker import foreign_checkpoint, is_backfill, is_written, marker_of
from spark_avro.pipeline.sinks.newest import BY_PLACE, DELETED_STAY, KEY_PLACES
from spark_avro.pipeline.sinks.positions import rejected_rows
from spark_avro.pipeline.sinks.sql.dialects import DIALECTS, POSTGRESQL
from spark_avro.pipeline.sinks.sql.loading import LOADERS, Loading
from spark_avro.pipeline.sinks.sql.marker import TableMarkers, create_markers
from spark_avro.pipeline.sinks.sql.planning import HIDDEN, Planner, TablePlan
from spark_avro.pipeline.sinks.sql.stage import RowsNotStaged, Stage, StageLoader

log = logging.getLogger(__name__)

#: The number of rows that were written, and the positions of the others with the database's reasons.
_Loaded = tuple[int, list[tuple[tuple[Any, ...], str]]]

#: How long a SQLite writer waits for another process's transaction, in ms.
_BUSY_TIMEOUT_MS = 60_000


class SqlTarget:
    """A table that rows are appended to, or that has the newest row of each key."""

    def __init__(self, spec: SqlSink, context: SinkContext) -> None:
        """Make a sink; nothing is connected yet.

        Raises:
            SinkRefused: The URL is of a database that has no exactly-once sink, or executors are to send the rows.
        """
        self._spec, self._context = spec, context
        url = sa.make_url(spec.url)
        dialect = url.get_backend_name()
        if dialect not in DIALECTS:
            raise SinkRefused(f"sink.sql.url: {dialect} is not PostgreSQL or SQLite; sink.jdbc writes it at least once")
        if url.drivername == "postgresql":
            url = url.set(drivername="postgresql+psycopg")
        if spec.via == "executors" and dialect != "postgresql":
            raise SinkRefused(f"sink.sql.via: executors need PostgreSQL; {dialect} has one writer, so use driver")
        self._loader = LOADERS[dialect]()
        self._file = Path(url.database) if dialect == "sqlite" and url.database else None
        self._engine = sa.create_engine(url, pool_pre_ping=True)
        if dialect == "sqlite":
            event.listen(self._engine, "connect", _prepare_sqlite)
            event.listen(self._engine, "begin", _begin_sqlite)
        self._shown = f"{hide_query_secrets(url.render_as_string(hide_password=True))}, table {spec.table}"
        self._planner = Planner(spec, context, dialect, self._shown)
        self._planned: tuple[spark.StructType, TablePlan] | None = None
        self._has_markers = False
        upsert = self._planner.upsert
        places = f"; the places of keys are kept in a table TABLE{KEY_PLACES}, unless the table has columns _kafka_*"
        order = f"; {BY_PLACE}{places}" if upsert is not None and upsert.is_by_offset else ""
        order += f"; {DELETED_STAY}" if upsert is not None and upsert.deletes is not None else ""
        self.guarantee = Guarantee(
            Delivery.EXACTLY_ONCE,
            f"a batch and its marker are written in one transaction, and a repeated batch finds the marker{order}",
            "refused, unless adopted" if self._planner.upsert is None else "harmless: the newest row of each key stays",
            f"tests/chaos/pipeline_killed.py --sink {dialect} --sink zombie-{dialect}",
        )

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check table, key and columns; see `Sink`."""
        rows = self._context.spark.createDataFrame([], schema)
        if self._file is not None and not self._file.exists():
            return self._planner.plan(rows, None).statements
        with self._refusing(), self._engine.connect() as connection:
            return self._planner.plan(rows, connection).statements

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        """Write a batch in one transaction; see `Sink`."""
        with self._refusing():
            if not self._has_markers:
                create_markers(self._engine)
                self._has_markers = True
            with self._engine.begin() as connection:
                markers = TableMarkers(connection, self._sink(connection))
                if not is_backfill(batch):
                    self._own(markers, batch)
                marker = markers.lock_marker(batch)
                if marker is not None and is_written(marker, batch, self._shown, adopt=self._context.adopt):
                    return marker.result()
                plan = self._changed_table(rows, connection)
                written, refused = self._load(rows, plan, connection, batch)
                if refused:
                    reject(rejected_rows(self._context.spark, refused))
                markers.set_marker(batch, marker_of(batch, marker, written=written, refused=len(refused)))
        # The transaction is committed, so the table's change is permanent.
        if self._planned is None or self._planned[1] is not plan:
            log_changes(self._shown, plan.statements)
        self._planned = (rows.schema, plan)
        return SinkResult(written)

    def close(self) -> None:
        """Close the connections; see `Sink`."""
        self._engine.dispose()

    def _own(self, markers: TableMarkers, batch: BatchIdentity) -> None:
        """Become the owner of the table's rows, or refuse if another query is; an upsert is harmless.

        Raises:
            ForeignCheckpoint: Another query of the pipeline has appended to the table.
        """
        owner = markers.lock_owner(batch)
        if owner == batch.query_id:
            return
        if self._planner.upsert is None and not self._context.adopt:
            raise foreign_checkpoint(self._shown, owner, batch)
        markers.set_owner(batch)

    def _sink(self, connection: sa.Connection) -> str:
        """The table's name with its schema, whether the file names it or not."""
        table = self._spec.table
        return table if "." in table else f"{connection.dialect.default_schema_name}.{table}"

    def _changed_table(self, rows: DataFrame, connection: sa.Connection) -> TablePlan:
        """The plan for the rows, after the table was created or changed for it."""
        if self._planned is not None and self._planned[0] == rows.schema:
            return self._planned[1]
        plan = self._planner.plan(rows, connection)
        for statement in plan.statements:
            connection.exec_driver_sql(statement)
        return plan

    def _load(self, rows: DataFrame, plan: TablePlan, connection: sa.Connection, batch: BatchIdentity) -> _Loaded:
        """Write the rows; returns the number written, and the positions of the others with the database's reasons."""
        sent = self._planner.sent(rows, plan)
        hidden = [name for name in sent.columns if name.startswith(HIDDEN)]
        cursor = connection.connection.cursor()
        if self._spec.via == "executors":
            try:
                return self._load_staged(sent, hidden, plan, cursor, batch)
            except RowsNotStaged as error:
                log.warning(
                    "%s: batch %s goes through the driver, which finds the row: %s",
                    self._shown,
                    batch,
                    error,
                    extra={"event": "batch_through_driver", "batch": str(batch)},
                )
        data = collected(sent)
        loading = Loading(cursor, self._loader, plan.table, plan.nested, batch.former_topic_ids)
        loading.run(data.drop_columns(hidden))
        refused = [
            (tuple(data[name][number].as_py() for name in hidden), reason) for number, reason in loading.refused.items()
        ]
        return data.num_rows - len(refused), refused

    def _load_staged(
        self, sent: DataFrame, hidden: list[str], plan: TablePlan, cursor: Any, batch: BatchIdentity
    ) -> _Loaded:
        """The same as `_load`, through a stage that executors fill."""
        schema = self._spec.table.rpartition(".")[0] or None
        stage = Stage(self._engine, schema, self._spec.table, batch)
        others = {name: str(POSTGRESQL.sql_type(sent.schema[name].dataType)) for name in hidden}
        rows = stage.fill(sent, others, plan.nested)
        loader = StageLoader(self._loader.refusals, self._loader.errors)
        loading = Loading(cursor, loader, plan.table, replaced=batch.former_topic_ids)
        loading.run(rows)
        reasons = {rows.first + number: reason for number, reason in loading.refused.items()}
        places = stage.places(cursor, hidden, [*reasons])
        cursor.execute(f"DROP TABLE {stage.name}")
        return rows.count - len(reasons), [(places.get(number, ()), reason) for number, reason in reasons.items()]

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn the database's errors into ours, with the table's name and without statements or values."""
        try:
            yield
        except SQLAlchemyError as error:
            cause = getattr(error, "orig", None) or error
            raise SinkRefused(f"{self._shown}: {' '.join(str(cause).split())}") from error
        except self._loader.errors as error:
            raise SinkRefused(f"{self._shown}: {' '.join(str(error).split())}") from error


def _prepare_sqlite(connection: Any, _entry: Any) -> None:
    """Leave transactions to SQLAlchemy, and wait for those of other processes."""
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    """Take the write lock at once: with a shared lock two writers would refuse each other."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")
