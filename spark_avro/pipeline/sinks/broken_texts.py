"""Rows with a text that a target would change, because it is not UTF-8."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.ports import POSITION, REASON, Reject
from spark_avro.valid_text import has_broken_text


def broken_text(columns: Iterable[tuple[str, Column, spark.DataType]], target: str) -> Column | None:
    """The reason why a row is rejected, NULL if all its texts are UTF-8; None if no column has texts.

    Args:
        columns: The name, the column and the type of what becomes text or JSON in the target.
        target: What the columns become, for the reason.
    """
    reasons = [
        F.when(broken, F.lit(f"column {name}: {broken_text_of(target)}"))
        for name, column, kind in columns
        if (broken := has_broken_text(column, kind)) is not None
    ]
    return F.coalesce(*reasons) if reasons else None


@dataclass(frozen=True, slots=True)
class SplitRows:
    """The rows to write, and how many others were rejected."""

    good: DataFrame
    refused: int = 0


def split_rows(rows: DataFrame, reason: Column | None, reject: Reject) -> SplitRows:
    """Reject the rows for which there is a reason, before the others are written.

    Args:
        rows: The rows, with `_kafka`.
        reason: NULL for rows to write; None if no row can be rejected.
        reject: Receives the rejected rows.
    """
    if reason is None:
        return SplitRows(rows)
    rejected = rows.where(reason.isNotNull()).select(POSITION, reason.alias(REASON))
    refused = rejected.count()
    if not refused:
        return SplitRows(rows)
    reject(rejected)
    return SplitRows(rows.where(reason.isNull()), refused)


def broken_text_of(target: str) -> str:
    """The problem of a text, for reasons."""
    return f"a text is not UTF-8, and {target} would have U+FFFD in place of its bytes; cast it to binary in a step"
