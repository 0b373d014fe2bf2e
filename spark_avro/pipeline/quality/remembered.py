"""`unique` with `within`: a row whose key an earlier batch had is a repeat."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.policies import Check
from spark_avro.pipeline.quality.conditions import columns

_NEW = "new_key_"


def mark_repeats(rows: DataFrame, check: Check, new_keys: DataFrame, mark: str) -> DataFrame:
    """The rows with a column that is true if an earlier batch had the key within the time.

    Args:
        rows: The rows of a batch.
        check: A check with `unique.within`.
        new_keys: The keys of the batch that no earlier batch had: one struct `key` for each.
        mark: The column's name.
    """
    assert check.unique is not None
    key = F.struct(*(column.alias(f"key{at}") for at, column in enumerate(columns(check.unique.key, rows))))
    new = new_keys.select(F.col("key").alias(_NEW))
    return rows.join(new, key.eqNullSafe(F.col(_NEW)), "left").withColumn(mark, F.col(_NEW).isNull()).drop(_NEW)
