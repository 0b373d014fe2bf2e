"""Aggregates over rows, made by the job that writes them instead of by a job of its own."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pyspark
from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, Observation

#: Seconds to wait for the aggregates after their job; Spark reports them from another thread.
_PATIENCE = 10
_HAS_FUTURE = int(pyspark.__version__.partition(".")[0]) >= 4


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
        java: Any = self._observation._jo  # noqa: SLF001 - PySpark's `get` waits for ever, and copies the map by 70 calls
        is_reported = self._wait_for_future(java) if _HAS_FUTURE else _wait_for_metrics(java)
        if not is_reported:
            return None
        values = java.getAsJava()
        return {name: values.get(name) for name in names}

    def _wait_for_future(self, java: Any) -> bool:
        jvm = self._session._jvm  # noqa: SLF001 - as above
        assert jvm is not None
        patience = jvm.scala.concurrent.duration.Duration.create(f"{_PATIENCE} seconds")
        try:
            jvm.scala.concurrent.Await.ready(java.future(), patience)
        except Py4JJavaError:
            return False
        return True


def _wait_for_metrics(java: Any) -> bool:
    """Wait for an observation of Spark 3.5, which has no future, and whose own methods wait for ever."""
    metrics = java.getClass().getDeclaredField("metrics")
    metrics.setAccessible(True)
    deadline = time.monotonic() + _PATIENCE
    while not metrics.get(java).isDefined():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
