"""The targets of sink connectors as sinks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from magicbyte.cli.pipeline.connect.config import ConnectConfig, short_class
from serdes.console.outcome import BAD_USAGE, Ended

_FORMATS = {"AvroFormat": "avro", "ParquetFormat": "parquet", "JsonFormat": "json"}
_ROTATION = "a batch writes its files at once; `trigger.every` and `source.limit` say how large it is"
_FOLDERS = "folders are dt=2026-01-01/hour=05, of `time` in `zone`"
#: Settings of object stores without a counterpart -> why.
_IDLE = {
    **dict.fromkeys(("flush.size", "rotate.interval.ms", "rotate.schedule.interval.ms"), _ROTATION),
    **dict.fromkeys(("path.format", "partition.duration.ms", "locale"), _FOLDERS),
    **dict.fromkeys(("storage.class", "gcs.part.size", "s3.part.size", "gcs.part.retries"), "Spark writes the files"),
    "gcs.credentials.path": "Spark signs in: set its properties under `spark`, such as spark.hadoop.fs.gs.*",
    "schema.compatibility": "rows have the newest version's columns; see `evolve`",
}


#: Packages whose connectors are sources, unless their names say that they are sinks.
_SOURCES = ("io.debezium.connector.",)


def refuse_source(config: ConnectConfig, file: str, kind: str = "") -> None:
    """Refuse the configuration of a source connector.

    Args:
        config: The settings.
        file: The file's name.
        kind: The `type` that Connect's REST API shows; empty if unknown.

    Raises:
        Ended: the connector is a source.
    """
    full = config.settings.get("connector.class", "")
    name = short_class(full)
    is_sink = "Sink" in name or kind == "sink" or bool({"topics", "topics.regex"} & config.settings.keys())
    is_source = "Source" in name or kind == "source" or (full.startswith(_SOURCES) and "Sink" not in name)
    if is_source or (full and not is_sink):
        raise Ended(
            BAD_USAGE,
            f"{file}: connector.class: {full or 'the connector'} is no sink; from-connect converts sinks, which read"
            f" topics: {', '.join(_TARGETS)}. A pipeline reads files and databases by source.files and source.jdbc",
        )


def convert_target(config: ConnectConfig, topics: list[str]) -> dict[str, Any]:
    """The sink of a connector."""
    kind = short_class(config.take("connector.class"))
    convert = _TARGETS.get(kind)
    if convert is None:
        config.note("connector.class", f"the connector {kind} has no counterpart; files stand in its place")
        return {"files": {"path": f"/data/{topics[0] if topics else 'records'}"}}
    return convert(config, topics)


def _object_store(scheme: str, bucket: str) -> Callable[[ConnectConfig, list[str]], dict[str, Any]]:
    def convert(config: ConnectConfig, topics: list[str]) -> dict[str, Any]:
        folder = config.take("topics.dir", "topics")
        root = config.take(bucket, "BUCKET")
        name = topics[0] if topics else "records"
        form = short_class(config.take("format.class"))
        if form not in _FORMATS:
            config.note("format.class", f"the format {form} has no counterpart; parquet stands in its place")
        sink: dict[str, Any] = {"path": f"{scheme}{root}/{folder}/{name}", "format": _FORMATS.get(form, "parquet")}
        sink |= _partition(config)
        for setting, why in _IDLE.items():
            config.note(setting, why)
        codec = config.take(f"{sink['format']}.codec")
        return {"files": sink | ({"options": {"compression": codec}} if codec else {})}

    return convert


def _partition(config: ConnectConfig) -> dict[str, Any]:
    kind = short_class(config.take("partitioner.class", "DefaultPartitioner"))
    if kind in ("TimeBasedPartitioner", "HourlyPartitioner", "DailyPartitioner"):
        extractor = config.take("timestamp.extractor", "Wallclock")
        zone = config.take("timezone")
        parts: dict[str, Any] = {"partition": ["dt"] if kind == "DailyPartitioner" else ["dt", "hour"]}
        if extractor == "RecordField" and (name := config.take("timestamp.field")):
            parts["time"] = name
        elif extractor not in ("Record", "RecordField"):
            config.note(
                "timestamp.extractor", "hours are those of records, so that a repeated batch has the same files"
            )
        return parts | ({"zone": zone} if zone else {})
    if kind == "FieldPartitioner":
        return {"partition": config.take_list("partition.field.name")}
    if kind != "DefaultPartitioner":
        config.note("partitioner.class", f"{kind} has no counterpart; partitions are dt and hour")
        return {}
    return {"partition": ["_kafka.partition as partition"]}


def _jdbc(config: ConnectConfig, topics: list[str]) -> dict[str, Any]:
    url = (config.take("connection.url", "jdbc:postgresql://localhost/db") or "").removeprefix("jdbc:")
    user, password = config.take("connection.user"), config.take("connection.password")
    if password:
        config.note("connection.password", "the password is not written; set the variable PASSWORD")
    is_sql = url.startswith(("postgresql", "sqlite"))
    if user and is_sql:
        scheme, _, rest = url.partition("://")
        url = f"{scheme}://{user}:${{env:PASSWORD}}@{rest}"
    table = config.take("table.name.format", "${topic}") or "${topic}"
    name = table.replace("${topic}", topics[0] if topics else "records")
    sink: dict[str, Any] = {"url": url, "table": name, "create": config.take("auto.create", "false") == "true"}
    mode = config.take("insert.mode", "insert")
    keys = config.take_list("pk.fields") if mode == "upsert" and is_sql else []
    if mode == "upsert" and is_sql:
        upsert: dict[str, Any] = {"key": keys or ["id"]}
        if not keys:
            config.note("pk.fields", "the key of the upsert is not named; `id` stands in its place")
        sink["mode"] = {"upsert": upsert}
    elif mode != "insert":
        config.note("insert.mode", f"{mode} has no counterpart here; rows are appended")
    config.note("delete.enabled", "deletions: add `deletes` to the upsert, such as \"_op = 'd'\"")
    for setting in ("pk.mode", "auto.evolve", "batch.size", "max.retries", "retry.backoff.ms", "dialect.name"):
        config.note(setting, "see `mode`, `evolve.columns`, `source.limit` and `errors.retry`")
    if is_sql:
        return {"sql": sink}
    config.note("auto.create", "Spark's JDBC writer makes a table that does not exist")
    signed = {"properties": {"user": user, "password": "${env:PASSWORD}"}} if user else {}
    return {"jdbc": {"url": f"jdbc:{url}", "table": name, **signed}}


def _iceberg(config: ConnectConfig, topics: list[str]) -> dict[str, Any]:
    tables = config.take_list("iceberg.tables")
    catalog = {
        name.removeprefix("iceberg.catalog."): str(config.take(name))
        for name in config.settings
        if name.startswith("iceberg.catalog.")
    }
    if len(tables) > 1:
        config.note("iceberg.tables", f"a sink has one table, here {tables[0]}; write a pipeline for each")
    name = tables[0] if tables else f"lake.{topics[0] if topics else 'records'}"
    return {"iceberg": {"table": name} | ({"catalog": catalog} if catalog else {})}


_Target = Callable[[ConnectConfig, list[str]], dict[str, Any]]

#: Class of a connector -> the function that makes its sink.
_TARGETS: Mapping[str, _Target] = {
    "GcsSinkConnector": _object_store("gs://", "gcs.bucket.name"),
    "S3SinkConnector": _object_store("s3a://", "s3.bucket.name"),
    "HdfsSinkConnector": _object_store("", "hdfs.url"),
    "Hdfs3SinkConnector": _object_store("", "hdfs.url"),
    "JdbcSinkConnector": _jdbc,
    "IcebergSinkConnector": _iceberg,
}
