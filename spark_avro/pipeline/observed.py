"""Aggregates over rows, made by the job that writes them instead of by a job of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, Observation

#: Seconds to wait for the aggregates after their job; Spark reports them from another thread.
_PATIENCE = 10


class Observed:
    """Computes aggregates while the rows pass.

    In the last stage of a job they are exact. A task of an earlier stage may run again and add its rows twice.

    Attributes:
        rows: The rows to write; aggregates of their first job are reported.
    """

    def __init__(self, rows: DataFrame, aggregates: Sequence[Column]) -> None:
        self._session = rows.sparkSession
        self._observation = Observation()
        self.rows = rows.observe(self._observation, *aggregates)

    def result(self, names: Sequence[str]) -> Mapping[str, Any] | None:
        """Some of the aggregates after the job; None if Spark does not report them."""
        jvm = self._session._jvm  # noqa: SLF001 - PySpark's `get` waits for ever
        assert jvm is not None
        patience = jvm.scala.concurrent.duration.Duration.create(f"{_PATIENCE} seconds")
        try:
            jvm.scala.concurrent.Await.ready(self._observation._jo.future(), patience)  # noqa: SLF001 - as above
        except Py4JJavaError:
            return None
        values = self._observation._jo.getAsJava()  # noqa: SLF001 - `get` copies the map by 70 calls
        return {name: values.get(name) for name in names}
