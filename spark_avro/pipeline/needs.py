"""The requirements of a pipeline's parts beside Spark: Maven modules for the JVM, and extras for Python.

`lint` reports what is not installed here, and `explain` lists everything. The facts are those that a run uses: the
tables of `magicbyte.platform.jars`, `modules.py` and `magicbyte.kit.extras`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from magicbyte.kit.extras import ExtraMissing, require
from magicbyte.platform.jars import (
    JDBC_DRIVERS,
    TABLE_FORMATS,
    spark_line,
    spark_modules,
    table_format_problem,
    unlocked_spark,
)
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.place import LintFinding
from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.file.sinks import SqlSink
from spark_avro.pipeline.modules import SQL_EXTRAS, format_of, jdbc_database, sql_database


def installed_spark() -> str | None:
    """The version of PySpark that is installed, found without importing it; None if there is none."""
    try:
        return version("pyspark")
    except PackageNotFoundError:
        return None


def missing_needs(pipeline: Pipeline, spark: str | None) -> Iterator[LintFinding]:
    """Find the requirements for which a run would be refused here, at the sections that have them.

    Args:
        pipeline: The file.
        spark: The version of PySpark; None if there is none, for instance on a machine that only checks files.

    Returns:
        Findings, some of which are cautions.
    """
    # The person who names the jars knows which ones there are.
    if spark is not None and "MAGICBYTE_SPARK_JARS" not in os.environ:
        for part in _parts(pipeline):
            name = format_of(part)
            problem = table_format_problem([name], spark) if name else ""
            if problem:
                yield LintFinding(part.finding("", problem), refused=True)
        problem = unlocked_spark(spark)
        if problem:
            yield LintFinding(pipeline.finding("", problem), refused=False)
    for sink in pipeline.all_sinks:
        extra = _extra(sink)
        try:
            require(*filter(None, [extra]), user=f"a pipeline's sink in {extra}")
        except ExtraMissing as error:
            yield LintFinding(sink.finding("", str(error)), refused=True)


def needs(pipeline: Pipeline, spark: str) -> Iterator[str]:
    """A line for each part of a pipeline that needs something beside Spark; the first one is of all pipelines.

    Args:
        pipeline: The file.
        spark: The version of PySpark.
    """
    yield f"PySpark {spark}: {', '.join(spark_modules(spark))}"
    for part in _parts(pipeline):
        words = list(_words(part, spark))
        if words:
            yield f"{part.origin.setting}: {', '.join(words)}"


def _words(part: Section, spark: str) -> Iterator[str]:
    name, database, extra = format_of(part), jdbc_database(part), _extra(part)
    if name is not None:
        yield table_format_problem([name], spark) or TABLE_FORMATS[name][spark_line(spark)]
    if database is not None:
        yield JDBC_DRIVERS.get(database, f"the JDBC driver of {database}, in spark.jars or spark.jars.packages")
    if extra is not None:
        yield f"the extra {extra}"


def _parts(pipeline: Pipeline) -> tuple[Section, ...]:
    return (pipeline.source, *pipeline.tables.values(), *pipeline.all_sinks)


def _extra(part: Section) -> str | None:
    return SQL_EXTRAS.get(sql_database(part.url)) if isinstance(part, SqlSink) else None
