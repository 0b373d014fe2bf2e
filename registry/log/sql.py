"""The log as a SQL table in SQLite or PostgreSQL; its primary key keeps two writers from using one offset."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from registry.log.port import BEGINNING, LogEntry, LogError, Offset, OutcomeUnknown, Record, WriteConflict

log = logging.getLogger("magicbyte.registry.sql")

_metadata = sa.MetaData()
_table = sa.Table(
    "log",
    _metadata,
    sa.Column("offset", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
    sa.Column("key", sa.LargeBinary, nullable=True),
    sa.Column("value", sa.LargeBinary, nullable=True),
    sa.Column("ts", sa.BigInteger, nullable=False),
)

#: A table with one row, made with the database: the id of the log.
_identity = sa.Table(
    "log_identity",
    _metadata,
    sa.Column("row", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("id", sa.String(32), nullable=False),
)

_READ_ROWS = 1000
#: How long a writer waits for another process's transaction on the same file, in ms.
_BUSY_TIMEOUT_MS = 5000
#: libpq's limits for a PostgreSQL server that has gone without a word: without them, a reader would wait for it for
#: minutes, which looks to a watchdog as if it were stuck. In seconds, but for the one in milliseconds.
_BOUNDS = {
    "connect_timeout": 10,
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}


def has_log(url: str) -> bool:
    """Tell whether a database has the log of a registry; this creates neither a database nor a table.

    Raises:
        LogError: The URL is wrong, or the database does not answer.
    """
    check_url(url)
    file = sqlite_file(url)
    if file is not None and not file.is_file():
        return False
    with _as_log_errors():
        engine = sa.create_engine(_with_driver(url))
        try:
            return sa.inspect(engine).has_table(_table.name)
        finally:
            engine.dispose()


class SqlLog:
    """A table `log(offset, key, value, ts)` whose offsets count from 0 without gaps.

    Two writers that append after the same offset insert the same primary key, so one of them fails and none of its
    batch is written.
    """

    max_record_bytes = 64 * 1024 * 1024

    def __init__(self, url: str) -> None:
        check_url(url)
        parsed = _with_driver(url)
        if parsed.get_backend_name() == "sqlite":
            self._engine = sa.create_engine(parsed, paramstyle="named")
            event.listen(self._engine, "connect", _set_durable)
        else:
            given = parsed.query.keys()
            bounds = {name: value for name, value in _BOUNDS.items() if name not in given}
            self._engine = sa.create_engine(parsed, pool_pre_ping=True, connect_args=bounds)
        # As text: SQLAlchemy's work on a statement object takes as long as the rest of an append.
        self._select_end = str(sa.select(sa.func.max(_table.c.offset)).compile(self._engine))
        self._insert_first = str(_insert_at_end().compile(self._engine))
        self._insert = str(_table.insert().compile(self._engine))
        with _as_log_errors():
            try:
                _metadata.create_all(self._engine)
            except SQLAlchemyError:  # another node may have created the tables at the same time
                _metadata.create_all(self._engine)
            self.log_id = self._find_or_make_id()

    def _find_or_make_id(self) -> str:
        query = sa.select(_identity.c.id)
        with self._engine.connect() as connection:
            log_id = connection.execute(query).scalar()
        if log_id is None:
            with suppress(IntegrityError), self._engine.begin() as connection:  # another node has inserted one
                connection.execute(_identity.insert(), {"row": 1, "id": uuid.uuid4().hex})
            with self._engine.connect() as connection:
                log_id = connection.execute(query).scalar_one()
        return str(log_id)

    def append(self, records: Sequence[Record], after: Offset, _epoch: int = 0, /) -> Offset:
        """Insert the records in one transaction; see `Log.append`."""
        rows = [
            {"offset": after + 1 + index, "key": record.key, "value": record.value, "ts": record.timestamp}
            for index, record in enumerate(records)
        ]
        with _as_log_errors(), self._engine.connect() as connection:
            try:
                transaction = connection.begin()
                # An offset beyond the end would leave a gap, which the primary key alone does not prevent.
                if connection.exec_driver_sql(self._insert_first, rows[0]).rowcount != 1:
                    raise WriteConflict(f"the log does not end at {after}")
                if len(rows) > 1:
                    connection.exec_driver_sql(self._insert, rows[1:])
            except IntegrityError as error:
                raise WriteConflict(f"another writer appended after {after}") from error
            try:
                transaction.commit()
            except IntegrityError as error:
                raise WriteConflict(f"another writer appended after {after}") from error
            except OperationalError as error:
                if error.connection_invalidated:
                    raise OutcomeUnknown(f"the connection was lost while committing: {error.orig}") from error
                raise
        return after + len(rows)

    def read(self, after: Offset) -> Iterator[LogEntry]:
        """Select the entries after an offset; see `Log.read`."""
        query = sa.select(_table).where(_table.c.offset > after).order_by(_table.c.offset)
        with _as_log_errors(), self._engine.connect() as connection:
            rows = connection.execution_options(yield_per=_READ_ROWS).execute(query)
            for offset, key, value, timestamp in rows:
                yield LogEntry(offset, key, value, timestamp)

    def end(self) -> Offset:
        """Select the last offset; see `Log.end`."""
        with _as_log_errors(), self._engine.connect() as connection:
            end = connection.exec_driver_sql(self._select_end).scalar()
        return BEGINNING if end is None else int(end)

    def close(self) -> None:
        """Close all connections. On SQLite, this first moves the write-ahead log into the database file."""
        if self._engine.dialect.name == "sqlite":
            self.checkpoint()
        self._engine.dispose()

    def checkpoint(self) -> None:
        """Move SQLite's write-ahead log into the database file."""
        try:
            with self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        except SQLAlchemyError as error:
            # Nothing is lost: the next start reads the write-ahead log.
            log.warning(
                "the write-ahead log could not be written into the database: %s",
                error,
                extra={"event": "wal_not_merged", "error": str(error)},
            )


