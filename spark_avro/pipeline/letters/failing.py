"""Decoded records that are sound, and that have to go round the steps all the same: they get an error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name


class Case(NamedTuple):
    """Records that fail.

    Attributes:
        is_it: Whether a record is one of them; never NULL.
        reason: The reason.
        column: The column or stage that fails, as in `error_column` of decoded records.
        schema_id: The schema id of the error.
    """

    is_it: Column
    reason: Column
    column: Column
    schema_id: Column


def failing(decoded: DataFrame, cases: Iterable[Case]) -> DataFrame:
    """Give the decoded records of some cases an error; a record that has an error keeps it.

    Args:
        decoded: The records, with `error` and `error_column`.
        cases: The cases.
    """
    kind: Any = decoded.schema["error"].dataType
    for case in cases:
        values = {"reason": case.reason, "id": case.schema_id}
        error = F.struct(*(values.get(name, F.lit(None)).cast(kind[name].dataType).alias(name) for name in kind.names))
        is_it = case.is_it & F.col("error").isNull()
        decoded = decoded.withColumns(
            {
                "error_column": F.when(is_it, case.column).otherwise(F.col("error_column")),
                "error": F.when(is_it, error).otherwise(F.col("error")),
            }
        )
    return decoded
