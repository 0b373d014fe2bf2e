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

from spark_avro.plan.rules.carried import (
    Carried,
    failure_at,
    failure_of_success,
    is_skipped,
    let,
    no_failure,
    state_of,
)
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


def carry_out(rules: Sequence[RowRule], start: Opened) -> Carried:
    """A value after rules, in their order; NULL after a failure."""
    groups = [list(members) for _, members in groupby(rules, lambda rule: isinstance(rule, JvmRule))]
    first = _of_jvm(groups[0]) if groups else []
    state = let(start.whole, lambda whole: _started(first, start, whole))
    for members in groups[1:] if first else groups:
        of_jvm = _of_jvm(members)
        if of_jvm:
            state = _in_jvm(of_jvm, state, start.replayed)
        for rule in members:
            if isinstance(rule, WorkerRule):
                state = rule.after(state, start.replayed)
    return Carried(F.when(state["failure"].isNull(), state["value"]), state["sound"], state["failure"])


def _of_jvm(rules: Sequence[RowRule]) -> list[JvmRule]:
    return [rule for rule in rules if isinstance(rule, JvmRule)]


def _started(rules: Sequence[JvmRule], start: Opened, whole: Column) -> Column:
    """The state after the first rules: a struct of `value`, `sound` and `failure`, which is NULL if none failed."""
    # A broken payload may be a struct of nulls.
    sound = start.sound(whole)
    parts = state_of(F.when(sound, start.value(whole)), sound, no_failure())
    return _in_jvm(rules, parts, start.replayed) if rules else parts


def _in_jvm(rules: Sequence[JvmRule], state: Column, replayed: Column | None) -> Column:
    """The state after rules that the JVM carries out."""

    def run(state: Column) -> Column:
        return _run(
            rules,
            state["value"],
            state["failure"],
            replayed,
            lambda value, failure: state_of(value, state["sound"], failure),
        )

    return let(state, run)


def _run(
    rules: Sequence[JvmRule],
    value: Column,
    failure: Column,
    replayed: Column | None,
    finish: Callable[[Column, Column], Column],
) -> Column:
    """What `finish` makes of the value and the first failure after rules.

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
