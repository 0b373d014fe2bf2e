"""Rules for steps that join a compacted topic as a table, and for the steps before and after them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

from magicbyte.kit.settings.place import Finding, did_you_mean
from spark_avro.pipeline.file.policies import Check
from spark_avro.pipeline.file.source import Topics
from spark_avro.pipeline.file.steps import Deduplicate, Join, Step, Window, joins_topic, remembers


def spark_version() -> tuple[int, int] | None:
    """Major and minor version of the installed PySpark; None without one: the file can be checked there, too."""
    try:
        major, minor = version("pyspark").split(".")[:2]
    except PackageNotFoundError:
        return None
    return int(major), int(minor)


def unknown_name(step: Join, setting: str, name: str, names: Collection[str], elsewhere: Collection[str]) -> Finding:
    """The finding of a join that names a table or stream that the file does not have.

    Args:
        step: The join.
        setting: The setting that has the name.
        name: The name.
        names: The names that the setting takes.
        elsewhere: The names of the other kind.
    """
    kind, other = ("table", "stream") if setting == "table" else ("stream", "table")
    if name in elsewhere:
        return step.finding(setting, f"{name} is a name in {other}s, not in {kind}s")
    hint = did_you_mean(name, names) if names else f"; name it under {kind}s"
    return step.finding(setting, f"there is no {kind} {name}{hint}")


def topic_problems(
    joins: Sequence[Join], streams: Mapping[str, Topics], tables: Collection[str]
) -> Iterator[tuple[str, str] | Finding]:
    """Find faults in joins of compacted topics and their streams.

    Args:
        joins: All joins of the pipeline.
        streams: The pipeline's streams.
        tables: The names of the pipeline's tables.
    """
    own = [step for step in joins if step.topic is not None]
    installed = spark_version()
    for step in own:
        if installed is not None and installed < (4, 0):
            yield step.finding(
                "topic",
                f"needs PySpark 4.0 or newer, and {installed[0]}.{installed[1]} is installed: earlier versions cannot"
                " keep the newest value of each key. Install PySpark 4.0 or newer; or write the topic to a table with"
                " another pipeline, and join that table",
            )
        if step.topic not in streams:
            yield unknown_name(step, "topic", step.topic or "", streams, tables)
        elif streams[step.topic or ""].key is None:
            yield streams[step.topic or ""].finding(
                "key", f"is missing: {step.origin.setting} finds the newest value by the key, so say how it is decoded"
            )
        if any(other.stream == step.topic for other in joins):
            yield step.finding("topic", f"{step.topic} is joined as a stream, too; a topic is one of them")


def order_problems(steps: Sequence[Step], checks: Sequence[Check]) -> Iterator[Finding]:
    """Steps that cannot stand before or after a join of a compacted topic: its rows have no watermark."""
    for number, step in enumerate(steps):
        if not isinstance(step, Join) or not joins_topic(step):
            continue
        before = [other for other in steps[:number] if _has_time(other)]
        after = [other for other in steps[number + 1 :] if _has_time(other)]
        if before and after:
            yield after[0].finding(
                "",
                f"goes by the watermark of {before[0].origin.setting}, which rows lose in {step.origin.setting}; put"
                f" {step.origin.setting} before or after both, or use two pipelines",
            )
        if step.wait is None:
            continue
        timed = [*(other for other in before if not isinstance(other, Deduplicate)), *after]
        names = [other.origin.setting for other in timed]
        names += [check.origin.setting for check in checks if check.remembered_for is not None]
        if names:
            yield step.finding(
                "wait",
                f"stands beside {names[0]}, which goes by a watermark: rows that waited would come too late for it."
                " Leave wait out, or use two pipelines",
            )


def _has_time(step: Step) -> bool:
    """Whether a step goes by a watermark."""
    return remembers(step) and not joins_topic(step) and isinstance(step, Deduplicate | Window | Join)
