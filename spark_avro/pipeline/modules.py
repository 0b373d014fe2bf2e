"""The modules that Spark has to load for a pipeline's file: table formats, and JDBC drivers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from magicbyte.platform.jars import JDBC_DRIVERS
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.sinks import DeltaSink, IcebergSink, JdbcSink
from spark_avro.pipeline.file.source import DeltaTable, JdbcSource


def table_formats(pipeline: Pipeline) -> tuple[str, ...]:
    """`delta` and `iceberg`, if a sink or table is of this format."""
    parts = (*pipeline.all_sinks, *pipeline.tables.values())
    named = {"delta": (DeltaSink, DeltaTable), "iceberg": (IcebergSink,)}
    return tuple(name for name, kinds in named.items() if any(isinstance(part, kinds) for part in parts))


def jdbc_drivers(pipeline: Pipeline) -> tuple[str, ...]:
    """The file's databases that Spark reads or writes by JDBC and whose drivers are known here."""
    return tuple(name for name in dict.fromkeys(_databases(pipeline)) if name in JDBC_DRIVERS)


def other_databases(pipeline: Pipeline) -> tuple[str, ...]:
    """The databases of the file whose JDBC drivers the user has to add."""
    return tuple(name for name in dict.fromkeys(_databases(pipeline)) if name not in JDBC_DRIVERS)


def _databases(pipeline: Pipeline) -> Iterator[str]:
    """The names behind `jdbc:` in URLs; a placeholder hides the name."""
    for part in (pipeline.source, *pipeline.tables.values(), *pipeline.all_sinks):
        if isinstance(part, JdbcSource | JdbcSink) and (match := re.match(r"jdbc:(\w+)", str(part.url))):
            yield match[1].lower()
