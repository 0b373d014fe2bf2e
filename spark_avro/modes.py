"""Handles broken records: FAILFAST raises, PERMISSIVE returns a NULL and an error, DROP drops them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.errors import PlanError
from spark_avro.plan.frames import Message, message_of
from spark_avro.plan.parts import Decoded
from spark_avro.rules.carried import no_failure

FAILFAST = "FAILFAST"
PERMISSIVE = "PERMISSIVE"
DROP = "DROP"

#: The columns of Spark's Kafka source that say where a record came from.
KAFKA_POSITION = ("topic", "partition", "offset")

#: The column's default name; otherwise Spark would use the whole expression as its name.
_NAME = "decoded"

#: A column, or the name of one.
ColumnOrName = Any


def present(
    parts: Decoded, payload: Column, *, mode: str, position: Sequence[ColumnOrName] = (), drop: Column | None = None
) -> Column:
    """A decoded column in a mode; `drop` is true for sound rows that DROP drops as well."""
    # `get` of an array instead of a CASE: it always evaluates both sides, so that Spark decodes once.
    kept = F.array(parts.value)
    if mode == FAILFAST:
        index = F.when(parts.sound, F.lit(0)).otherwise(F.raise_error(_placed(parts.reason, position)))
        return F.get(kept, index).alias(_NAME)
    if mode == PERMISSIVE:
        value = F.get(kept, F.when(parts.sound, F.lit(0)))
        return F.struct(value.alias("value"), _error(parts, payload).alias("error")).alias(_NAME)
    if mode == DROP:
        # explode makes no row of an empty array, and one row of an array with a NULL. A generator decodes per mention.
        is_kept = parts.sound if drop is None else parts.sound & ~drop
        return F.explode(F.slice(kept, F.lit(1), F.when(is_kept, _volatile(1)).otherwise(F.lit(0))))
    raise PlanError(f"mode is FAILFAST, PERMISSIVE or DROP, not {mode!r}")


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded column.

    Attributes:
        column: The column.
        failure: What rules left of the value, see `spark_avro.rules.carried.FAILURE`; None without rules.
    """

    column: Column
    failure: Column | None = None


def written(encoded: Encoded, *, mode: str, position: Sequence[ColumnOrName] = ()) -> Column:
    """An encoded column in a mode.

    Args:
        encoded: The column.
        mode: FAILFAST, PERMISSIVE or DROP.
        position: Columns of topic, partition and offset for errors.

    Raises:
        PlanError: there is no such mode.
    """
    if mode not in (FAILFAST, PERMISSIVE, DROP):
        raise PlanError(f"mode is FAILFAST, PERMISSIVE or DROP, not {mode!r}")
    failure = encoded.failure
    if failure is None:
        if mode == PERMISSIVE:
            return F.struct(encoded.column.alias("value"), no_failure().alias("error"))
        return encoded.column if mode == FAILFAST else F.explode(F.array(encoded.column))
    kept, passed = F.array(encoded.column), failure.isNull()
    if mode == FAILFAST:
        raised = F.raise_error(_placed(failure["reason"], position))
        return F.get(kept, F.when(passed, F.lit(0)).otherwise(raised))
    if mode == PERMISSIVE:
        return F.struct(F.get(kept, F.when(passed, F.lit(0))).alias("value"), failure.alias("error"))
    return F.explode(F.slice(kept, F.lit(1), F.when(passed, _volatile(1)).otherwise(F.lit(0))))


def as_column(column: ColumnOrName) -> Column:
    """The column itself, or the column of a name."""
    return F.col(column) if isinstance(column, str) else column


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
            F.concat(parts.reason, _volatile("")).alias("reason"),
            parts.schema_id.alias("id"),
            payload.alias("raw"),
            failure["rule"].alias("rule"),
            failure["path"].alias("path"),
        ),
    )


def _placed(reason: Column, position: Sequence[ColumnOrName]) -> Column:
    """The text of an error, with the place of its record."""
    places = [
        F.concat(F.lit(f" {name} "), F.coalesce(as_column(column).cast("string"), F.lit("?")), F.lit(","))
        for name, column in zip(KAFKA_POSITION, position, strict=False)
    ]
    task = F.concat(F.lit(" Spark partition "), F.spark_partition_id().cast("string"))
    return F.concat(reason, F.lit(" at"), *places, task)


def _volatile(value: int | str) -> Column:
    """A literal that the optimiser does not treat as a constant, so that it does not duplicate the expression."""
    kind = "int" if isinstance(value, int) else "string"
    return F.when(F.spark_partition_id() >= 0, F.lit(value)).otherwise(F.lit(None).cast(kind))
