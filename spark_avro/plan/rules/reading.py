"""The rules on records that are read: which run before a record is decoded, and which on the column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from serdes.rules.context import READ
from spark_avro.errors import PlanError
from spark_avro.plan.rules.avro_shapes import avro_shape
from spark_avro.plan.rules.carrying import RowRule
from spark_avro.plan.rules.cel.untranslatable import Untranslatable
from spark_avro.plan.rules.cel_columns import jvm_rule
from spark_avro.plan.rules.listed import APPLY, ListedRule, listed_rules
from spark_avro.plan.rules.migrating import migrations
from spark_avro.plan.rules.shapes import Shape
from spark_avro.plan.rules.worker_rules import WorkerRule, worker_rule
from spark_avro.plan.rules.workers.message_rules import MessageRules
from spark_avro.registry import Version

#: How often rules in workers may mention the columns of the rules before them, all together.
_MOST_MENTIONS = 4


@dataclass(frozen=True, slots=True)
class ReadRules:
    """The rules of a selection of versions.

    Attributes:
        domain: The rules on decoded values, in order.
        by_id: The rules on messages before they are decoded, by their schemas' ids.
    """

    domain: Sequence[ListedRule] = ()
    by_id: Mapping[int, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.domain or self.by_id)


NO_RULES = ReadRules()


def read_rules(versions: Sequence[Version], reader: Version, rules: str, *, of_writers: bool) -> ReadRules:
    """The rules of versions that are read as a reader's.

    Args:
        versions: The writers' versions.
        reader: The reader's version.
        rules: apply, refuse or ignore.
        of_writers: Whether the reader's schema has no rules, because it was given in code: then the writers' run.

    Raises:
        PlanError: A rule cannot be carried out.
    """
    if rules != APPLY:
        return ReadRules()
    if not of_writers:
        return ReadRules(listed_rules(reader.ruled, READ), migrations(versions, reader))
    tasks = {}
    for version in versions:
        listed = [] if version.refusal is not None else listed_rules(version.ruled, READ)
        if listed:
            tasks[version.id] = MessageRules(version.sent, tuple(listed))
    return ReadRules(by_id=tasks)


def on_messages(
    rules: ReadRules, versions: Sequence[Version], reader: Version, message: str | None = None
) -> ReadRules:
    """The same rules, with those on values before the messages are decoded.

    Args:
        rules: The rules.
        versions: The versions whose records are read.
        reader: The reader's version, which the rules are of.
        message: The full name of Protobuf's message.
    """
    if not rules:
        return rules
    domain = tuple(rules.domain)
    # Without the reader's rules, writers' rules stay.
    added: dict[str, Any] = {"message": message, **({"rules": domain} if domain else {})}
    tasks: dict[int, Any] = {schema_id: replace(task, **added) for schema_id, task in rules.by_id.items()}
    for version in versions:
        if domain and version.refusal is None and version.id not in tasks:
            # Protobuf's payloads are read as the reader's message; JSON needs no schema.
            tasks[version.id] = MessageRules(reader.sent, domain, message, version.sent)
    return ReadRules(by_id=tasks)


def tags_of(listed: Sequence[ListedRule]) -> Mapping[str, frozenset[str]]:
    """The tags of the fields of the rules' schema by full name; none without rules."""
    return {field.full_name: field.tags for field in listed[0].context.walk().fields} if listed else {}


def avro_rules(listed: Sequence[ListedRule], tree: Any) -> tuple[RowRule, ...]:
    """Rules on columns of a tree of Avro, each in the JVM if all of it can be translated, else in workers."""
    shape = avro_shape(tree, tags_of(listed))
    rules = tuple(_row_rule(rule, tree, shape) for rule in listed)
    _check_size([rule for rule in rules if isinstance(rule, WorkerRule)])
    return rules


def _check_size(rules: Sequence[WorkerRule]) -> None:
    """Refuse rules in workers that change many fields one after the other.

    Each mentions the columns of the rules before once for each field, and Spark runs out of memory over such a plan.

    Raises:
        PlanError: There are too many fields.
    """
    changing = [rule for rule in rules if not rule.listed.context.is_condition]
    if len(changing) > 1 and prod(rule.width for rule in changing) > _MOST_MENTIONS:
        names = ", ".join(repr(rule.listed.name) for rule in changing)
        raise PlanError(
            f"the rules {names} change too many fields one after the other in Python workers: give them tags, make one"
            " rule of them, or write expressions that columns can compute (see Rules in the documentation of Spark)"
        )


def _row_rule(listed: ListedRule, tree: Any, shape: Shape) -> RowRule:
    try:
        return jvm_rule(listed, shape)
    except Untranslatable:
        return worker_rule(listed, tree, shape)
