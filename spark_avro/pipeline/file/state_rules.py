"""Rules between steps that remember rows, checks and sinks; Spark has one output mode and one watermark for a query."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from magicbyte.kit.settings.place import Finding
from spark_avro.pipeline.file.field_path import FieldPath
from spark_avro.pipeline.file.policies import Check
from spark_avro.pipeline.file.sinks import FilesSink, SinkSpec, Upsert
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.file.steps import Aggregate, Deduplicate, Join, Step, Window, joins_topic, remembers
from spark_avro.pipeline.file.topic_rules import order_problems

#: The times that rows have after a step besides the one that it names.
_OF_WINDOWS: Mapping[type[Step], Collection[tuple[str, ...]]] = defaultdict(
    tuple, {Window: (("window_start",), ("window_end",))}
)

_NAMED = re.compile(r"(?is)^.*\bas\s+(`[^`]+`|\w+)\s*$|^(?:.*\.)?(`[^`]+`|\w+)$")


def state_problems(
    steps: Sequence[Step], checks: Sequence[Check], sinks: Sequence[SinkSpec], *, has_record_times: bool
) -> Iterator[Finding]:
    """Find contradictions between steps that remember rows, checks and sinks.

    Args:
        steps: The steps.
        checks: The checks.
        sinks: The sinks.
        has_record_times: Whether `_kafka.timestamp` is set in the rows of the source.
    """
    yield from _time_problems(steps)
    yield from order_problems(steps, checks)
    remembering = [step for step in steps if remembers(step)]
    groups = [step for step in steps if isinstance(step, Window | Aggregate)]
    if not has_record_times:
        yield from _record_time_problems(remembering, checks)
    each = [step for step in groups if step.emit == "each-batch"]
    for step in each:
        yield from _each_batch_problems(step, steps, sinks)
    for sink in sinks:
        if groups and isinstance(sink, FilesSink) and sink.late is not None:
            yield sink.finding(
                "late", "stands beside a window, which leaves late rows out; give `late` of the window instead"
            )
        if groups and isinstance(sink, FilesSink) and sink.time.parts == ("_kafka", "timestamp") and sink.partition:
            yield sink.finding("time", "is missing: the rows of groups have no record's time; give window_start")
    for check in checks:
        if remembering and check.remembered_for is not None:
            yield check.finding(
                "unique",
                f"within stands beside {remembering[0].origin.setting}, which remembers rows too; the check would not"
                " see what the step leaves out. Write the step deduplicate, or two pipelines",
            )


def _record_time_problems(remembering: Sequence[Step], checks: Sequence[Check]) -> Iterator[Finding]:
    """Parts that go by the time of a record, which the source has not: their state would never end."""
    for step in remembering:
        if getattr(step, "time", FieldPath(())).parts == ("_kafka", "timestamp") and not joins_topic(step):
            yield step.finding("time", "is missing: the rows of this source have no record's time")
    for check in checks:
        if check.remembered_for is not None:
            yield check.finding("unique", "within needs a record's time, and the rows of this source have none")


def delay_of(steps: Sequence[Step], checks: Sequence[Check]) -> timedelta:
    """Return how late a row may come: the longest time of a step or check, since Spark has one watermark for all."""
    delays = [timedelta(0)]
    for step in steps:
        if isinstance(step, Deduplicate):
            delays.append(step.within)
        elif isinstance(step, Window) or (isinstance(step, Join) and step.stream is not None):
            delays.append(step.late)
    delays += [check.remembered_for for check in checks if check.remembered_for is not None]
    return max(delays)


def _time_problems(steps: Sequence[Step]) -> Iterator[Finding]:
    """Steps whose time is not that of the watermark."""
    first: Step | None = None
    time = FieldPath(())
    for step in steps:
        if not remembers(step) or joins_topic(step):
            continue
        own = getattr(step, "time", None)
        if (
            first is not None
            and own is not None
            and own.parts != time.parts
            and own.parts not in _OF_WINDOWS[type(first)]
        ):
            yield step.finding(
                "time",
                f"is {own}, and that of {first.origin.setting} is {time}; Spark has one watermark for the rows of a"
                f" pipeline, so give the same time",
            )
        if isinstance(first, Join) and first.how in {"right", "full"}:
            yield step.finding(
                "", f"stands after {first.origin.setting}, whose rows of the stream alone have no time of the watermark"
            )
        if first is None or isinstance(step, Window):
            first, time = step, own or time
        elif isinstance(step, Join) and step.how in {"right", "full"}:
            first = step


def _each_batch_problems(
    step: Window | Aggregate, steps: Sequence[Step], sinks: Sequence[SinkSpec]
) -> Iterator[Finding]:
    name = type(step).__name__.lower()
    others = [other for other in steps if other is not step and remembers(other)]
    for other in others:
        other_name = type(other).__name__.lower()
        yield step.finding(
            "emit", f"each-batch must be the only step that remembers rows, and {other.origin.setting} is {other_name}"
        )
    keys = set(_names(step.group)) | ({"window_start"} if isinstance(step, Window) else set())
    for sink in sinks:
        mode = getattr(sink, "mode", None)
        if not isinstance(mode, Upsert):
            yield step.finding(
                "emit", f"each-batch writes a group again and again; {sink.origin.setting} must upsert by its key"
            )
        elif steps[-1] is step and {path.parts[-1] for path in mode.key} - {"window_end"} != keys:
            yield sink.finding("mode", f"the key of {name} with each-batch is {', '.join(sorted(keys))}")


def _names(items: Iterable[Sql]) -> Iterator[str]:
    """The names of the columns of a group, as far as the text tells them."""
    for item in items:
        found = _NAMED.match(item.text.strip())
        if found is not None:
            yield (found[1] or found[2]).strip("`")