def _insert_at_end() -> sa.Insert:
    """Insert a row at its offset if the log ends just before it."""
    end = sa.func.coalesce(sa.select(sa.func.max(_table.c.offset)).scalar_subquery(), sa.literal_column(f"{BEGINNING}"))
    offset: sa.BindParameter[int] = sa.bindparam("offset")
    timestamp: sa.BindParameter[int] = sa.bindparam("ts")
    # In a list of columns, PostgreSQL takes a parameter that is NULL for a text.
    key, value = (sa.cast(sa.bindparam(name), sa.LargeBinary) for name in ("key", "value"))
    row = sa.select(offset, key, value, timestamp).where(end + sa.literal_column("1") == offset)
    return _table.insert().from_select(["offset", "key", "value", "ts"], row)


def check_url(url: str) -> None:
    """Check the URL of a database, and the folder of an SQLite file, without opening the database.

    Raises:
        LogError: The database cannot be there.
    """
    file = sqlite_file(url)
    with _as_log_errors():
        parsed = _with_driver(url)
        parsed.get_dialect()().create_connect_args(parsed)
    if parsed.get_backend_name() == "sqlite" and file is not None:
        if file.is_dir():
            raise LogError(f"the database {file} is a folder")
        if not file.parent.is_dir():
            raise LogError(f"the folder {file.parent} of the database does not exist")


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite database; None if it is in memory, or its name is a URI that only SQLite reads.

    None also for the URL of a database of another kind.
    """
    parsed = _with_driver(url)
    if parsed.get_backend_name() != "sqlite":
        return None
    database = parsed.database
    return None if not database or database == ":memory:" or database.startswith("file:") else Path(database)


def _with_driver(url: str) -> sa.URL:
    """The URL, with our PostgreSQL driver if it names none.

    Raises:
        LogError: It is no URL of a database; the text has no password.
    """
    try:
        parsed = sa.make_url(url)
    except (SQLAlchemyError, ValueError):  # ValueError: a port that is no number
        raise LogError(
            "magicbyte.storage is no URL such as sqlite:///FILE or postgresql://USER@HOST/DATABASE"
        ) from None
    return parsed.set(drivername="postgresql+psycopg") if parsed.drivername == "postgresql" else parsed


def _set_durable(connection: sa.engine.interfaces.DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    """Make SQLite commits durable when they return, and keep readers from waiting for writers."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
    cursor.close()


@contextmanager
def _as_log_errors() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise LogError(f"the database refused: {cause}") from error
