"""Rules on messages before they are decoded, as a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.message import wire
from spark_avro.rules.carried import failure_struct, no_failure
from spark_avro.workers.message_rules import FramedRules
from spark_avro.workers.rule_batches import RuleBatch
from spark_avro.workers.vectorized import rule_udf

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
