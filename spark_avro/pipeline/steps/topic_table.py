"""The step join with a topic: the newest value of each key of a compacted topic, as a table.

In a stream, the records of the topic and the rows are one input of an operator that keeps the newest value of each key.
It takes the records of a batch before the rows of the batch. In a batch the table is all of the topic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.field_path import FieldPath, quoted
from spark_avro.pipeline.file.steps import Join
from spark_avro.pipeline.ports import EVENT_TIME, KEY, POSITION, UNMATCHED
from spark_avro.pipeline.steps.fields_at import column_at, type_at
from spark_avro.pipeline.steps.newest_value import BUCKETS, INPUT, OUTPUT, NewestValue
from spark_avro.pipeline.steps.row_bytes import row_bytes, row_columns
from spark_avro.pipeline.steps.step import StepContext

#: A record's columns besides its value and its key.
_DELETED, _PLACE = "deleted_", ("partition", "offset", "timestamp")
_KEY, _VALUE, _NEWEST, _SINCE = "join_key", "payload", "newest_", "since_"
_INTEGERS = {"tinyint", "smallint", "int", "bigint"}
_OTHERS = {"string", "binary", "date", "timestamp", "timestamp_ntz", "boolean"}


def table_records(decoded: DataFrame) -> DataFrame:
    """The records of a topic that is a table: their values' fields, `_key`, their places, and if they delete a key.

    Args:
        decoded: The decoded records, without those that have an error.
    """
    is_record = isinstance(decoded.schema["decoded"].dataType, spark.StructType)
    value = F.col("decoded.*") if is_record else F.col("decoded").alias("value")
    place = [F.col(f"{POSITION}.{name}").alias(f"{name}_") for name in _PLACE]
    return decoded.select(value, F.col("decoded_key").alias(KEY), *place, F.col("decoded").isNull().alias(_DELETED))


def unmatched_name(step: Join) -> str:
    """The name of the number of rows without a match in Spark's progress."""
    return f"{step.origin.setting} {UNMATCHED}"


def join_topic_stream(rows: DataFrame, step: Join, context: StepContext) -> DataFrame:
    """The rows of a stream, with the newest value of their key."""
    records = context.topic(step)
    own, keys = _keys(rows, records, step)
    rows = rows.drop(EVENT_TIME)
    fields, values = rows.schema.fields, _values(records)
    zero = F.lit(0).cast("bigint")
    of_row = F.when(_is_whole(own), _key_bytes(own, step))
    # Rows without a key have no match; they are spread over the buckets by their places.
    place = F.xxhash64(F.coalesce(of_row, F.col(f"{POSITION}.offset").cast("string").cast("binary")))
    stream = rows.select(
        F.pmod(place, F.lit(BUCKETS)).cast("int"),
        of_row,
        F.lit(False),
        F.lit(0),
        zero,
        zero,
        row_bytes(fields, step),
    )
    of_record = _key_bytes(keys, step)
    table = records.where(_is_whole(keys)).select(
        F.pmod(F.xxhash64(of_record), F.lit(BUCKETS)).cast("int"),
        of_record,
        F.lit(True),
        F.col("partition_"),
        F.col("offset_"),
        F.coalesce(F.unix_millis("timestamp_"), zero),
        F.when(~F.col(_DELETED), row_bytes(values, step)),
    )
    united = stream.toDF(*INPUT).union(table.toDF(*INPUT))
    wait = None if step.wait is None else round(step.wait.total_seconds() * 1000)
    mode = "None" if wait is None else "ProcessingTime"
    joined = united.groupBy(INPUT[0]).transformWithStateInPandas(NewestValue(wait), OUTPUT, "Append", mode)
    joined = joined.observe(unmatched_name(step), F.count_if(~F.col("is_matched")).alias("unmatched"))
    if step.how == "inner":
        joined = joined.where("is_matched")
    names = {field.name for field in fields}
    found = [
        column
        for column, field in zip(row_columns(F.col("found"), values, step), values, strict=True)
        if field.name not in names
    ]
    return joined.select(*row_columns(F.col("row"), fields, step), *found)


