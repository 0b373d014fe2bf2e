"""Steps that Spark has no streaming operator for, and the columns that expressions use, both asked of Spark itself."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from magicbyte.kit.failure import Failure
from magicbyte.kit.settings.section import Section
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.file.steps import Step
from spark_avro.pipeline.plan_operators import plan_operators

_CHECKER = "org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker"
_MODE = "org.apache.spark.sql.streaming.OutputMode"

#: Spark's name of an operator that remembers rows -> what to write instead.
_REMEMBERING = {
    "Aggregate": "write the step window, or aggregate",
    "Deduplicate": "write the step deduplicate",
    "DeduplicateWithinWatermark": "write the step deduplicate",
    "Distinct": "write the step deduplicate, which forgets keys after a time",
    "GlobalLimit": "write where, or sample",
    "FlatMapGroupsWithState": "write a step of this file",
    "FlatMapGroupsInPandasWithState": "write a step of this file",
    "TransformWithStateInPySpark": "write a step of this file",
    "TransformWithStateInPandas": "write a step of this file",
}
#: The part of an SQL text that failed, in an error of Spark's.
_FRAGMENT = re.compile(r"== SQL[^=]*==\n(.+)\n")
#: An error class of Spark's, such as [CAST_INVALID_INPUT], and the rest of its line.
_ERROR_CLASS = re.compile(r"\[[A-Z][A-Z_0-9]+(\.[A-Z_0-9]+)*\] .*")

#: A part of Spark's reason -> what to write instead.
_INSTEAD = {
    "NON_TIME_WINDOW": "write deduplicate for the first row of a key, or window for aggregates over time",
    "Sorting": "leave the order to whoever reads the target",
    "LIMIT": "write where, or sample",
    "imit": "write where, or sample",
    "Distinct aggregation": "write approx_count_distinct(x), or deduplicate before the window",
    "DISTINCT": "write deduplicate, which forgets keys after a time",
    "watermark": "write window with time and late",
    "Append output mode": "write window with time and late, or the step aggregate",
    "writeStream": "a function may not count or collect rows of a stream; return a DataFrame",
}


def check_streaming(before: DataFrame, rows: DataFrame, step: Step, mode: str, *, remembers: bool) -> None:
    """Ask Spark whether it can run a plan as a stream.

    Args:
        before: The rows before the step.
        rows: The rows after it.
        step: The step.
        mode: Spark's output mode.
        remembers: Whether the step may remember rows.

    Raises:
        PipelineError: it cannot; names the step, Spark's reason and what to write instead.
    """
    if not rows.isStreaming:
        raise step.error("", "the rows are no stream after this step; return the rows that the function was given")
    session: Any = rows.sparkSession
    jvm = session._jvm  # noqa: SLF001 - PySpark's way to Spark's own check
    mode_class = _named(jvm, _MODE)
    output_mode = mode_class.Update() if mode == "update" else mode_class.Append()
    plan = rows._jdf.queryExecution().analyzed()  # noqa: SLF001
    try:
        _named(jvm, _CHECKER).checkForStreaming(plan, output_mode)
    except AnalysisException as error:
        raise refusal(step, error) from None
    if not remembers:
        _check_no_state(before, rows, step)


def _check_no_state(before: DataFrame, rows: DataFrame, step: Step) -> None:
    """Refuse a step whose SQL or function would remember rows for ever, which Spark allows.

    Raises:
        PipelineError: the step has such an operator.
    """
    nodes = [plan_operators(frame) for frame in (before, rows)]
    for node, instead in _REMEMBERING.items():
        if nodes[1][node] > nodes[0][node]:
            raise step.error(
                "", f"not possible in a pipeline that remembers rows: {node} would keep state here; {instead}"
            )
    joins, reads = (nodes[1][name] - nodes[0][name] for name in ("Join", "StreamingRelationV2"))
    if joins > 0 and reads > 0:
        raise step.error(
            "", "not possible in a pipeline that remembers rows: a join of this with itself; write join with a stream"
        )


def refusal(step: Step, error: AnalysisException) -> PipelineError:
    """The error of a step that Spark refuses in a stream."""
    reason = str(error).split(";", 1)[0].split("\n", 1)[0].strip().rstrip(".")
    instead = next((advice for part, advice in _INSTEAD.items() if part in reason), "")
    return step.error("", f"not possible in a pipeline that remembers rows: {reason}{'; ' if instead else ''}{instead}")


def reads_of(rows: DataFrame) -> int:
    """Count the reads of streams in a plan."""
    leaves = rows._jdf.queryExecution().analyzed().collectLeaves()  # noqa: SLF001
    return sum(bool(leaves.apply(place).isStreaming()) for place in range(leaves.size()))


def references(rows: DataFrame, items: Sequence[Sql]) -> Collection[str]:
    """The columns that expressions use."""
    grouped = rows.groupBy().agg(
        F.lit(1).alias("one_"), *(F.expr(item.text) for item in items if _aggregates(rows, item))
    )
    selected = rows.select(
        F.lit(1).alias("one_"), *(F.expr(item.text) for item in items if not _aggregates(rows, item))
    )
    return {name for frame in (grouped, selected) for name in _names(frame)}


def _aggregates(rows: DataFrame, item: Sql) -> bool:
    """Whether an expression has an aggregate function, which Spark does not take in a selection beside columns."""
    plan = rows.select(F.expr(item.text))._jdf.queryExecution().analyzed()  # noqa: SLF001
    return str(plan.nodeName()) == "Aggregate"


def _names(frame: DataFrame) -> list[str]:
    names = frame._jdf.queryExecution().analyzed().references().iterator()  # noqa: SLF001
    found = []
    while names.hasNext():
        found.append(str(names.next().name()))
    return found


def _named(jvm: Any, name: str) -> Any:
    for part in name.split("."):
        jvm = getattr(jvm, part)
    return jvm


class StepFailed(Failure):
    """A step failed with rows that are no longer those of single records."""


def with_position(error: Exception, sections: Sequence[Section]) -> Exception:
    """An error of Spark's with the place of the step or check whose SQL failed; without a place if no SQL matches."""
    found = _FRAGMENT.search(str(error))
    fragment = found[1].strip() if found is not None else ""
    for section in sections if fragment else ():
        if any(fragment in item.text for item in _sql_of(section)):
            # The error of Spark 3.5 begins with the call that failed.
            found = _ERROR_CLASS.search(str(error))
            reason = found[0] if found is not None else str(error).split("\n", 1)[0]
            return StepFailed(f"{section.origin.place}: {section.origin.setting}: {reason}")
    return error


def _sql_of(section: Section) -> Iterator[Sql]:
    for item in dataclasses.fields(section):
        value = getattr(section, item.name)
        yield from (part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, Sql))
