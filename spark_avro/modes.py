"""What becomes of broken records: FAILFAST raises, PERMISSIVE says so beside a NULL, DROP leaves them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.errors import PlanError
from spark_avro.plan.decoding import Decoded

FAILFAST = "FAILFAST"
PERMISSIVE = "PERMISSIVE"
DROP = "DROP"

#: The columns of Spark's Kafka source that say where a record came from.
KAFKA_POSITION = ("topic", "partition", "offset")

#: What the column is called unless the query says: Spark would write out the whole expression.
_NAME = "decoded"

#: A column, or the name of one.
ColumnOrName = Any


def present(
    parts: Decoded, payload: Column, *, mode: str, position: Sequence[ColumnOrName] = (), drop: Column | None = None
) -> Column:
    """A decoded column in a mode; `drop` says which sound rows DROP leaves out as well."""
    # The first of an array, and not a CASE: `get` always evaluates both sides, so that Spark decodes once.
    kept = F.array(parts.value)
    if mode == FAILFAST:
        index = F.when(parts.sound, F.lit(0)).otherwise(F.raise_error(_message(parts, position)))
        return F.get(kept, index).alias(_NAME)
    if mode == PERMISSIVE:
        value = F.get(kept, F.when(parts.sound, F.lit(0)))
        return F.struct(value.alias("value"), _error(parts, payload).alias("error")).alias(_NAME)
    if mode == DROP:
        # explode of an empty array is no row; of an array with a NULL in it, one. A generator decodes for each mention.
        wanted = parts.sound if drop is None else parts.sound & ~drop
        return F.explode(F.slice(kept, F.lit(1), F.when(wanted, _volatile(1)).otherwise(F.lit(0))))
    raise PlanError(f"mode is FAILFAST, PERMISSIVE or DROP, not {mode!r}")


def as_column(column: ColumnOrName) -> Column:
    """The column, or that of a name."""
    return F.col(column) if isinstance(column, str) else column


def messages(column: ColumnOrName) -> Column:
    """The column of messages: binary, or text as its bytes; for one of another type Spark says so by its name."""
    # The optimiser takes the NULL out again.
    return F.coalesce(as_column(column), F.lit(None).cast("binary"))


def _error(parts: Decoded, payload: Column) -> Column:
    return F.when(
        ~parts.sound,
        F.struct(
            F.concat(parts.reason, _volatile("")).alias("reason"),
            parts.schema_id.alias("id"),
            payload.alias("raw"),
        ),
    )


def _message(parts: Decoded, position: Sequence[ColumnOrName]) -> Column:
    where = [
        F.concat(F.lit(f" {name} "), F.coalesce(as_column(column).cast("string"), F.lit("?")), F.lit(","))
        for name, column in zip(KAFKA_POSITION, position, strict=False)
    ]
    task = F.concat(F.lit(" Spark partition "), F.spark_partition_id().cast("string"))
    return F.concat(parts.reason, F.lit(" at"), *where, task)


def _volatile(value: int | str) -> Column:
    """A literal that the optimiser takes for no constant, so that what holds it is not evaluated in two places."""
    kind = "int" if isinstance(value, int) else "string"
    return F.when(F.spark_partition_id() >= 0, F.lit(value)).otherwise(F.lit(None).cast(kind))
