"""Reads the figures of a pipeline from the Prometheus text of its metrics port, which is not trusted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

#: The beginning of our metrics' names (spark_avro/pipeline/run/metrics.py).
_PREFIX = "magicbyte_pipeline_"
#: The parser takes a time that grows with the square of a line's length.
_LONGEST_LINE = 2_048
_MOST_LINES = 10_000
#: A port is one pipeline's; a port that collects others' metrics may have more.
_MOST_PIPELINES = 100
#: Whole numbers up to here are whole numbers as floats, too.
_EXACT = 2**53
#: The largest whole number of a JSON text that all readers take.
_LARGEST = 2**63 - 1

Number = int | float


class OddMetrics(Exception):
    """A text is not from a pipeline's metrics port; the message says why."""


@dataclass(slots=True)
class StepFigures:
    """The figures of a step's state.

    Attributes:
        rows: Its rows.
        size: The bytes of its state in memory and files.
        late: Rows that came after the watermark.
    """

    rows: Number | None = None
    size: Number | None = None
    late: Number | None = None


@dataclass(slots=True)
class PipelineFigures:
    """The figures of a pipeline; None and empty tables are figures that the text does not have. Times are in ms.

    Attributes:
        batch: The number of the last batch.
        written_at: When that batch was written.
        seconds: How long it took.
        rows: The rows since the run began, by what became of them.
        lag: Records behind the last batch, by topic and partition.
        lag_seconds: The age of the newest record of the last batch at its end.
        event_time: The time of that record.
        failed: Rows that failed a check, by check.
        ids: Records by schema id.
        restarts: Starts from a checkpoint with progress.
        steps: What steps keep, by operator.
        unmatched: Rows without a value in a topic that is a table, by step.
        watermark: The time up to which no more rows are expected.
        began: When the run began.
        about: What the pipeline is: its `file`, its `sinks`, its topic of `dead_letters`.
    """

    batch: Number | None = None
    written_at: Number | None = None
    seconds: Number | None = None
    rows: dict[str, Number] = field(default_factory=dict)
    lag: dict[tuple[str, int], Number] = field(default_factory=dict)
    lag_seconds: Number | None = None
    event_time: Number | None = None
    failed: dict[str, Number] = field(default_factory=dict)
    ids: dict[str, Number] = field(default_factory=dict)
    restarts: Number | None = None
    steps: dict[str, StepFigures] = field(default_factory=dict)
    unmatched: dict[str, Number] = field(default_factory=dict)
    watermark: Number | None = None
    began: Number | None = None
    about: dict[str, str] = field(default_factory=dict)

    @property
    def late(self) -> Number | None:
        """The late rows of all steps; None if no step counts them."""
        counted = [step.late for step in self.steps.values() if step.late is not None]
        return sum(counted) if counted else None


def figures_of(body: bytes) -> dict[str, PipelineFigures]:
    """The figures in the text of a metrics port, by the pipeline's name.

    Args:
        body: The text.

    Raises:
        OddMetrics: The text is not in Prometheus's format, or larger than that of a pipeline.
    """
    found: dict[str, PipelineFigures] = {}
    for sample in _samples(body):
        name = sample.labels.get("pipeline")
        read = _READ.get(sample.name.removeprefix(_PREFIX))
        value = _number(sample.value)
        if name is None or read is None or value is None:
            continue
        if name not in found and len(found) == _MOST_PIPELINES:
            raise OddMetrics(f"the metrics of more than {_MOST_PIPELINES} pipelines")
        read(found.setdefault(name, PipelineFigures()), sample.labels, value)
    return found


def _samples(body: bytes) -> Iterator[Sample]:
    try:
        lines = [line for line in body.decode().split("\n") if line.startswith(_PREFIX)]
    except UnicodeDecodeError:
        raise OddMetrics("a text that is not UTF-8") from None
    if len(lines) > _MOST_LINES:
        raise OddMetrics(f"more than {_MOST_LINES} lines of pipelines")
    if any(len(line) > _LONGEST_LINE for line in lines):
        raise OddMetrics(f"a line of more than {_LONGEST_LINE} characters")
    try:
        for family in text_string_to_metric_families("\n".join(lines)):
            yield from family.samples
    except (ValueError, LookupError):
        raise OddMetrics("a line that is not in Prometheus's format") from None


def _number(value: float) -> Number | None:
    """The value of a sample; None if it is no number, or too large for one."""
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST else None
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) <= _EXACT else value


def _milliseconds(seconds: Number) -> Number:
    return round(seconds * 1000)


Labels = dict[str, str]
_Read = Callable[[PipelineFigures, Labels, Number], None]


def _single(name: str, convert: Callable[[Number], Number] = lambda value: value) -> _Read:
    return lambda figures, _, value: setattr(figures, name, convert(value))


def _table(name: str, label: str) -> _Read:
    def read(figures: PipelineFigures, labels: Labels, value: Number) -> None:
        getattr(figures, name)[labels.get(label, "")] = value

    return read


def _of_step(name: str) -> _Read:
    def read(figures: PipelineFigures, labels: Labels, value: Number) -> None:
        setattr(figures.steps.setdefault(labels.get("operator", ""), StepFigures()), name, value)

    return read


def _lag(figures: PipelineFigures, labels: Labels, value: Number) -> None:
    partition = labels.get("partition", "")
    if partition.isascii() and partition.isdigit() and len(partition) <= len(str(_EXACT)):
        figures.lag[labels.get("topic", ""), int(partition)] = value


def _about(figures: PipelineFigures, labels: Labels, _value: Number) -> None:
    figures.about = {name: labels[name] for name in ("file", "sinks", "dead_letters") if labels.get(name)}


_READ: dict[str, _Read] = {
    "batch": _single("batch"),
    "last_success_timestamp_seconds": _single("written_at", _milliseconds),
    "batch_seconds": _single("seconds"),
    "rows_total": _table("rows", "outcome"),
    "lag_records": _lag,
    "lag_seconds": _single("lag_seconds"),
    "event_time_seconds": _single("event_time", _milliseconds),
    "quality_failed_total": _table("failed", "check"),
    "schema_id_rows_total": _table("ids", "id"),
    "restarts_total": _single("restarts"),
    "state_rows": _of_step("rows"),
    "state_bytes": _of_step("size"),
    "late_rows": _of_step("late"),
    "unmatched_rows": _table("unmatched", "step"),
    "watermark_seconds": _single("watermark", _milliseconds),
    "start_timestamp_seconds": _single("began", _milliseconds),
    "info": _about,
}
