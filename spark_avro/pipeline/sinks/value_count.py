"""Counts of values, made by the job that writes the rows instead of by a job of its own."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812 - its usual name

#: Seconds to wait for a count after its job; Spark reports it from another thread.
_PATIENCE = 10


class ValueCount:
    """Counts the values of columns that are not NULL while the rows pass.

    In the last stage of a job the count is exact. A task of an earlier stage may run again and count its rows twice, so
    there the count only tells zero from more.

    Attributes:
        rows: The rows to write.
    """

    def __init__(self, rows: DataFrame, *columns: Column) -> None:
        self._uncounted = rows
        self._counts = [F.count(column).alias(str(number)) for number, column in enumerate(columns)]
        self._observation = Observation()
        self.rows = rows.observe(self._observation, *self._counts)

    def result(self) -> tuple[int, ...]:
        """The count of each column, after the rows are written; counts them again if Spark does not report it."""
        jvm = self._uncounted.sparkSession._jvm  # noqa: SLF001 - PySpark's `get` waits for ever
        assert jvm is not None
        patience = jvm.scala.concurrent.duration.Duration.create(f"{_PATIENCE} seconds")
        try:
            jvm.scala.concurrent.Await.ready(self._observation._jo.future(), patience)  # noqa: SLF001 - as above
        except Py4JJavaError:
            return tuple(map(int, self._uncounted.agg(*self._counts).collect()[0]))
        counts = self._observation._jo.getAsJava()  # noqa: SLF001 - `get` copies the map by 70 calls
        return tuple(int(counts.get(str(number))) for number in range(len(self._counts)))
