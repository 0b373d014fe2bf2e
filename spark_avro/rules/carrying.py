"""A value after its rules: they run one after the other, each on what the one before left.

A lambda binds a value, so that Spark computes it once however often rules mention it. Python workers cannot run inside
of a lambda: rules that need them stand between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.rules.carried import Carried, failure_at, failure_of_success, no_failure
from spark_avro.rules.cel_columns import JvmRule
from spark_avro.rules.worker_rules import WorkerRule

RowRule = JvmRule | WorkerRule


@dataclass(frozen=True, slots=True)
class Opened:
    """A decoded value before its rules.

    Attributes:
        whole: The column that is computed once.
        value: Its value; NULL if it is not sound.
        sound: Whether it is sound.
    """

    whole: Column
    value: Callable[[Column], Column]
    sound: Callable[[Column], Column]


def opened(column: Column) -> Opened:
    """A column that is sound, such as one to encode."""
    return Opened(column, lambda whole: whole, lambda _: F.lit(True))


def let(column: Column, function: Callable[[Column], Column]) -> Column:
    """A function of a column that Spark computes once, however often the function mentions it."""
    return F.get(F.transform(F.array(column), function), F.lit(0))


def carry_out(rules: Sequence[RowRule], start: Opened) -> Carried:
    """A value after rules, in their order; NULL after a failure."""
    groups = [list(members) for _, members in groupby(rules, lambda rule: isinstance(rule, JvmRule))]
    first = _of_jvm(groups[0]) if groups else []
    state = let(start.whole, lambda whole: _started(first, start, whole))
    carried = Carried(state["value"], state["sound"], state["failure"])
    for members in groups[1:] if first else groups:
        of_jvm = _of_jvm(members)
        if of_jvm:
            carried = _in_jvm(of_jvm, carried)
        for rule in members:
            if isinstance(rule, WorkerRule):
                carried = rule.after(carried)
    return Carried(F.when(carried.failure.isNull(), carried.value), carried.sound, carried.failure)


def _of_jvm(rules: Sequence[RowRule]) -> list[JvmRule]:
    return [rule for rule in rules if isinstance(rule, JvmRule)]


def _started(rules: Sequence[JvmRule], start: Opened, whole: Column) -> Column:
    value, failure = _run(rules, start.value(whole), no_failure())
    return F.struct(value.alias("value"), start.sound(whole).alias("sound"), failure.alias("failure"))


def _in_jvm(rules: Sequence[JvmRule], before: Carried) -> Carried:
    def run(value: Column) -> Column:
        new, failure = _run(rules, value, no_failure())
        return F.struct(new.alias("value"), failure.alias("failure"))

    state = let(before.value, run)
    return Carried(state["value"], before.sound, F.coalesce(before.failure, state["failure"]))


def _run(rules: Sequence[JvmRule], value: Column, failure: Column) -> tuple[Column, Column]:
    """The value and the first failure after rules; a lambda of its own binds each change of the value."""
    if not rules:
        return value, failure
    rule, *rest = rules
    path = rule.rejected(value)
    after = failure
    if not rule.listed.may_fail:
        after = F.coalesce(after, F.when(value.isNotNull(), failure_at(rule.listed, path)))
    if rule.listed.must_fail:
        after = F.coalesce(after, F.when(value.isNotNull() & path.isNull(), failure_of_success(rule.listed)))
    if rule.changed is None:
        return _run(rest, value, after)
    changed = F.when(path.isNull(), rule.changed(value)).otherwise(value)
    if not rest:
        return changed, after

    def run(state: Column) -> Column:
        new, then = _run(rest, state["value"], state["failure"])
        return F.struct(new.alias("value"), then.alias("failure"))

    state = let(F.struct(changed.alias("value"), after.alias("failure")), run)
    return state["value"], state["failure"]
