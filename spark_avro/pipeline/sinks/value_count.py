"""Counts of values, made by the job that writes the rows instead of by a job of its own."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.observed import Observed


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
        self._observed = Observed(rows, self._counts)
        self.rows = self._observed.rows

    def result(self) -> tuple[int, ...]:
        """The count of each column, after the rows are written; counts them again if Spark does not report it."""
        counts = self._observed.result([str(number) for number in range(len(self._counts))])
        if counts is None:
            return tuple(map(int, self._uncounted.agg(*self._counts).collect()[0]))
        return tuple(map(int, counts.values()))
