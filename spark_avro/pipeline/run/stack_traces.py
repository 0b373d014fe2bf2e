"""Spark's and py4j's stack traces of errors that the run reports itself, in one line."""

from __future__ import annotations

import logging
from typing import Any

from pyspark.sql import SparkSession

#: The property that a file sets to see all of Spark's log.
LOG_LEVEL = "spark.log.level"

_STREAMING = "org.apache.spark.sql.execution.streaming"
#: Loggers of the JVM that only repeat an error: Spark also raises it in the driver, where the run reports it.
_LOGGERS = (
    f"{_STREAMING}.MicroBatchExecution",
    f"{_STREAMING}.runtime.MicroBatchExecution",  # its name from Spark 4.1 on
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.sql.execution.datasources.FileFormatWriter",
)
#: Logger of Python -> the begin of its message: the error of a batch, which `Running` keeps, and a stop signal.
_MESSAGES = {
    "py4j.clientserver": "There was an exception while executing the Python Proxy",
    "py4j.java_gateway": "There was an exception while executing the Python Proxy",
    "root": "KeyboardInterrupt while sending command",
}


def hide_stack_traces(spark: SparkSession) -> None:
    """Silence the loggers that repeat the errors of a run with their stack traces; other errors stay visible."""
    log4j: Any = spark._jvm.org.apache.logging.log4j  # noqa: SLF001 - PySpark's way to it
    for name in _LOGGERS:
        log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)
    for name, message in _MESSAGES.items():
        logging.getLogger(None if name == "root" else name).addFilter(_Without(message))


class _Without(logging.Filter):
    """Leaves out the records whose message begins with a text."""

    def __init__(self, begin: str) -> None:
        super().__init__()
        self._begin = begin

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written."""
        return not str(record.msg).startswith(self._begin)
