"""The modules that Spark has to load for a pipeline's file: table formats, and JDBC drivers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from magicbyte.platform.jars import JDBC_DRIVERS
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.sinks import DeltaSink, IcebergSink, JdbcSink
from spark_avro.pipeline.file.source import DeltaTable, JdbcSource

#: Table format -> the sections of the file that use it.
_FORMATS: Mapping[str, tuple[type, ...]] = {"delta": (DeltaSink, DeltaTable), "iceberg": (IcebergSink,)}

#: Database of `sink.sql` -> the extra with its client.
SQL_EXTRAS = {"postgresql": "postgresql"}


def table_formats(pipeline: Pipeline) -> tuple[str, ...]:
    """`delta` and `iceberg`, if a sink or table is of this format."""
    found = {format_of(part) for part in (*pipeline.all_sinks, *pipeline.tables.values())}
    return tuple(name for name in _FORMATS if name in found)


def format_of(part: object) -> str | None:
    """The table format of a sink or table of the file; None if it is none of these."""
    return next((name for name, kinds in _FORMATS.items() if isinstance(part, kinds)), None)


def sql_database(url: str) -> str:
    """The database of an SQLAlchemy URL, without the driver; a placeholder hides the name."""
    return re.split(r"[+:]", url, maxsplit=1)[0].lower()


def jdbc_drivers(pipeline: Pipeline) -> tuple[str, ...]:
    """The file's databases that Spark reads or writes by JDBC and whose drivers are known here."""
    return tuple(name for name in dict.fromkeys(_databases(pipeline)) if name in JDBC_DRIVERS)


def other_databases(pipeline: Pipeline) -> tuple[str, ...]:
    """The databases of the file whose JDBC drivers the user has to add."""
    return tuple(name for name in dict.fromkeys(_databases(pipeline)) if name not in JDBC_DRIVERS)


def _databases(pipeline: Pipeline) -> Iterator[str]:
    """The names behind `jdbc:` in URLs; a placeholder hides the name."""
    for part in (pipeline.source, *pipeline.tables.values(), *pipeline.all_sinks):
        if (name := jdbc_database(part)) is not None:
            yield name


def jdbc_database(part: object) -> str | None:
    """The database of a source, table or sink that Spark reads or writes by JDBC; None if it is none of these."""
    match = re.match(r"jdbc:(\w+)", str(part.url)) if isinstance(part, JdbcSource | JdbcSink) else None
    return None if match is None else match[1].lower()
