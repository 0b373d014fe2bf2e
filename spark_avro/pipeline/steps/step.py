"""A step's row in the table of steps, and the resources that a step may use besides its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from spark_avro.pipeline.file.source import Table
from spark_avro.pipeline.file.steps import Step
from spark_avro.pipeline.sources.others import read_table

#: Columns that a step passes on, even if it does not name them.
PASSED_ON = ("_kafka", "_key", "_headers")


@dataclass(slots=True)
class StepContext:
    """The resources that steps may use while they are applied to a batch.

    Attributes:
        spark: The batch's session.
        tables: The tables of the file by name.
        state: Keeps the rows that a step remembers; None while only columns are worked out.
    """

    spark: SparkSession
    tables: Mapping[str, Table] = field(default_factory=dict)
    state: Any = None
    _read: dict[str, DataFrame] = field(default_factory=dict)

    def table(self, name: str) -> DataFrame:
        """A table as it is at this batch, read once for all steps."""
        if name not in self._read:
            self._read[name] = read_table(self.spark, self.tables[name])
        return self._read[name]


@dataclass(frozen=True, slots=True)
class StepKind:
    """A row of the table of steps.

    Attributes:
        spec: The step's section in the file.
        apply: Takes rows, the section and the context; returns rows.
        keeps_rows: Whether each row in is one row out.
        is_local: Whether a row's result depends on no other row, so that a row that fails can be found.
    """

    spec: type[Step]
    apply: Callable[[DataFrame, Any, StepContext], DataFrame]
    keeps_rows: bool = False
    is_local: bool = True


def passed_on(rows: DataFrame) -> list[str]:
    """The columns of the rows that every step passes on."""
    return [name for name in PASSED_ON if name in rows.columns]
