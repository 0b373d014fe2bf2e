"""A value after its rules, and the first failure: rules run one after the other, each on what the one before left.

A lambda binds a value, so that Spark computes it once however often rules mention it. Python workers cannot run inside
of a lambda: rules that need them stand between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.rules.cel_columns import JvmRule
from spark_avro.rules.listed import ListedRule
from spark_avro.rules.worker_rules import WorkerRule

#: The type of a failure: the text, the rule, and the path of what it rejects.
FAILURE = "struct<reason: string, rule: string, path: string>"

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


@dataclass(frozen=True, slots=True)
class Carried:
    """A value after its rules: NULL after a failure. `failure` is a struct of FAILURE, or NULL."""

    value: Column
    sound: Column
    failure: Column


def let(column: Column, function: Callable[[Column], Column]) -> Column:
    """A function of a column that Spark computes once, however often the function mentions it."""
    return F.get(F.transform(F.array(column), function), F.lit(0))


def opened(column: Column) -> Opened:
    """A column that is sound, such as one to encode."""
    return Opened(column, lambda whole: whole, lambda _: F.lit(True))


def carry_out(rules: Sequence[RowRule], start: Opened) -> Carried:
    """A value after rules, in their order."""
    groups = [(kind, list(members)) for kind, members in groupby(rules, type)]
    first = groups.pop(0)[1] if groups and groups[0][0] is JvmRule else []
    state = let(start.whole, lambda whole: _started(first, start, whole))
    carried = Carried(state["value"], state["sound"], state["failure"])
    for kind, members in groups:
        for rule in members if kind is not JvmRule else [members]:
            carried = _in_jvm(rule, carried) if kind is JvmRule else rule.after(carried)
    return Carried(F.when(carried.failure.isNull(), carried.value), carried.sound, carried.failure)


def _started(rules: Sequence[JvmRule], start: Opened, whole: Column) -> Column:
    value, failure = _run(rules, start.value(whole), F.lit(None).cast(FAILURE))
    return F.struct(value.alias("value"), start.sound(whole).alias("sound"), failure.alias("failure"))


def _in_jvm(rules: Sequence[JvmRule], before: Carried) -> Carried:
    def run(value: Column) -> Column:
        new, failure = _run(rules, value, F.lit(None).cast(FAILURE))
        return F.struct(new.alias("value"), failure.alias("failure"))

    state = let(before.value, run)
    return Carried(state["value"], before.sound, F.coalesce(before.failure, state["failure"]))


def _run(rules: Sequence[JvmRule], value: Column, failure: Column) -> tuple[Column, Column]:
    """The value and the first failure after rules; each change of the value is bound by a lambda of its own."""
    if not rules:
        return value, failure
    rule, *rest = rules
    path = rule.rejected(value)
    failed = F.when(value.isNotNull(), failure_at(rule.listed, path))
    after = failure if rule.listed.may_fail else F.coalesce(failure, failed)
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


def failure_at(listed: ListedRule, path: Column) -> Column:
    """The failure of a rule at a path; NULL if the path is NULL."""
    before, after = listed.text("\0").split("\0")
    at = F.concat(F.lit(before), path, F.lit(after))
    text = F.when(path == "", F.lit(listed.text(""))).otherwise(at)
    return F.when(path.isNotNull(), _struct(text, listed.name, path))


def failure_of_success(listed: ListedRule) -> Column:
    """The failure of a rule whose action after a success stops the row."""
    text = listed.text("", "the rule's action after a success stops the record")
    return _struct(F.lit(text), listed.name, F.lit(""))


def _struct(text: Column, name: str, path: Column) -> Column:
    return F.struct(text.alias("reason"), F.lit(name).alias("rule"), path.alias("path")).cast(FAILURE)


