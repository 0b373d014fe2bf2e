"""Rules on messages before they are decoded, as a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.message import wire
from spark_avro.plan.rules.carried import by_workers
from spark_avro.plan.rules.workers.message_rules import SKIPPED_SIZE, FramedRules

#: The most characters of a rule's name.
_LONGEST_NAME = 256
#: The column of an earlier selection with the outcome of `before_decoding`.
CARRIED = "carried_"


def before_decoding(message: Column, by_id: Mapping[int, Any], replayed: Column | None) -> Column:
    """A struct of `message`, the message after rules, and their `failure`, for messages with their ids.

    Args:
        message: The messages.
        by_id: The rules by id, which workers carry out.
        replayed: The rule that a record from the dead letters skips; None if no record does.
    """
    prefixes = [F.lit(wire.prefix(schema_id)) for schema_id in by_id]
    is_ruled = F.substring(message, 1, wire.V0_SIZE).isin(*prefixes)
    task = FramedRules(dict(by_id), names_skipped=replayed is not None)
    data = F.when(is_ruled, message if replayed is None else _naming(message, replayed))
    after, failure = by_workers(task, data, message)
    return F.struct(after.alias("message"), failure.alias("failure"))


def _naming(message: Column, replayed: Column) -> Column:
    """A message after the name of the rule that it skips, whose length is in the first two bytes."""
    name = F.coalesce(F.when(F.length(replayed) <= _LONGEST_NAME, replayed), F.lit("")).cast("binary")
    size = F.unhex(F.lpad(F.hex(F.octet_length(name).cast("long")), 2 * SKIPPED_SIZE, "0"))
    return F.concat(size, name, message)
