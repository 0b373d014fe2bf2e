"""The checkpoints of pipelines, read without Spark if possible: starting its JVM takes about ten seconds."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from magicbyte.cli.pipeline.outcome import PROGRAM
from magicbyte.cli.pipeline.session import pipeline_session
from magicbyte.kit.secret import hide_user_info
from serdes.console.outcome import tell

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_avro.pipeline.file.pipeline import Pipeline
    from spark_avro.pipeline.folder import ReadableFolder

_HADOOP = "spark.hadoop."


def checkpoint_folders(master: str, sessions: ExitStack) -> Callable[[Pipeline], ReadableFolder]:
    """A function that returns the checkpoint of a pipeline.

    It reads checkpoints on this machine, and most of those in S3, without Spark. For others it starts one session, and
    says so on stderr.

    Args:
        master: Where Spark runs.
        sessions: Ends the session.
    """
    #: Hadoop's properties before the last pipeline set its own.
    before: dict[str, str | None] = {}

    def folder_of(pipeline: Pipeline) -> ReadableFolder:
        from spark_avro.pipeline.local_folder import local_checkpoint  # noqa: PLC0415 - after the check for PySpark
        from spark_avro.pipeline.s3_folder import s3_checkpoint  # noqa: PLC0415

        return local_checkpoint(pipeline) or s3_checkpoint(pipeline) or _of_hadoop(pipeline, master, sessions, before)

    return folder_of


def _of_hadoop(pipeline: Pipeline, master: str, sessions: ExitStack, before: dict[str, str | None]) -> ReadableFolder:
    from spark_avro.pipeline.folder import Folder  # noqa: PLC0415 - with Spark

    own = {name: value for name, value in pipeline.spark.items() if name.startswith(_HADOOP)}
    # The session stays for other pipelines, whose file systems have other endpoints and credentials.
    others = {name: value for name, value in pipeline.spark.items() if name not in own}
    spark = _session(replace(pipeline, spark=others), master, sessions)
    configuration = spark._jsc.hadoopConfiguration()  # noqa: SLF001 - PySpark's way to it
    for name, former in before.items():
        if former is None:
            configuration.unset(name)
        else:
            configuration.set(name, former)
    before.clear()
    for name, value in own.items():
        key = name.removeprefix(_HADOOP)
        before[key] = configuration.getRaw(key)
        configuration.set(key, value)
    return Folder(spark, pipeline.checkpoint)


def _session(pipeline: Pipeline, master: str, sessions: ExitStack) -> SparkSession:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - starts slowly

    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    path = hide_user_info(pipeline.checkpoint)
    tell(PROGRAM, f"{path}: starts Spark to read this checkpoint, which needs Hadoop's file systems or settings")
    return sessions.enter_context(pipeline_session(pipeline, master))
