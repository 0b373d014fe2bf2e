"""The handling of values that a column cannot have: the modes, texts of errors, and encoded columns in a mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.errors import PlanError
from spark_avro.plan.rules.carried import no_failure

FAILFAST = "FAILFAST"
PERMISSIVE = "PERMISSIVE"
DROP = "DROP"

#: The columns of Spark's Kafka source that say where a record came from.
KAFKA_POSITION = ("topic", "partition", "offset")

#: A column, or the name of one.
ColumnOrName = Any


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encoded column.

    Attributes:
        column: The column.
        failure: What rules left of the value, see `spark_avro.plan.rules.carried.FAILURE`; None without rules.
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
        raised = F.raise_error(placed(failure["reason"], position))
        return F.get(kept, F.when(passed, F.lit(0)).otherwise(raised))
    if mode == PERMISSIVE:
        return F.struct(F.get(kept, F.when(passed, F.lit(0))).alias("value"), failure.alias("error"))
    return F.explode(F.slice(kept, F.lit(1), F.when(passed, volatile(1)).otherwise(F.lit(0))))


def as_column(column: ColumnOrName) -> Column:
    """The column itself, or the column of a name."""
    return F.col(column) if isinstance(column, str) else column


def placed(reason: Column, position: Sequence[ColumnOrName]) -> Column:
    """The text of an error, with the place of its record."""
    places = [
        F.concat(F.lit(f" {name} "), F.coalesce(as_column(column).cast("string"), F.lit("?")), F.lit(","))
        for name, column in zip(KAFKA_POSITION, position, strict=False)
    ]
    task = F.concat(F.lit(" Spark partition "), F.spark_partition_id().cast("string"))
    return F.concat(reason, F.lit(" at"), *places, task)


def volatile(value: int | str) -> Column:
    """A literal that the optimiser does not treat as a constant, so that it does not duplicate the expression."""
    kind = "int" if isinstance(value, int) else "string"
    return F.when(F.spark_partition_id() >= 0, F.lit(value)).otherwise(F.lit(None).cast(kind))
