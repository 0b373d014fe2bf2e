"""Rules that Python workers carry out on columns: they get the fields that a rule needs, as bytes of Avro."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.avro.functions import from_avro, to_avro

from compat.contracts.cel.declarations import field_variables, message_variables
from compat.contracts.cel.expression import compile_expression
from serdes.rules.cel.guarded import options_of
from serdes.rules.context import RuleContext
from spark_avro.plan import tree as trees
from spark_avro.plan.rules.carried import Carried, failure_of_success, failure_struct, is_skipped
from spark_avro.plan.rules.listed import ListedRule
from spark_avro.plan.rules.shapes import Record, Shape, holds_selected
from spark_avro.plan.rules.workers.rule_batches import AvroRule, RuleBatch
from spark_avro.plan.rules.workers.vectorized import rule_udf
from spark_avro.plan.tree import Tree


@dataclass(frozen=True, slots=True)
class WorkerRule:
    """A rule that workers carry out on Avro data.

    Attributes:
        listed: The rule.
        tree: The tree of the data.
        fields: The fields that the rule needs; None for all, or if the data is no record.
    """

    listed: ListedRule
    tree: Tree
    fields: tuple[str, ...] | None

    def after(self, before: Carried, replayed: Column | None) -> Carried:
        """The value after the rule, which runs unless one before failed, or the record skips it."""
        runs = before.value.isNotNull() & before.failure.isNull()
        if replayed is not None:
            runs &= ~is_skipped(self.listed, replayed)
        data = to_avro(self._needed(before.value, runs), trees.text(self._needed_tree))
        outcome = rule_udf(RuleBatch(AvroRule(self.listed, trees.text(self._needed_tree))))(data)
        result, reason = outcome["value"], outcome["reason"]
        failure = F.when(reason.isNotNull(), failure_struct(reason, result["rule"], result["path"]))
        after = before.failure if self.listed.may_fail else F.coalesce(before.failure, failure)
        if self.listed.must_fail:
            after = F.coalesce(after, F.when(runs & reason.isNull(), failure_of_success(self.listed)))
        if self.listed.context.is_condition:
            return Carried(before.value, before.sound, after)
        return Carried(self._changed(before.value, result["data"]), before.sound, after)

    @property
    def width(self) -> int:
        """The number of fields of a record that the rule takes."""
        if self.fields is not None:
            return len(self.fields)
        return len(self.tree.get("fields", ())) if isinstance(self.tree, dict) else 1

    @property
    def _needed_tree(self) -> Tree:
        if self.fields is None:
            return self.tree
        return {**self.tree, "fields": [field for field in self.tree["fields"] if field["name"] in self.fields]}

    def _needed(self, value: Column, runs: Column) -> Column:
        if self.fields is None:
            return F.when(runs, value)
        return F.when(runs, F.struct(*(value.getField(name).alias(name) for name in self.fields)))

    def _changed(self, value: Column, data: Column) -> Column:
        """The value with what the rule returned; data is NULL if that was nothing."""
        new = from_avro(data, trees.text(self._needed_tree))
        if self.fields is not None:
            whole = value
            for name in self.fields:
                whole = whole.withField(f"`{name}`", new.getField(name))
            new = whole
        return F.when(data.isNotNull(), new).otherwise(value)


def worker_rule(listed: ListedRule, tree: Tree, shape: Shape) -> WorkerRule:
    """The rule for data of a tree, whose shape is `shape`."""
    needed = _needed_fields(listed, shape) if isinstance(shape, Record) and not isinstance(tree, list) else None
    return WorkerRule(listed, tree, needed)


def _needed_fields(listed: ListedRule, shape: Record) -> tuple[str, ...] | None:
    """The record's fields that a rule reads or changes; None for all."""
    rule = listed.context.rule
    names: set[str] = set()
    if listed.by_field:
        tags = frozenset(rule.tags)
        names |= {field.name for field in shape.fields if holds_selected(field.shape, field, tags)}
    elif listed.context.type != "CEL" or not listed.context.is_condition:
        return None
    if listed.context.type in ("CEL", "CEL_FIELD"):
        read = _read_of_message(listed.context, on_fields=listed.by_field)
        if read is None:
            return None
        names |= read & shape.by_name.keys()
    # Avro has records without fields, but Spark no structs without.
    kept = tuple(field.name for field in shape.fields if field.name in names)
    return kept or (shape.fields[0].name,)


def _read_of_message(context: RuleContext, *, on_fields: bool) -> set[str] | None:
    """The fields of `message` that a guard and an expression read; None for all."""
    names: set[str] = set()
    for part in options_of(context).split(context.rule.expr or ""):
        if part is not None:
            reads = compile_expression(part, field_variables() if on_fields else message_variables()).reads
            paths = reads.get("message", ())
            if paths is None:
                return None
            names |= {path[0] for path in paths}
    return names
