"""The table of steps with their functions, and the function that carries rows through all steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame

from spark_avro.pipeline.file.steps import (
    Aggregate,
    Cast,
    Deduplicate,
    Drop,
    Explode,
    Flatten,
    Headers,
    Join,
    Key,
    Mask,
    Python,
    Rename,
    Sample,
    Select,
    SqlStep,
    Step,
    Unwrap,
    Where,
    Window,
    remembers,
)
from spark_avro.pipeline.ports import EVENT_TIME
from spark_avro.pipeline.steps.fields import cast, drop, explode, flatten, rename
from spark_avro.pipeline.steps.joining import join, python
from spark_avro.pipeline.steps.mask import mask
from spark_avro.pipeline.steps.records import headers, key, sample, unwrap
from spark_avro.pipeline.steps.sql import select, sql, where
from spark_avro.pipeline.steps.stateful import aggregate, deduplicate_batch, deduplicate_stream, window
from spark_avro.pipeline.steps.step import StepContext, StepKind

_ROWS = (
    StepKind(Select, select, keeps_rows=True),
    StepKind(Where, where),
    StepKind(SqlStep, sql, is_local=False, may_mix=True),
    StepKind(Cast, cast, keeps_rows=True),
    StepKind(Rename, rename, keeps_rows=True),
    StepKind(Drop, drop, keeps_rows=True),
    StepKind(Flatten, flatten, keeps_rows=True),
    StepKind(Explode, explode),
    StepKind(Mask, mask, keeps_rows=True),
    StepKind(Unwrap, unwrap),
    StepKind(Key, key, keeps_rows=True),
    StepKind(Headers, headers, keeps_rows=True),
    StepKind(Sample, sample),
    StepKind(Deduplicate, deduplicate_batch, deduplicate_stream, is_local=False),
    StepKind(Window, window, is_local=False),
    StepKind(Aggregate, aggregate, is_local=False),
    StepKind(Join, join, is_local=False),
    StepKind(Python, python, is_local=False, may_mix=True),
)

#: Section of the file -> the step's properties and function.
STEP_KINDS: dict[type[Any], StepKind] = {row.spec: row for row in _ROWS}


def apply_steps(rows: DataFrame, steps: Sequence[Step], context: StepContext) -> DataFrame:
    """The rows after all steps.

    Raises:
        PipelineError: a path or expression does not fit the columns; names the place in the file.
    """
    for step in steps:
        rows = STEP_KINDS[type(step)].plan(rows, step, context)
    return rows.drop(EVENT_TIME)


def keeps_rows(steps: Sequence[Step]) -> bool:
    """Whether each row in is one row out of all steps."""
    return all(STEP_KINDS[type(step)].keeps_rows for step in steps)


def are_local(steps: Sequence[Step]) -> bool:
    """Whether no step looks at other rows."""
    return all(STEP_KINDS[type(step)].is_local for step in steps)


def of_one_record(steps: Sequence[Step]) -> bool:
    """Whether each row out of all steps is made of one row in, and perhaps of tables."""
    return not any(remembers(step) or STEP_KINDS[type(step)].may_mix for step in steps)


def before_state(steps: Sequence[Step]) -> Sequence[Step]:
    """The steps before the first one that remembers rows."""
    first = next((number for number, step in enumerate(steps) if remembers(step)), len(steps))
    return steps[:first]
