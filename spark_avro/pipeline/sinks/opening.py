"""Makes a sink from its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from magicbyte.kit.extras import require
from spark_avro.pipeline.file.sinks import (
    DeltaSink,
    FilesSink,
    IcebergSink,
    JdbcSink,
    KafkaSink,
    SinkSpec,
    SqlSink,
)
from spark_avro.pipeline.ports import Sink, SinkContext
from spark_avro.pipeline.sinks.files import FilesTarget
from spark_avro.pipeline.sinks.jdbc import JdbcTarget
from spark_avro.pipeline.sinks.kafka.appending import AppendingTarget
from spark_avro.pipeline.sinks.kafka.executors import ExecutorsTarget
from spark_avro.pipeline.sinks.kafka.transactional import TransactionalTarget
from spark_avro.pipeline.sinks.tables.delta import DeltaTarget
from spark_avro.pipeline.sinks.tables.iceberg import IcebergTarget


def open_sink(spec: SinkSpec, context: SinkContext) -> Sink:
    """The sink of a section of the file; nothing is written yet.

    Raises:
        SinkRefused: The settings contradict each other or the session.
        ExtraMissing: The sink needs an extra that is not installed.
    """
    return _SINKS[type(spec)](spec, context)


def _kafka(spec: KafkaSink, context: SinkContext) -> Sink:
    if spec.delivery == "at-least-once":
        return AppendingTarget(spec, context)
    return ExecutorsTarget(spec, context) if spec.via == "executors" else TransactionalTarget(spec, context)


def _sql(spec: SqlSink, context: SinkContext) -> Sink:
    require("spark", user="a pipeline's sink.sql", modules=("sqlalchemy",))
    from spark_avro.pipeline.sinks.sql.target import SqlTarget  # noqa: PLC0415 - in an extra

    return SqlTarget(spec, context)


_SINKS: Mapping[type[Any], Callable[[Any, SinkContext], Sink]] = {
    FilesSink: FilesTarget,
    KafkaSink: _kafka,
    DeltaSink: DeltaTarget,
    IcebergSink: IcebergTarget,
    SqlSink: _sql,
    JdbcSink: JdbcTarget,
}
