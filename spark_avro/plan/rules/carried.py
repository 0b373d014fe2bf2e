"""The result of rules on a value: the value, and the first failure."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.rules.listed import ListedRule
from spark_avro.plan.rules.workers.rule_batches import RuleBatch, Task
from spark_avro.plan.rules.workers.vectorized import rule_udf

#: The type of a failure: the text, the rule, and the path of what it rejects, empty for the whole value.
FAILURE = "struct<reason: string, rule: string, path: string>"


@dataclass(frozen=True, slots=True)
class Carried:
    """A value after some rules.

    Attributes:
        value: The value.
        sound: Whether it was decoded.
        failure: The first failure, of the type FAILURE; NULL if there is none.
    """

    value: Column
    sound: Column
    failure: Column


def failure_at(listed: ListedRule, path: Column) -> Column:
    """The failure of a rule at a path; NULL if the path is NULL."""
    before, after = listed.text("\0").split("\0")

    def failure(path: Column) -> Column:
        at = F.concat(F.lit(before), path, F.lit(after))
        text = F.when(path == "", F.lit(listed.text(""))).otherwise(at)
        return failure_struct(text, F.lit(listed.name), path)

    # No item for no failure, so that the path is computed once, whatever mentions it.
    return F.get(F.transform(F.array_compact(F.array(path)), failure), F.lit(0))


def failure_of_success(listed: ListedRule) -> Column:
    """The failure of a rule whose action after a success stops the row."""
    text = listed.text("", "the rule's action after a success stops the record")
    return failure_struct(F.lit(text), F.lit(listed.name), F.lit(""))


def is_skipped(listed: ListedRule, replayed: Column) -> Column:
    """Whether a record skips a rule, because it comes from the dead letters of this rule."""
    return F.coalesce(replayed == listed.name, F.lit(False))


def failure_struct(text: Column, rule: Column, path: Column) -> Column:
    """A failure of the type FAILURE."""
    return F.struct(text.alias("reason"), rule.alias("rule"), path.alias("path")).cast(FAILURE)


def no_failure() -> Column:
    """The failure of a value that passed."""
    return F.lit(None).cast(FAILURE)


def by_workers(task: Task, data: Column, unchanged: Column) -> tuple[Column, Column]:
    """Bytes after rules that workers carry out, NULL after a failure; and the failure, of the type FAILURE.

    Args:
        task: The rules.
        data: The bytes that the workers get; NULL has no rules.
        unchanged: The bytes if the rules change nothing.
    """
    outcome = rule_udf(RuleBatch(task))(data)
    value, reason = outcome["value"], outcome["reason"]
    failure = F.when(reason.isNotNull(), failure_struct(reason, value["rule"], value["path"])).otherwise(no_failure())
    return F.when(reason.isNull(), F.coalesce(value["data"], unchanged)), failure
