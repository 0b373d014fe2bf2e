"""A statement whose Iceberg snapshot gets properties: unlike a writer, MERGE has no options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession


def commit_with(session: SparkSession, statement: str, properties: Mapping[str, str]) -> None:
    """Run a statement in the session; the snapshots that it makes get the properties in their summaries."""
    ensure_callback_server_started(session.sparkContext._gateway)  # noqa: SLF001 - no public function has it
    jvm: Any = session._jvm  # noqa: SLF001 - Iceberg's Java API
    call = _Statement(session, statement)
    values = jvm.java.util.HashMap()
    for name, value in properties.items():
        values.put(name, value)
    failure = jvm.java.lang.Class.forName("java.lang.RuntimeException")
    # Iceberg keeps the properties for this thread, on which the statement is called and commits.
    jvm.org.apache.iceberg.spark.CommitMetadata.withCommitProperties(values, call, failure)
    if call.error is not None:
        raise call.error


class _Statement:
    """A statement as Java's Callable; it keeps its error, because Java would replace it by one without the class."""

    def __init__(self, session: SparkSession, text: str) -> None:
        self._session, self._text = session, text
        self.error: BaseException | None = None

    def call(self) -> None:
        try:
            self._session.sql(self._text)
        except BaseException as error:  # noqa: BLE001 - raised by `commit_with`
            self.error = error

    class Java:
        implements = ["java.util.concurrent.Callable"]  # noqa: RUF012 - py4j reads it
