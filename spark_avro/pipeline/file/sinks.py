"""The settings of a pipeline's sinks; the sinks themselves are in `spark_avro/pipeline/sinks/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from posixpath import normpath
from typing import Any

from magicbyte.kit.secret import hide_user_info
from magicbyte.kit.settings.compound import ListOf, MapOf, OneKey, either, properties
from magicbyte.kit.settings.kinds import Kind, choice, duration, flag, size, text, whole
from magicbyte.kit.settings.section import Nested, setting
from magicbyte.kit.settings.urls import database_url, http_urls, jdbc_url
from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.kinds import PATHS, field_path, kafka_properties, sql
from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.file.sql_text import Sql, SqlRole
from spark_avro.pipeline.file.synonyms import SINK_SYNONYMS

_KAFKA_TIME = FieldPath(("_kafka", "timestamp"))
#: Formats of records that name their schemas.
_WITH_SCHEMAS = ("avro", "json", "protobuf")

_KEEP = "Whether `_kafka` is kept as a column, which backfill --replace needs for tables."


class Payload(Section):
    """The encoding of a record's value or key."""

    format: str = setting(choice(*_WITH_SCHEMAS, "json-plain", "string", "bytes"), "The format.", default="avro")
    subject: str | None = setting(text("a subject"), "The subject.", default=None, default_words="`TOPIC-value`")
    schema: str = setting(
        text("derive, use-latest or @FILE"),
        "derive makes the schema of the columns, use-latest takes the subject's latest version, @FILE reads it.",
        default="derive",
    )
    register: bool = setting(flag(), "Whether a schema that the subject does not have is registered.", default=True)
    schema_id: str = setting(
        choice("prefix", "header"),
        "Where a record names its schema: by id before the payload, or by guid in a header (needs readers of it).",
        default="prefix",
    )
    rules: str = setting(
        choice("apply", "refuse"),
        "What becomes of the rules of the schema: apply carries them out, and a row that one rejects goes where errors"
        " go; refuse stops.",
        default="apply",
    )

    def problems(self) -> Iterable[tuple[str, str]]:
        if self.schema_id == "header" and self.format not in _WITH_SCHEMAS:
            yield "schema-id", f"is for formats with schemas: {', '.join(_WITH_SCHEMAS)}; the format is {self.format}"
        if "rules" in self.origin.places and self.format not in _WITH_SCHEMAS:
            yield "rules", f"is for formats with schemas: {', '.join(_WITH_SCHEMAS)}; the format is {self.format}"


class Mirror(Section):
    """A copy byte for byte into another cluster."""

    registry: str = setting(http_urls(), "The target's registry, which gets each schema under the same id.")


class KafkaSink(Section):
    """A topic."""

    topic: Sql = setting(sql(), "The topic's name, or an expression such as concat('acme_', _kafka.topic).")
    key: tuple[FieldPath, ...] = setting(
        PATHS, "The fields of the key.", default=(), default_words="that of the step `key`, or the source's"
    )
    value: Payload = setting(Nested(Payload), "How values are encoded.", default=Payload())
    key_format: Payload = setting(
        Nested(Payload, short="format"), "How keys are encoded.", default=Payload(format="string")
    )
    headers: Mapping[str, Sql] = setting(
        MapOf(sql()), "From a header's name to the expression of its text.", default={}
    )
    delivery: str = setting(
        choice("exactly-once", "at-least-once"),
        "exactly-once: in transactions; at-least-once: by Spark's writer, whose records are there again after a crash.",
        default="exactly-once",
    )
    via: str = setting(
        choice("driver", "executors"),
        "Who writes exactly once: the driver, in one transaction for each batch; or writers on executors, each in"
        " transactions of its own.",
        default="driver",
    )
    writers: int | None = setting(
        whole(1, 1000),
        "Number of writers on executors.",
        default=None,
        default_words="as many as the query has, or task slots when it begins",
    )
    partition: Sql | None = setting(
        sql(),
        "The partition of a record, such as murmur2(customer) % 12.",
        default=None,
        default_words="that of the key, as Java's clients choose it",
    )
    mirror: bool | Mirror | None = setting(
        either(flag(), Nested(Mirror)), "Copies key, value, headers, timestamp and partition as they are.", default=None
    )
    kafka: Mapping[str, str] = setting(
        kafka_properties(), "Properties of the producer, over those of the pipeline.", default={}, secret=True
    )

    def problems(self) -> Iterable[tuple[str, str]]:
        if self.via == "executors" and self.delivery == "at-least-once":
            yield "via", "executors is a way to write exactly once; at-least-once is Spark's own writer on executors"
        if self.writers is not None and self.via != "executors":
            yield "writers", "needs via: executors; the driver is one writer"
        if self.partition is not None and self.mirror:
            yield "partition", "stands beside mirror, which copies the partition"


