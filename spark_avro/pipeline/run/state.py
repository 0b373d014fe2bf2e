"""The rows that steps remember between batches: a folder for each step and batch in the checkpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from spark_avro.pipeline.folder import Folder

_FOLDER = "_magicbyte/state"


@dataclass(frozen=True, slots=True)
class BatchState:
    """The state that a batch reads and leaves; a repeated batch reads the same.

    Attributes:
        spark: The batch's session.
        folder: The checkpoint.
        number: The number of the batch.
    """

    spark: SparkSession
    folder: Folder
    number: int

    def before(self, step: str) -> DataFrame | None:
        """The rows that the last batch before this one left for a step; None if there are none."""
        numbers = [number for number in self._numbers(step) if number < self.number]
        if not numbers:
            return None
        return self.spark.read.parquet(f"{self.folder.path}/{_path(step)}/{max(numbers)}")

    def leave(self, step: str, rows: DataFrame) -> None:
        """Keep rows for the next batch, and delete the rows that no repeated batch can need."""
        rows.write.mode("overwrite").parquet(f"{self.folder.path}/{_path(step)}/{self.number}")
        before = [number for number in self._numbers(step) if number < self.number]
        for number in sorted(before)[:-2]:
            self.folder.delete(f"{_path(step)}/{number}")

    def _numbers(self, step: str) -> list[int]:
        return [int(name) for name in self.folder.names(_path(step)) if name.isdecimal()]


def _path(step: str) -> str:
    return f"{_FOLDER}/{re.sub('[^A-Za-z0-9]+', '-', step)}"