def join_topic_batch(rows: DataFrame, step: Join, context: StepContext) -> DataFrame:
    """The rows, with the newest value that their key has at the end of the topic."""
    records = context.topic(step)
    own, keys = _keys(rows, records, step)
    values = _values(records)
    value = F.struct(_DELETED, *(F.col(quoted((field.name,))) for field in values)).alias(_VALUE)
    placed = records.where(_is_whole(keys)).select(
        _key_bytes(keys, step).alias(_KEY), "partition_", "offset_", F.unix_millis("timestamp_").alias(_SINCE), value
    )
    # As the operator of a stream compares records: by the offset in a partition, and else by the time.
    newest = (
        placed.groupBy(_KEY, "partition_")
        .agg(F.max(_SINCE).alias(_SINCE), F.max_by(_VALUE, "offset_").alias(_VALUE))
        .groupBy(_KEY)
        .agg(F.max_by(_VALUE, F.struct(_SINCE, "partition_")).alias(_NEWEST))
        .where(~F.col(f"{_NEWEST}.{_DELETED}"))
    )
    new = [field.name for field in values if field.name not in rows.columns]
    of_row = F.when(_is_whole(own), _key_bytes(own, step))
    joined = rows.withColumn(_KEY, of_row).join(newest, _KEY, step.how)
    return joined.select(
        *(F.col(quoted((name,))) for name in rows.columns),
        *(F.col(f"{_NEWEST}.{quoted((name,))}").alias(name) for name in new),
    )


def _values(records: DataFrame) -> list[spark.StructField]:
    """The fields of a record's value."""
    others = {KEY, _DELETED, *(f"{name}_" for name in _PLACE)}
    return [field for field in records.schema.fields if field.name not in others]


@dataclass(frozen=True, slots=True)
class _KeyPart:
    """A part of a key, with the type in which both sides are compared."""

    column: Column
    kind: spark.DataType


def _keys(rows: DataFrame, records: DataFrame, step: Join) -> tuple[list[_KeyPart], list[_KeyPart]]:
    """The parts of the rows' key and of the records' key, in the same order and types.

    Raises:
        PipelineError: they do not fit.
    """
    assert isinstance(step.condition, tuple)
    kind = records.schema[KEY].dataType
    parts = (
        {field.name: (F.col(KEY)[field.name], field.dataType) for field in kind.fields}
        if isinstance(kind, spark.StructType)
        else {"": (F.col(KEY), kind)}
    )
    paths = list(step.condition)
    if len(parts) == 1 and len(paths) == 1:
        pairs = [(paths[0], next(iter(parts)))]
    else:
        pairs = [(path, path.parts[-1]) for path in paths]
        if sorted(name for _, name in pairs) != sorted(parts):
            names = ", ".join(parts) if isinstance(kind, spark.StructType) else f"one value ({kind.simpleString()})"
            raise step.error(
                "on",
                f"must name all fields of the key of {step.topic}: {names}; rename the fields of the rows in a step"
                " before",
            )
    own, other = [], []
    for path, name in sorted(pairs, key=lambda pair: list(parts).index(pair[1])):
        column, there = parts[name]
        common = _common(path, type_at(path, rows.schema), there, step)
        own.append(_KeyPart(column_at(path, rows.schema).cast(common), common))
        other.append(_KeyPart(column.cast(common), common))
    return own, other


def _common(path: FieldPath, here: spark.DataType, there: spark.DataType, step: Join) -> spark.DataType:
    """The type in which a part of a key is compared.

    Raises:
        PipelineError: there is none.
    """
    names = {here.simpleString(), there.simpleString()}
    if names <= _INTEGERS:
        return spark.LongType()
    if len(names) == 1 and (names <= _OTHERS or isinstance(here, spark.DecimalType)):
        return here
    raise step.error(
        "on",
        f"{path} is {here.simpleString()}, and the key of {step.topic} is {there.simpleString()}; keys are whole"
        " numbers, decimals, texts, bytes, dates, timestamps or booleans of the same type, so cast it in a step before",
    )


def _is_whole(parts: Sequence[_KeyPart]) -> Column:
    """Whether no part of a key is NULL."""
    whole = F.lit(True)
    for part in parts:
        whole &= part.column.isNotNull()
    return whole


def _key_bytes(parts: Sequence[_KeyPart], step: Join) -> Column:
    """A key as bytes: equal keys have equal bytes."""
    fields = [spark.StructField(f"k{number}", part.kind) for number, part in enumerate(parts)]
    return row_bytes(fields, step, [part.column for part in parts])
