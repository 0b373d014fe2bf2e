"""The steps unwrap, key, headers and sample."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.types import StructType

from spark_avro.pipeline.file.steps import Headers, Key, Sample, Unwrap
from spark_avro.pipeline.ports import HEADERS, KEY, POSITION
from spark_avro.pipeline.steps.fields_at import column_at
from spark_avro.pipeline.steps.sql import expression
from spark_avro.pipeline.steps.step import StepContext, passed_on

_BUCKETS = 1_000_000


def unwrap(rows: DataFrame, step: Unwrap, _context: StepContext) -> DataFrame:
    """The row of a Debezium event with `_op`: u after a change, d for a deletion, which has the row before it.

    A tombstone repeats the deletion before it. It gets the fields of the decoded key; without one, it is dropped.
    """
    missing = [name for name in ("before", "after", "op") if name not in rows.columns]
    if missing:
        raise step.error("", f"the rows have no {' and no '.join(missing)}, so they are no Debezium events")
    kind = rows.schema["after"].dataType
    if not isinstance(kind, StructType):
        raise step.error("", f"after is {kind.simpleString()}, not a struct, so these are no Debezium events")
    is_tombstone = F.col("op").isNull() & F.col("after").isNull() & F.col("before").isNull()
    deleted = is_tombstone | F.coalesce(F.col("op") == "d", F.lit(False))
    kept = passed_on(rows)
    key_kind = rows.schema[KEY].dataType if KEY in kept else None
    key_names = key_kind.names if isinstance(key_kind, StructType) else []
    if not key_names:
        rows = rows.where(~is_tombstone)
    row = F.coalesce(F.col("after"), F.col("before"))
    columns = [_field(row, name, is_in_key=name in key_names) for name in kind.names]
    return rows.select(*columns, F.when(deleted, F.lit("d")).otherwise(F.lit("u")).alias("_op"), *kept)


def _field(row: Column, name: str, *, is_in_key: bool) -> Column:
    value = row.getField(name)
    return (F.coalesce(value, F.col(KEY).getField(name)) if is_in_key else value).alias(name)


def key(rows: DataFrame, step: Key, _context: StepContext) -> DataFrame:
    """The rows with `_key`: a field, or a struct of several."""
    columns = [column_at(path, rows.schema).alias(path.parts[-1]) for path in step.paths]
    return rows.withColumn(KEY, columns[0] if len(columns) == 1 else F.struct(*columns))


def headers(rows: DataFrame, step: Headers, _context: StepContext) -> DataFrame:
    """The rows with `_headers`."""
    entries = [
        F.struct(F.lit(name).alias("key"), expression(text, rows).cast("string").cast("binary").alias("value"))
        for name, text in step.headers.items()
    ]
    return rows.withColumn(HEADERS, F.array(*entries))


def sample(rows: DataFrame, step: Sample, _context: StepContext) -> DataFrame:
    """A share of the rows by a hash of the key or of the position, so that a repeated batch keeps the same rows."""
    place = [F.col(f"{POSITION}.{name}") for name in ("topic", "partition", "offset")]
    by_row = F.xxhash64(*place)
    if step.rows is not None:
        hashed, share = by_row, step.rows
    else:
        assert step.keys is not None
        made = F.col(KEY).cast("string") if KEY in rows.columns else F.col(f"{POSITION}.key")
        hashed, share = F.when(made.isNull(), by_row).otherwise(F.xxhash64(made)), step.keys
    return rows.where(F.pmod(hashed, F.lit(_BUCKETS)) < int(share * _BUCKETS))
