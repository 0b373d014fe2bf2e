"""Splitting rows into decoded rows and dead letters: input rows = decoded rows + dead letters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.modes import present
from spark_avro.plan.frames import BY_ID, FRAME, REPLAYED, Message, frame_column, replayed_rule
from spark_avro.plan.outcomes import PERMISSIVE
from spark_avro.plan.parts import ColumnPlan
from spark_avro.plan.rules.before import CARRIED, before_decoding
from spark_avro.streams.header_columns import HEADERS, with_headers

#: Columns of Spark's Kafka source.
_KAFKA = ("topic", "partition", "offset", "timestamp")


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of a batch's rows: all `rows`, `decoded` ones, and `dead` letters."""

    rows: int
    decoded: int
    dead: int


def split(
    records: DataFrame,
    plan: ColumnPlan,
    column: str = "value",
    *,
    drop_raw: bool = True,
    names: tuple[str, str] = ("decoded", "error"),
) -> DataFrame:
    """The records with `decoded` (the value, or NULL) and `error` (NULL, or a struct of `modes.present`).

    If the rows have `headers`, they may name the schemas.

    Args:
        records: Rows of Spark's Kafka source, or any rows with a binary column.
        plan: The plan that decodes the column.
        column: The column to decode.
        drop_raw: Whether the column is dropped; `error.raw` has the bytes of broken records.
        names: The names of the two columns.
    """
    kept = [name for name in records.columns if name != column or not drop_raw]
    for columns in split_columns(records.columns, plan, column, kept, names):
        records = records.select(*columns)
    return records


def split_columns(
    present_names: Sequence[str],
    plan: ColumnPlan,
    column: str,
    kept: Sequence[str],
    names: tuple[str, str],
    *,
    is_key: bool | None = None,
) -> list[list[Column]]:
    """The columns that `split` selects, one selection after the other.

    Args:
        present_names: The names of the records' columns.
        plan: The plan that decodes the column.
        column: The column to decode.
        kept: The names of the records' columns that the rows have.
        names: The names of the two columns of the result.
        is_key: Whether the column has keys; by default, whether its name is `key`.
    """
    sent = Message(F.col(column))
    unchanged = [F.col(f"`{name}`") for name in kept]
    selections: list[list[Column]] = []
    if plan.ids or plan.unreadable:
        needed = [F.col(f"`{name}`") for name in dict.fromkeys([*kept, column])]
        if "headers" in present_names:
            frames = [frame_column(is_key=column == "key" if is_key is None else is_key)]
            sent = Message(F.col(column), F.col(FRAME))
            if plan.rules:
                frames.append(replayed_rule(F.col("headers")).alias(REPLAYED))
                sent = replace(sent, replayed=F.col(REPLAYED))
            selections.append([*needed, *frames])
            needed += [F.col(FRAME), *([F.col(REPLAYED)] if plan.rules else [])]
        by_id = sent.by_id(plan.guids, indexes=plan.has_indexes)
        selections.append([*needed, by_id.alias(BY_ID)])
        sent = replace(sent, resolved=F.col(BY_ID))
        if plan.rules.by_id:
            needed.append(F.col(BY_ID))
            selections.append([*needed, before_decoding(F.col(BY_ID), plan.rules.by_id, sent.replayed).alias(CARRIED)])
            sent = replace(sent, carried=F.col(CARRIED))
    result = present(plan.parts(sent), sent.payload, mode=PERMISSIVE).alias("result_")
    value, error = F.col("result_.value").alias(names[0]), F.col("result_.error").alias(names[1])
    return [*selections, [*unchanged, result], [*unchanged, value, error]]


def to_dead_letters(
    rows: DataFrame, name: str, *, stage: str = "VALUE_CONVERTER", subject: str | None = None
) -> DataFrame:
    """The broken rows of `split` in the form of Spark's Kafka sink: key, the original bytes, and headers.

    The headers are those of `serdes.letters.headers`, after the record's original headers if the source was read
    with `includeHeaders`.

    Args:
        rows: Rows with an `error`.
        name: The application's name, for the header `connector.name`.
        stage: VALUE_CONVERTER or KEY_CONVERTER.
        subject: The subject that was decoded, for the header.
    """
    failed = rows.where(F.col("error").isNotNull())
    failure: dict[str, Column] = {
        **{part: F.col(part) for part in _KAFKA[:3] if part in rows.columns},
        "connector": F.lit(name),
        "task": F.spark_partition_id(),
        "stage": F.lit(stage),
        "executing": F.lit("spark_avro.from_confluent_avro"),
        "exception": F.lit("spark_avro.BrokenRecord"),
        "message": F.col("error.reason"),
        "stacktrace": F.lit(""),
        "schema_id": F.col("error.id"),
        "subject": F.lit(subject),
        **({"timestamp": F.unix_millis("timestamp")} if "timestamp" in rows.columns else {}),
    }
    original = F.col("headers") if "headers" in rows.columns else F.lit(None).cast(HEADERS)
    key = [F.col("key")] if "key" in rows.columns else []
    return failed.select(*key, F.col("error.raw").alias("value"), with_headers(original, failure).alias("headers"))
