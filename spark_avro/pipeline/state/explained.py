"""The lines of `explain` on steps that remember rows: kept rows, the watermark, and the inputs that can hold it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from magicbyte.kit.settings.kinds import duration
from spark_avro.pipeline.batch.prepared import Opened
from spark_avro.pipeline.file.policies import Check
from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.file.state_rules import delay_of
from spark_avro.pipeline.file.steps import Aggregate, Deduplicate, Join, Window
from spark_avro.pipeline.state.fixed_columns import KeptColumns
from spark_avro.pipeline.state.operators import operators_of
from spark_avro.pipeline.state.plan import StreamPlan
from spark_avro.pipeline.state.progress import inputs_of
from spark_avro.pipeline.state.settings import PARTITIONS, PROVIDER, state_settings


def _span(span: timedelta) -> str:
    return str(duration().written(span))


def _of_topic(step: Join) -> str:
    values = f"the newest value of each key of {step.topic}, until the key is deleted: it grows with the number of keys"
    return values if step.wait is None else f"{values}; and rows without a match, for {_span(step.wait)}"


#: Section -> what its state has.
_KEEPS: Mapping[type[Section], Callable[[Any], str]] = {
    Deduplicate: lambda _step: "each key, until the watermark is the time below after its first row",
    Window: lambda step: "one row for each group of an open " + ("session" if step.session is not None else "window"),
    Aggregate: lambda _step: "one row for each group, for ever: it grows with the number of groups",
    Join: lambda step: (
        _of_topic(step)
        if step.topic is not None
        else f"the rows of both sides, until the watermark is {_span(step.within)} after them"
    ),
    Check: lambda _check: "each key, until the watermark is the time below after its first row",
}


def state_words(opened: Opened) -> list[str]:
    """Lines on the state of a pipeline; none if its steps remember nothing.

    Raises:
        PipelineError: Spark has no streaming operator for a step; names the step and what to write instead.
    """
    pipeline = opened.pipeline
    operators = operators_of(pipeline)
    if not operators:
        return []
    stream = opened.source.stream()
    if stream is None:
        return ["state: none; the source is read once, and steps remember nothing between runs"]
    StreamPlan(opened, KeptColumns()).frame(stream)
    lines = [
        f"state: {operator.place} keeps {_KEEPS[type(operator.section)](operator.section)}" for operator in operators
    ]
    settings = state_settings(opened.spark, pipeline.spark)
    provider = settings[PROVIDER].rpartition(".")[2].removesuffix("StateStoreProvider")
    lines.append(f"state: by {provider}, in {settings[PARTITIONS]} partitions if the checkpoint is new")
    inputs = inputs_of(pipeline)
    if inputs:
        lines.append(
            f"watermark: the newest time less {_span(delay_of(pipeline.steps, pipeline.quality))}, the longest that a"
            " step asks for; rows that come later are left out and counted as late"
        )
    if len(inputs) > 1:
        names = ", ".join(name for name, _ in inputs)
        lines.append(f"watermark: the slowest of {names} holds it; one without new records holds it where it is")
    return lines
