"""Handles broken records: FAILFAST raises, PERMISSIVE returns a NULL and an error, DROP drops them."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.errors import PlanError
from spark_avro.plan.frames import Message, message_of
from spark_avro.plan.outcomes import (
    DROP,
    FAILFAST,
    PERMISSIVE,
    ColumnOrName,
    as_column,
    placed,
    volatile,
)
from spark_avro.plan.parts import Decoded
from spark_avro.plan.rules.carried import no_failure

#: The column's default name; otherwise Spark would use the whole expression as its name.
_NAME = "decoded"


def present(
    parts: Decoded, payload: Column, *, mode: str, position: Sequence[ColumnOrName] = (), drop: Column | None = None
) -> Column:
    """A decoded column in a mode; `drop` is true for sound rows that DROP drops as well."""
    # `get` of an array instead of a CASE: it always evaluates both sides, so that Spark decodes once.
    kept = F.array(parts.value)
    if mode == FAILFAST:
        index = F.when(parts.sound, F.lit(0)).otherwise(F.raise_error(placed(parts.reason, position)))
        return F.get(kept, index).alias(_NAME)
    if mode == PERMISSIVE:
        value = F.get(kept, F.when(parts.sound, F.lit(0)))
        return F.struct(value.alias("value"), _error(parts, payload).alias("error")).alias(_NAME)
    if mode == DROP:
        # explode makes no row of an empty array, and one row of an array with a NULL. A generator decodes per mention.
        is_kept = parts.sound if drop is None else parts.sound & ~drop
        return F.explode(F.slice(kept, F.lit(1), F.when(is_kept, volatile(1)).otherwise(F.lit(0))))
    raise PlanError(f"mode is FAILFAST, PERMISSIVE or DROP, not {mode!r}")


def message_in(column: ColumnOrName, headers: ColumnOrName | None, *, is_key: bool) -> Message:
    """The messages of a column, whose schemas headers may name; see `messages`."""
    return message_of(messages(column), None if headers is None else as_column(headers), is_key=is_key)


def messages(column: ColumnOrName) -> Column:
    """The column of messages: binary, or text as its bytes; Spark refuses another type and names the column."""
    # The optimiser removes the NULL again.
    return F.coalesce(as_column(column), F.lit(None).cast("binary"))


def _error(parts: Decoded, payload: Column) -> Column:
    failure = no_failure() if parts.failure is None else parts.failure
    return F.when(
        ~parts.sound,
        F.struct(
            F.concat(parts.reason, volatile("")).alias("reason"),
            parts.schema_id.alias("id"),
            payload.alias("raw"),
            failure["rule"].alias("rule"),
            failure["path"].alias("path"),
        ),
    )