class FilesSink(Section):
    """Files by the hours of their rows."""

    path: str = setting(text("a folder"), "The folder.")
    format: str = setting(choice("parquet", "avro", "json"), "The files' format.", default="parquet")
    time: FieldPath = setting(field_path(), "The time of a row.", default=_KAFKA_TIME)
    zone: str = setting(text("a time zone"), "The zone of dt and hour.", default="UTC")
    partition: tuple[Sql, ...] = setting(
        ListOf(sql(SqlRole.ITEM), or_one=True),
        "The folders: dt, hour, columns, or expressions with a name.",
        default=(Sql("dt", SqlRole.ITEM), Sql("hour", SqlRole.ITEM)),
    )
    late: timedelta | None = setting(duration(), "The age from which a row is late.", default=None)
    on_late: str = setting(
        choice("late", "dead-letter", "keep"),
        "What becomes of late rows: the folder dt=late, dead letters, or the folder of their time.",
        default="late",
    )
    target: int = setting(size(), "The size of a file.", default=128 * 2**20)
    keep_position: bool = setting(flag(), _KEEP, default=False)
    options: Mapping[str, str] = setting(properties(), "More options of Spark's writer.", default={})


class Upsert(Section):
    """The newest row of each key."""

    key: tuple[FieldPath, ...] = setting(PATHS, "The columns of the key.")
    order: FieldPath = setting(
        field_path(),
        "What is newer: the row with the greater value. _kafka.offset orders the records of a partition; records of"
        " different partitions go by timestamp, topic and partition.",
        default=FieldPath(("_kafka", "offset")),
    )
    deletes: Sql | None = setting(sql(), "Rows for which this is true delete their key.", default=None)

    @property
    def is_by_offset(self) -> bool:
        """Whether the order is that of the records in Kafka, which their offsets alone do not tell."""
        return self.order.parts == ("_kafka", "offset")


_MODE = either(choice("append"), OneKey({"upsert": Nested(Upsert)}))
_MODE_HELP = "append, or {upsert: {key: [id], order: _kafka.offset, deletes: \"_op = 'd'\"}}."


class DeltaSink(Section):
    """A Delta table."""

    path: str | None = setting(text("a folder"), "The table's folder.", default=None)
    table: str | None = setting(
        text("a table's name"), "Instead of path: the table's name in Spark's catalog.", default=None
    )
    mode: str | Upsert = setting(_MODE, _MODE_HELP, default="append")
    partition: tuple[FieldPath, ...] = setting(PATHS, "The columns that a new table is partitioned by.", default=())
    keep_position: bool = setting(flag(), _KEEP, default=False)

    def problems(self) -> Iterable[tuple[str, str]]:
        if (self.path is None) == (self.table is None):
            yield "", "must have path or table"


class IcebergSink(Section):
    """An Iceberg table."""

    table: str = setting(text("a table's name"), "The table, as catalog.namespace.table.")
    catalog: Mapping[str, str] = setting(
        properties(),
        "Properties of the catalog, such as type and warehouse.",
        default={},
        secret=True,
        default_words="the session's",
    )
    mode: str | Upsert = setting(_MODE, _MODE_HELP, default="append")
    time: FieldPath | None = setting(
        field_path(), "The column by whose hours a new table is partitioned.", default=None, default_words="none"
    )
    keep_position: bool = setting(flag(), _KEEP, default=False)


