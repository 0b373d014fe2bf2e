"""The operators of a pipeline that remember rows, and whether a checkpoint's state fits them.

Spark compares the types of keys and values, and 4.0 the names of the operators, when the first batch reads the state.
It takes a window of another size, another column of the same type and another aggregate of the same type, and reads the
state as theirs. So the comparison is ours, before the first batch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any

from magicbyte.kit.settings.kinds import duration
from magicbyte.kit.settings.place import Finding
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.place import NOWHERE, PipelineError
from spark_avro.pipeline.file.policies import Check
from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.file.steps import Aggregate, Deduplicate, Join, Window, remembers
from spark_avro.pipeline.folder import Folder

FILE = "_magicbyte/state.json"
#: What every refusal ends with.
WAY_OUT = (
    "Run once with --new-state: Spark then begins with empty state at the offsets that are committed, and the windows"
    " that are open now will be incomplete"
)


def _texts(items: Sequence[Any]) -> list[str]:
    return [str(item) for item in items]


def _span(span: timedelta | None) -> str:
    return "not given" if span is None else str(duration().written(span))


def _of_stream(step: Join) -> dict[str, Any]:
    return {
        "stream": step.stream,
        "on": _texts(step.condition) if isinstance(step.condition, tuple) else str(step.condition),
        "within": _span(step.within),
        "how": step.how,
    }


def _of_topic(step: Join) -> dict[str, Any]:
    # The state has each key with its value, and rows only if these wait. How long they wait may change.
    return {
        "topic": step.topic,
        "on": _texts(step.condition) if isinstance(step.condition, tuple) else str(step.condition),
        "wait": "not given" if step.wait is None else "given",
    }


#: Section -> what its state depends on. Other settings, such as `late`, may change between runs.
_IDENTITIES: Mapping[type[Section], Callable[[Any], dict[str, Any]]] = {
    Deduplicate: lambda step: {"by": _texts(step.by)},
    Window: lambda step: {
        "size": _span(step.size),
        "slide": _span(step.slide if step.slide != step.size else None),
        "session": _span(step.session),
        "group": _texts(step.group),
        "aggregate": _texts(step.aggregate),
        "emit": step.emit,
    },
    Aggregate: lambda step: {"group": _texts(step.group), "aggregate": _texts(step.aggregate)},
    Join: lambda step: _of_topic(step) if step.topic is not None else _of_stream(step),
    Check: lambda check: {"unique": _texts(check.unique.key)},
}


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator that remembers rows.

    Attributes:
        section: Its section in the file, a step or a check.
        kind: Its name in the file.
        identity: The settings that its state depends on.
    """

    section: Section = field(repr=False, compare=False)
    kind: str
    identity: Mapping[str, Any]

    @property
    def place(self) -> str:
        """Its setting's path, such as `steps[2].window`."""
        return self.section.origin.setting


def operators_of(pipeline: Pipeline) -> tuple[Operator, ...]:
    """The operators of a pipeline that remember rows, in the order of their rows."""
    return tuple(_operators(pipeline))


def _operators(pipeline: Pipeline) -> Iterator[Operator]:
    for step in pipeline.steps:
        if remembers(step):
            yield Operator(step, type(step).__name__.lower(), _IDENTITIES[type(step)](step))
    for check in pipeline.quality:
        if check.remembered_for is not None:
            yield Operator(check, "unique", _IDENTITIES[Check](check))


@dataclass(frozen=True, slots=True)
class StateRecord:
    """The record of a checkpoint's state, made when its query begins.

    Attributes:
        operators: Kind and identity of each operator.
        steps: A digest of the source and all steps.
        columns: The columns that each operator keeps, with their types in Spark's JSON, by the operator's number.
        provider: The class that keeps the state.
        partitions: The number of partitions of the state.
        spark: The version of Spark that wrote the first batch.
    """

    operators: Sequence[Mapping[str, Any]]
    steps: str
    columns: Mapping[str, Mapping[str, str]]
    provider: str
    partitions: int
    spark: str

    @staticmethod
    def read(folder: Folder) -> StateRecord | None:
        """The record of a query's folder; None if the query has no state."""
        text = folder.read(FILE)
        return None if text is None else StateRecord(**json.loads(text))

    def write(self, folder: Folder) -> None:
        """Note the state of a query that begins."""
        folder.replace(FILE, json.dumps(asdict(self)))


def digest_of_steps(pipeline: Pipeline) -> str:
    """A digest of what decides the columns of the rows, besides the schemas of the records."""
    last = max((number for number, step in enumerate(pipeline.steps) if remembers(step)), default=-1)
    decoding = [(name, part.value, part.key, part.records) for name, part in pipeline.parts]
    return hashlib.sha256(repr((decoding, pipeline.steps[: last + 1])).encode()).hexdigest()[:16]


def described(operators: Sequence[Operator]) -> list[dict[str, Any]]:
    """Operators as a record has them."""
    return [{"kind": operator.kind, **operator.identity} for operator in operators]


def check_state(record: StateRecord | None, operators: Sequence[Operator], checkpoint: str) -> None:
    """Compare the state of a checkpoint that has batches with the operators of the file.

    Args:
        record: The record of the checkpoint; None if it has no state.
        operators: The operators.
        checkpoint: Its folder, for the message.

    Raises:
        PipelineError: the state does not fit; names the place in the file, what changed, and the way out.
    """
    before = [] if record is None else list(record.operators)
    now = described(operators)
    if before == now:
        return
    findings = list(_changes(before, now, operators, checkpoint))
    raise PipelineError(findings)


def _changes(
    before: Sequence[Mapping[str, Any]],
    now: Sequence[Mapping[str, Any]],
    operators: Sequence[Operator],
    checkpoint: str,
) -> Iterator[Finding]:
    for number, operator in enumerate(operators):
        if number >= len(before):
            problem = f"the checkpoint {checkpoint} has no state of this {operator.kind}"
        elif before[number]["kind"] != operator.kind:
            problem = (
                f"the checkpoint {checkpoint} has the state of another step, {before[number]['kind']}, in its place"
            )
        elif before[number] != now[number]:
            names = [name for name in now[number] if before[number].get(name) != now[number][name]]
            changed = ", ".join(f"{name} was {_shown(before[number].get(name))}" for name in names)
            problem = f"{changed}, which the state in the checkpoint {checkpoint} depends on"
        else:
            continue
        yield operator.section.finding("", f"{problem}. {WAY_OUT}")
    if len(before) > len(operators):
        gone = ", ".join(str(item["kind"]) for item in before[len(operators) :])
        place = operators[-1].section if operators else None
        problem = f"the checkpoint {checkpoint} has the state of {gone}, which the file no longer has. {WAY_OUT}"
        yield place.finding("", problem) if place is not None else Finding(NOWHERE, "steps", problem)


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
