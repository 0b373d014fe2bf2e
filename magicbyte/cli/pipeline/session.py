"""The Spark session of a command, and the pipeline of its file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from magicbyte.kit.extras import require
from serdes.console.outcome import BAD_USAGE, Ended
from serdes.error import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from magicbyte.kit.settings.kinds import Scalar
    from spark_avro.pipeline.file.pipeline import Pipeline


def read_file(options: argparse.Namespace) -> Pipeline:
    """The pipeline of a command's file.

    Raises:
        PipelineError: the file is wrong.
    """
    require("spark", user="`magicbyte pipeline`", modules=("yaml", "pyspark"))
    from spark_avro.pipeline.file.reading import read_pipeline  # noqa: PLC0415 - after the check for YAML

    return read_pipeline(options.file, name=options.name, overrides=options.overrides)


@contextmanager
def pipeline_session(pipeline: Pipeline, master: str) -> Iterator[SparkSession]:
    """A session with the modules that the pipeline names, stopped at the end; or the running one, which stays.

    Errors have one line, unless the file sets `spark.log.level`: then Spark logs as it is told.
    """
    from pyspark.sql import SparkSession  # noqa: PLC0415 - starts slowly

    from spark_avro import session  # noqa: PLC0415
    from spark_avro.pipeline.modules import jdbc_drivers, table_formats  # noqa: PLC0415
    from spark_avro.pipeline.run.stack_traces import LOG_LEVEL, hide_stack_traces  # noqa: PLC0415

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    settings = {LOG_LEVEL: "ERROR", **pipeline.spark}
    formats, drivers = table_formats(pipeline), jdbc_drivers(pipeline)
    spark = session(pipeline.name, master=master, settings=settings, formats=formats, drivers=drivers)
    if LOG_LEVEL not in pipeline.spark:
        hide_stack_traces(spark)
    try:
        yield spark
    finally:
        spark.stop()


def time_of(text: str | None) -> datetime | None:
    """The time of an option in ISO 8601 or milliseconds since 1970; UTC if it names no zone.

    Raises:
        Ended: it is not a time.
    """
    if text is None:
        return None
    try:
        if text.isdecimal():
            return datetime.fromtimestamp(int(text) / 1000, UTC)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Ended(BAD_USAGE, f"{text!r} is no time; write 2026-01-01T00:00:00Z") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def converted(option: str, text: str | None, kind: Scalar, expected: str) -> Any:
    """The value of an option; None if it is not given.

    Raises:
        ConfigError: it is not of this kind.
    """
    try:
        return None if text is None else kind.convert(text)
    except ValueError:
        raise ConfigError(option, f"must be {expected}, not {text!r}") from None
