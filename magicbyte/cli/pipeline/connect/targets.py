"""The targets of sink connectors as sinks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from magicbyte.cli.pipeline.connect.config import ConnectConfig, short_class

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
        codec = config.take("avro.codec") or config.take("parquet.codec")
        return {"files": sink | ({"options": {"compression": codec}} if codec else {})}

    return convert


def _partition(config: ConnectConfig) -> dict[str, Any]:
    kind = short_class(config.take("partitioner.class", "DefaultPartitioner"))
    extractor = config.take("timestamp.extractor", "Wallclock")
    name = config.take("timestamp.field")
    zone = config.take("timezone")
    if kind in ("TimeBasedPartitioner", "HourlyPartitioner", "DailyPartitioner"):
        parts: dict[str, Any] = {"partition": ["dt"] if kind == "DailyPartitioner" else ["dt", "hour"]}
        if extractor == "RecordField" and name:
            parts["time"] = name
        if extractor == "Wallclock":
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
    if password and not password.startswith("${"):
        config.note("connection.password", "the password is not written; set the variable PASSWORD")
    if user:
        scheme, _, rest = url.partition("://")
        url = f"{scheme}://{user}:${{env:PASSWORD}}@{rest}"
    table = config.take("table.name.format", "${topic}") or "${topic}"
    name = table.replace("${topic}", topics[0] if topics else "records")
    sink: dict[str, Any] = {"url": url, "table": name, "create": config.take("auto.create", "false") == "true"}
    keys = config.take_list("pk.fields")
    if config.take("insert.mode", "insert") == "upsert":
        upsert: dict[str, Any] = {"key": keys or ["id"]}
        if not keys:
            config.note("pk.fields", "the key of the upsert is not named; `id` stands in its place")
        sink["mode"] = {"upsert": upsert}
    config.note("delete.enabled", "deletions: add `deletes` to the upsert, such as \"_op = 'd'\"")
    for setting in ("pk.mode", "auto.evolve", "batch.size", "max.retries", "retry.backoff.ms", "dialect.name"):
        config.note(setting, "see `mode`, `evolve.columns`, `source.limit` and `errors.retry`")
    kind = "sql" if url.startswith(("postgresql", "sqlite")) else "jdbc"
    if kind == "jdbc":
        return {"jdbc": {"url": f"jdbc:{url}", "table": name}}
    return {"sql": sink}


def _iceberg(config: ConnectConfig, topics: list[str]) -> dict[str, Any]:
    tables = config.take_list("iceberg.tables")
    catalog = {
        name.removeprefix("iceberg.catalog."): str(config.take(name))
        for name in config.settings
        if name.startswith("iceberg.catalog.")
    }
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