class SqlSink(Section):
    """A table in PostgreSQL or SQLite."""

    url: str = setting(
        database_url(),
        "The database, such as postgresql://host/db or sqlite:////data/flights.db.",
        secret=True,
    )
    table: str = setting(text("a table's name"), "The table, with its schema if it needs one.")
    mode: str | Upsert = setting(_MODE, _MODE_HELP, default="append")
    create: bool = setting(flag(), "Whether the table is made if it does not exist.", default=True)
    via: str = setting(
        choice("driver", "executors"),
        "Who sends the rows: executors fill a stage table first, for big batches; PostgreSQL only.",
        default="driver",
    )
    keep_position: bool = setting(flag(), _KEEP, default=False)

    def problems(self) -> Iterable[tuple[str, str]]:
        if self.via == "executors" and self.url.startswith("sqlite"):
            yield "via", "executors need PostgreSQL: SQLite has one writer; use driver"


class JdbcSink(Section):
    """A table in any database with a JDBC driver; repeated batches repeat rows."""

    url: str = setting(jdbc_url(), "The database.", secret=True)
    table: str = setting(text("a table's name"), "The table.")
    properties: Mapping[str, str] = setting(
        properties(), "Properties of Spark's JDBC writer and the driver.", default={}, secret=True
    )
    keep_position: bool = setting(flag(), _KEEP, default=False)


SinkSpec = KafkaSink | FilesSink | DeltaSink | IcebergSink | SqlSink | JdbcSink

#: The sinks by their names in the file.
SINKS: Mapping[str, Kind] = {
    "kafka": Nested(KafkaSink),
    "files": Nested(FilesSink),
    "delta": Nested(DeltaSink),
    "iceberg": Nested(IcebergSink),
    "sql": Nested(SqlSink),
    "jdbc": Nested(JdbcSink),
}

SINK = OneKey(SINKS, SINK_SYNONYMS)


#: The name of a sink's target, and what is equal for sinks that write to one target, however the file writes it.
_TARGETS: Mapping[type, Callable[[Any, str], tuple[str, ...]]] = {
    KafkaSink: lambda sink, servers: (
        f"topic {sink.topic}", "topic", str(sink.topic), sink.kafka.get("bootstrap.servers", servers)
    ),
    FilesSink: lambda sink, _: (f"folder {sink.path}", "folder", _folder(sink.path)),
    DeltaSink: lambda sink, _: (
        f"Delta table {sink.table or sink.path}", "delta", sink.table or _folder(sink.path or "")
    ),
    IcebergSink: lambda sink, _: (f"Iceberg table {sink.table}", "iceberg", sink.table),
    SqlSink: lambda sink, _: (f"table {sink.table}", "sql", _without_schema(sink.table), _database(sink.url)),
    JdbcSink: lambda sink, _: (f"table {sink.table}", "jdbc", sink.table, sink.url),
}  # fmt: skip


def shown_target(sink: SinkSpec) -> str:
    """The name of a sink's target, without secrets."""
    return hide_user_info(_TARGETS[type(sink)](sink, "")[0])


def shared_targets(sinks: Iterable[SinkSpec], servers: str) -> list[str]:
    """The names of targets that several sinks write to, without secrets.

    Args:
        sinks: The sinks.
        servers: The brokers of sinks that name none.
    """
    targets = [_TARGETS[type(sink)](sink, servers) for sink in sinks]
    places = [target[1:] for target in targets]
    return sorted(name for name, *place in targets if places.count(tuple(place)) > 1)


def _folder(path: str) -> str:
    """A folder's path in one way of writing it."""
    local = path.removeprefix("file:")
    return normpath(f"/{local.lstrip('/')}" if local.startswith("/") else local)


def _without_schema(table: str) -> str:
    """The name of a table without the schema that databases take if there is none."""
    schema, _, name = table.rpartition(".")
    return name if schema in ("public", "main") else table


def _database(url: str) -> str:
    """A database's URL without the name of a driver."""
    scheme, separator, rest = url.partition("://")
    scheme = scheme.partition("+")[0]
    return f"{scheme}{separator}{normpath(rest) if scheme == 'sqlite' else rest}"


def repeats(sink: SinkSpec) -> bool:
    """Whether the target has a batch twice if the batch is repeated after a crash."""
    return isinstance(sink, JdbcSink) or (isinstance(sink, KafkaSink) and sink.delivery == "at-least-once")


def unrepeatable(sinks: Iterable[SinkSpec]) -> list[SinkSpec]:
    """The sinks that cannot be combined with others: a crash between two sinks repeats the first one's batch."""
    return [sink for sink in sinks if repeats(sink)]
