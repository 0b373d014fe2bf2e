"""A Delta or Iceberg table of a test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import Any

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.sinks import DeltaSink, IcebergSink
from spark_avro.pipeline.ports import SinkContext
from spark_avro.pipeline.sinks import open_sink
from tests.spark.pipeline.sinks.recorded_sink import RecordedSink


class Lake:
    """A table of one of the formats."""

    def __init__(self, kind: str, folder: Path, spark: SparkSession, context: Callable[..., SinkContext]) -> None:
        self.kind, self.folder = kind, folder
        self.table = f"delta.`{folder}/t`" if kind == "delta" else f"{folder.name.replace('-', '_')}.db.t"
        self._spark, self._context = spark, context

    def sink(self, settings: dict[str, Any] | None = None, **spec: Any) -> Any:
        if self.kind == "delta":
            section: Any = DeltaSink(path=f"{self.folder}/t", **spec)
        else:
            catalog = {"type": "hadoop", "warehouse": f"{self.folder}/warehouse"}
            section = IcebergSink(table=self.table, catalog=catalog, **spec)
        return RecordedSink(open_sink(section, self._context(**(settings or {}))))

    def append_by_hand(self, n: int) -> None:
        rows = self._spark.createDataFrame([(n,)], "n bigint")
        if self.kind == "delta":
            rows.write.format("delta").mode("append").save(f"{self.folder}/t")
        else:
            rows.writeTo(self.table).append()

    def expire_snapshots(self) -> None:
        """Expire all snapshots but the last; those with a tag or branch stay."""
        catalog = self.table.partition(".")[0]
        which = "table => 'db.t', older_than => TIMESTAMP '2999-01-01', retain_last => 1"
        self._spark.sql(f"CALL {catalog}.system.expire_snapshots({which})")

    def beside(self, suffix: str) -> str:
        """The name in SQL of a table beside it."""
        return f"delta.`{self.folder}/t{suffix}`" if self.kind == "delta" else f"{self.table}{suffix}"

    def rows_of_beside(self, suffix: str) -> int | None:
        """The number of rows in a table beside it; None if there is no such table."""
        is_there = (self.folder / f"t{suffix}").exists()
        if self.kind == "iceberg":
            is_there = self._spark.catalog.tableExists(self.beside(suffix))
        return self._spark.table(self.beside(suffix)).count() if is_there else None

    def drop(self) -> None:
        """Drop the table, and leave those beside it."""
        if self.kind == "delta":
            rmtree(self.folder / "t")
        else:
            self._spark.sql(f"DROP TABLE {self.table} PURGE")

    def rows(self, *columns: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(row) for row in self._spark.table(self.table).select(*columns).collect())

    def types(self) -> dict[str, str]:
        return dict(self._spark.table(self.table).dtypes)
