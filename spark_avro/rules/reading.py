"""The rules on records that are read: which run before a record is decoded, and which on the column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.message import wire
from serdes.rules.context import READ
from spark_avro.registry import Version
from spark_avro.rules.avro_shapes import avro_shape
from spark_avro.rules.carried import failure_struct, no_failure
from spark_avro.rules.carrying import RowRule
from spark_avro.rules.cel.untranslatable import Untranslatable
from spark_avro.rules.cel_columns import jvm_rule
from spark_avro.rules.listed import APPLY, ListedRule, listed_rules
from spark_avro.rules.shapes import Shape
from spark_avro.rules.worker_rules import worker_rule
from spark_avro.workers.message_rules import FramedRules, MessageRules
from spark_avro.workers.rule_batches import RuleBatch
from spark_avro.workers.udf import rule_udf


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
        return ReadRules(listed_rules(reader.ruled, READ))
    tasks = {}
    for version in versions:
        listed = [] if version.refusal is not None else listed_rules(version.ruled, READ)
        if listed:
            tasks[version.id] = MessageRules(version.sent, tuple(listed))
    return ReadRules(by_id=tasks)


def tags_of(listed: Sequence[ListedRule]) -> Mapping[str, frozenset[str]]:
    """The tags of the fields of the rules' schema by full name; none without rules."""
    return {field.full_name: field.tags for field in listed[0].context.walk().fields} if listed else {}


def avro_rules(listed: Sequence[ListedRule], tree: Any) -> tuple[RowRule, ...]:
    """Rules on columns of a tree of Avro, each in the JVM if all of it can be translated, else in workers."""
    shape = avro_shape(tree, tags_of(listed))
    return tuple(_row_rule(rule, tree, shape) for rule in listed)


def _row_rule(listed: ListedRule, tree: Any, shape: Shape) -> RowRule:
    try:
        return jvm_rule(listed, shape)
    except Untranslatable:
        return worker_rule(listed, tree, shape)


#: The column of an earlier selection with the outcome of `before_decoding`.
CARRIED = "carried_"


def before_decoding(message: Column, by_id: Mapping[int, Any]) -> Column:
    """A struct of `message`, the message after rules, and their `failure`, for messages with their ids.

    Args:
        message: The messages.
        by_id: The rules by id, which workers carry out.
    """
    prefixes = [F.lit(wire.prefix(schema_id)) for schema_id in by_id]
    is_ruled = F.substring(message, 1, wire.V0_SIZE).isin(*prefixes)
    outcome = rule_udf(RuleBatch(FramedRules(dict(by_id))))(F.when(is_ruled, message))
    value, reason = outcome["value"], outcome["reason"]
    failure = F.when(reason.isNotNull(), failure_struct(reason, value["rule"], value["path"])).otherwise(no_failure())
    after = F.when(reason.isNull(), F.coalesce(value["data"], message))
    return F.struct(after.alias("message"), failure.alias("failure"))
