"""The tables that steps join: each is read once, kept by Spark, and read again after a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from pyspark.sql import DataFrame, SparkSession

from spark_avro.pipeline.file.source import Table
from spark_avro.pipeline.sources.other_sources import read_table


@dataclass(slots=True)
class Tables:
    """The tables of a file; `refresh` is the only method that reads again.

    Attributes:
        spark: The session.
        specs: The tables by name.
        refreshes: How long each table is used before it is read again.
        clock: The time in seconds.
    """

    spark: SparkSession
    specs: Mapping[str, Table] = field(default_factory=dict)
    refreshes: Mapping[str, timedelta] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    _read: dict[str, tuple[float, DataFrame]] = field(default_factory=dict, init=False)

    def names(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(self.specs)

    def table(self, name: str) -> DataFrame:
        """A table as it was when it was read last."""
        if name not in self._read:
            self._read[name] = (self.clock(), read_table(self.spark, self.specs[name]).persist())
        return self._read[name][1]

    def are_old(self) -> bool:
        """Whether a table that is used has to be read again."""
        return any(self._is_old(name) for name in self._read)

    def refresh(self) -> None:
        """Forget the tables that are too old; their next use reads them. Nobody may use them meanwhile."""
        for name in [name for name in self._read if self._is_old(name)]:
            self._forget(name)

    def close(self) -> None:
        """Forget all tables."""
        for name in list(self._read):
            self._forget(name)

    def _is_old(self, name: str) -> bool:
        return self.clock() - self._read[name][0] >= self.refreshes[name].total_seconds()

    def _forget(self, name: str) -> None:
        _, rows = self._read.pop(name)
        rows.unpersist()
