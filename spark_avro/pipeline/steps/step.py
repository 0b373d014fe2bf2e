"""A step's row in the table of steps, and the resources that a step may use besides its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import DataType

from spark_avro.pipeline.file.steps import Join, Step
from spark_avro.pipeline.ports import EVENT_TIME, HEADERS, KEY, POSITION
from spark_avro.pipeline.steps.joined_tables import Tables

#: Columns that a step passes on, even if it does not name them.
PASSED_ON = (POSITION, KEY, HEADERS, EVENT_TIME)

#: A step's plan: takes rows, the step's section and the context; returns rows.
Apply = Callable[[DataFrame, Any, "StepContext"], DataFrame]


#: Returns the column of an operator's key in the type that its state has: operator, name, column, and type.
Key = Callable[[str, str, Column, DataType], Column]


def _no_streams(step: Join) -> DataFrame:
    raise step.error("stream", f"{step.stream} cannot be read here: these are records of one topic")


def _no_topics(step: Join) -> DataFrame:
    raise step.error("topic", f"{step.topic} cannot be read here: these are records of one topic")


def _any_type(_operator: str, _name: str, column: Column, _kind: DataType) -> Column:
    return column


@dataclass(frozen=True, slots=True)
class StepContext:
    """The resources that steps may use.

    Attributes:
        tables: The tables of the file.
        stream: Returns the records of the stream that a step joins.
        topic: Returns the records of the topic that a step joins as a table, see `topic_table.table_records`.
        delay: How late a row of the pipeline may come: Spark has one watermark for all steps.
        key: Returns the column of an operator's key in the type that its state has.
        time_needed: Why each row needs a time; empty if none does.
    """

    tables: Tables
    stream: Callable[[Join], DataFrame] = _no_streams
    topic: Callable[[Join], DataFrame] = _no_topics
    delay: timedelta = timedelta(0)
    key: Key = _any_type
    time_needed: str = ""


@dataclass(frozen=True, slots=True)
class StepKind:
    """A row of the table of steps.

    Attributes:
        spec: The step's section in the file.
        apply: The plan for rows that are all there, and for streams if there is no other.
        stream: The plan for streams, if Spark has another operator for them.
        keeps_rows: Whether each row in is one row out.
        is_local: Whether a row's result depends on no other row, so that a row that fails can be found.
        may_mix: Whether a step that remembers no rows may still make a row of several records.
    """

    spec: type[Step]
    apply: Apply
    stream: Apply | None = None
    keeps_rows: bool = False
    is_local: bool = True
    may_mix: bool = False

    def plan(self, rows: DataFrame, step: Step, context: StepContext) -> DataFrame:
        """The rows after a step."""
        apply = self.stream if self.stream is not None and rows.isStreaming else self.apply
        return apply(rows, step, context)


def passed_on(rows: DataFrame) -> list[str]:
    """The columns of the rows that every step passes on."""
    return [name for name in PASSED_ON if name in rows.columns]
