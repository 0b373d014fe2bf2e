"""The marker of the last batch in the database: a row that is locked, compared and changed with the batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from spark_avro.pipeline.ports import BatchIdentity
from spark_avro.pipeline.sinks.identity import BACKFILL, Ranges, is_backfill, source_ranges

_metadata = sa.MetaData()
_markers = sa.Table(
    "magicbyte_batches",
    _metadata,
    sa.Column("pipeline", sa.String(100), primary_key=True),
    sa.Column("target", sa.String(200), primary_key=True),
    sa.Column("query", sa.String(100), primary_key=True),
    sa.Column("batch", sa.BigInteger, nullable=False),
    sa.Column("rows", sa.BigInteger, nullable=False),
    sa.Column("ranges", sa.Text, nullable=False),
)

#: The number before a query's first batch.
_NONE = -1

#: The dialects' `INSERT` that can have `ON CONFLICT`.
_INSERTS: Any = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}


@dataclass(frozen=True, slots=True)
class Marker:
    """The last batch of a query in a table."""

    batch: int
    rows: int
    ranges: Ranges


def create_markers(engine: sa.Engine) -> None:
    """Create the table of markers if it is missing."""
    if sa.inspect(engine).has_table(_markers.name):
        return
    try:
        _metadata.create_all(engine)
    except sa.exc.SQLAlchemyError:  # another pipeline may have created it at the same time
        _metadata.create_all(engine)


def foreign_query(connection: sa.Connection, target: str, batch: BatchIdentity) -> str | None:
    """Another query that has written to the table, if the batch's own query has not; None if there is none."""
    rows = connection.execute(_of(batch.pipeline, target).where(_markers.c.batch > _NONE))
    queries = {row.query for row in rows if not row.query.startswith(BACKFILL)}
    if batch.query_id in queries or is_backfill(batch):
        return None
    return min(queries, default=None)


def lock_marker(connection: sa.Connection, target: str, batch: BatchIdentity) -> Marker:
    """Lock and return the marker of a batch's query: another driver waits here until this transaction ends."""
    values = {"pipeline": batch.pipeline, "target": target, "query": batch.query_id}
    insert = _INSERTS[connection.dialect.name](_markers).values(**values, batch=_NONE, rows=0, ranges="[]")
    connection.execute(insert.on_conflict_do_nothing())
    query = _of(batch.pipeline, target).where(_markers.c.query == batch.query_id).with_for_update()
    row = connection.execute(query).one()
    return Marker(row.batch, row.rows, orjson.loads(row.ranges))


def set_marker(connection: sa.Connection, target: str, batch: BatchIdentity, rows: int, *, alone: bool) -> None:
    """Mark a batch as written; with `alone`, delete other queries' markers, so that these queries are refused."""
    of_pipeline = (_markers.c.pipeline == batch.pipeline) & (_markers.c.target == target)
    of_query = _markers.c.query == batch.query_id
    values = {"batch": batch.number, "rows": rows, "ranges": orjson.dumps(source_ranges(batch)).decode()}
    connection.execute(_markers.update().where(of_pipeline & of_query).values(**values))
    if alone and not is_backfill(batch):
        others = of_pipeline & ~of_query & ~_markers.c.query.startswith(BACKFILL)
        connection.execute(_markers.delete().where(others))


def _of(pipeline: str, target: str) -> sa.Select[Any]:
    return sa.select(_markers).where((_markers.c.pipeline == pipeline) & (_markers.c.target == target))
