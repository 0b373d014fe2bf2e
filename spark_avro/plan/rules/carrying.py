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

from spark_avro.plan.rules.carried import Carried, failure_at, failure_of_success, is_skipped, no_failure
from spark_avro.plan.rules.cel_columns import JvmRule
from spark_avro.plan.rules.worker_rules import WorkerRule

RowRule = JvmRule | WorkerRule


@dataclass(frozen=True, slots=True)
class Opened:
    """A decoded value before its rules.

    Attributes:
        whole: The column that is computed once.
        value: Its value; rules run only if it is sound.
        sound: Whether it is sound.
        replayed: The rule that a record from the dead letters skips; None if no record does.
    """

    whole: Column
    value: Callable[[Column], Column]
    sound: Callable[[Column], Column]
    replayed: Column | None = None


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
    value = state["value"] if first else F.when(state["sound"], state["value"])
    carried = Carried(value, state["sound"], state["failure"])
    for members in groups[1:] if first else groups:
        of_jvm = _of_jvm(members)
        if of_jvm:
            carried = _in_jvm(of_jvm, carried, start.replayed)
        for rule in members:
            if isinstance(rule, WorkerRule):
                carried = rule.after(carried, start.replayed)
    return Carried(F.when(carried.failure.isNull(), carried.value), carried.sound, carried.failure)


def _of_jvm(rules: Sequence[RowRule]) -> list[JvmRule]:
    return [rule for rule in rules if isinstance(rule, JvmRule)]


def _started(rules: Sequence[JvmRule], start: Opened, whole: Column) -> Column:
    sound, value = start.sound(whole), start.value(whole)
    if not rules:
        return F.struct(value.alias("value"), sound.alias("sound"), no_failure().alias("failure"))
    # A broken payload may be a struct of nulls.
    parts = F.struct(F.when(sound, value).alias("value"), sound.alias("sound"))
    return let(parts, lambda parts: _state(rules, parts["value"], start.replayed, parts["sound"]))


def _state(rules: Sequence[JvmRule], value: Column, replayed: Column | None, sound: Column) -> Column:
    """A struct of the value after rules, whether it is sound, and their first failure."""

    def finish(value: Column, failure: Column) -> Column:
        return F.struct(value.alias("value"), sound.alias("sound"), failure.alias("failure"))

    return _run(rules, value, no_failure(), replayed, finish)


def _in_jvm(rules: Sequence[JvmRule], before: Carried, replayed: Column | None) -> Carried:
    state = let(before.value, lambda value: _state(rules, value, replayed, F.lit(True)))
    return Carried(state["value"], before.sound, F.coalesce(before.failure, state["failure"]))


def _run(
    rules: Sequence[JvmRule],
    value: Column,
    failure: Column,
    replayed: Column | None,
    finish: Callable[[Column, Column], Column],
) -> Column:
    """Carry out the rules, and return the result of `finish` for the value and the first failure.

    A lambda binds each change of the value. Spark computes columns in a lambda once for each mention, so what comes
    next is made inside of it.
    """
    if not rules:
        return finish(value, failure)
    rule, *rest = rules
    path, runs = rule.rejected(value), value.isNotNull()
    if replayed is not None:
        runs &= ~is_skipped(rule.listed, replayed)
    after = failure
    if not rule.listed.may_fail:
        after = F.coalesce(after, F.when(runs, failure_at(rule.listed, path)))
    if rule.listed.must_fail:
        after = F.coalesce(after, F.when(runs & path.isNull(), failure_of_success(rule.listed)))
    if rule.changed is None:
        return _run(rest, value, after, replayed, finish)
    changed = F.when(runs & path.isNull(), rule.changed(value)).otherwise(value)
    state = F.struct(changed.alias("value"), after.alias("failure"))
    return let(state, lambda state: _run(rest, state["value"], state["failure"], replayed, finish))
