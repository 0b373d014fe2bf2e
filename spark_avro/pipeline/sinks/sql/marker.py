"""Markers and owners of a database's tables: rows that are locked, compared and changed with the batch."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from spark_avro.pipeline.ports import BatchIdentity
from spark_avro.pipeline.sinks.marker import Marker, MarkerKey, read_marker

_metadata = sa.MetaData()
_markers = sa.Table(
    "magicbyte_markers",
    _metadata,
    sa.Column("query", sa.String(100), primary_key=True),
    sa.Column("sink", sa.String(200), primary_key=True),
    sa.Column("writer", sa.Integer, primary_key=True),
    sa.Column("batch", sa.BigInteger, nullable=False),
    sa.Column("marker", sa.Text, nullable=False),
)
#: The query that writes a pipeline's rows to a table; another one is refused.
_owners = sa.Table(
    "magicbyte_owners",
    _metadata,
    sa.Column("pipeline", sa.String(100), primary_key=True),
    sa.Column("sink", sa.String(200), primary_key=True),
    sa.Column("query", sa.String(100), nullable=False),
)
#: The number before a query's first batch.
_NONE = -1

#: The dialects' `INSERT` that can have `ON CONFLICT`.
_INSERTS: Any = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}


def create_markers(engine: sa.Engine) -> None:
    """Create the tables of markers and owners if they are missing."""
    inspector = sa.inspect(engine)
    if inspector.has_table(_owners.name) and inspector.has_table(_markers.name):
        return
    try:
        _metadata.create_all(engine)
    except sa.exc.SQLAlchemyError:  # another pipeline may have created them at the same time
        _metadata.create_all(engine)


class TableMarkers:
    """The marker and the owner of a table, in the transaction of a batch.

    Args:
        connection: A connection in a transaction.
        sink: The table's name with its schema.
    """

    def __init__(self, connection: sa.Connection, sink: str) -> None:
        self._connection, self._sink = connection, sink

    def lock_owner(self, batch: BatchIdentity) -> str:
        """Lock and return the query that writes the pipeline's rows; without an owner, the batch's query becomes it.

        Another driver of the pipeline waits here until this transaction ends.
        """
        key = {"pipeline": batch.pipeline, "sink": self._sink}
        mine = (_owners.c.pipeline == batch.pipeline) & (_owners.c.sink == self._sink)
        query = sa.select(_owners.c.query).where(mine).with_for_update()
        owner = self._connection.execute(query).scalar()
        if owner is None:
            insert = self._insert(_owners).values(**key, query=batch.query_id)
            self._connection.execute(insert.on_conflict_do_nothing())
            owner = self._connection.execute(query).scalar_one()
        return str(owner)

    def set_owner(self, batch: BatchIdentity) -> None:
        """Make the batch's query the owner; the one before is refused from now on."""
        mine = (_owners.c.pipeline == batch.pipeline) & (_owners.c.sink == self._sink)
        self._connection.execute(_owners.update().where(mine).values(query=batch.query_id))

    def lock_marker(self, batch: BatchIdentity) -> Marker | None:
        """Lock and return the marker of a batch's query: another driver waits here until this transaction ends."""
        key = MarkerKey(batch.query_id, self._sink)
        values = {"query": key.query_id, "sink": key.sink, "writer": key.writer}
        query = sa.select(_markers).where(_of(key)).with_for_update()
        row = self._connection.execute(query).one_or_none()
        if row is None:
            insert = self._insert(_markers).values(**values, batch=_NONE, marker="")
            self._connection.execute(insert.on_conflict_do_nothing())
            row = self._connection.execute(query).one()
        return read_marker(row.marker, f"{_markers.name}, {key}") if row.batch > _NONE else None

    def set_marker(self, batch: BatchIdentity, marker: Marker) -> None:
        """Mark a batch as written."""
        values = {"batch": marker.batch, "marker": marker.text()}
        self._connection.execute(_markers.update().where(_of(MarkerKey(batch.query_id, self._sink))).values(**values))

    def _insert(self, table: sa.Table) -> Any:
        return _INSERTS[self._connection.dialect.name](table)


def _of(key: MarkerKey) -> sa.ColumnElement[bool]:
    return (_markers.c.query == key.query_id) & (_markers.c.sink == key.sink) & (_markers.c.writer == key.writer)
