"""Whether steps make groups of rows: then fewer rows come out than go in, and none of them was dropped."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from spark_avro.pipeline.file.steps import Aggregate, Deduplicate, Python, SqlStep, Step, Window
from spark_avro.pipeline.plan_operators import plan_operators

#: The operators of Spark's plan that make groups.
_GROUPS = ("Aggregate", "Distinct", "Pivot")


def make_groups(steps: Sequence[Step], after: DataFrame, before: DataFrame) -> bool:
    """Whether steps without state make groups of rows.

    Args:
        steps: The steps.
        after: The rows after them; what `sql` and `python` do is read from Spark's plan.
        before: The rows before them.
    """
    if any(isinstance(step, Window | Aggregate) for step in steps):
        return True
    if not any(isinstance(step, SqlStep | Python) for step in steps):
        return False
    # In a batch, deduplicate is a group that keeps some of its rows: the others are dropped.
    own = sum(isinstance(step, Deduplicate) for step in steps)
    return _groups(after) - _groups(before) > own


def _groups(rows: DataFrame) -> int:
    operators = plan_operators(rows)
    return sum(operators[name] for name in _GROUPS)
