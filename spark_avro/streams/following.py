"""Streams that follow new schema versions: before each micro-batch the registry is read again and the plan updated."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.error import RegistryUnavailable
from spark_avro.errors import BrokenRecord
from spark_avro.plan.decoding import UNKNOWN
from spark_avro.streams.dead_letters import Counts, split
from spark_avro.streams.followers import Follower, Plans

log = logging.getLogger(__name__)

#: Writes a batch's rows; a batch that is repeated after a crash has the same number.
Write = Callable[[DataFrame, int], None]

#: The most unknown ids of one batch that are looked up.
_UNKNOWN_IDS = 1000

#: Seconds before a registry that does not answer is asked again: the first pause, and the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0


@dataclass(frozen=True, slots=True)
class DecodedBatch:
    """A decoded batch.

    Attributes:
        rows: The rows as `split` returns them, persisted.
        counts: The numbers of rows.
        unknown: The ids that are not in the plan.
        measured: The results of the requested aggregates.
    """

    rows: DataFrame
    counts: Counts
    unknown: frozenset[int]
    measured: Mapping[str, Any]


def decode_batch(
    batch: DataFrame,
    plans: Mapping[str, Plans],
    *,
    patience: timedelta = timedelta(0),
    refresh: bool = True,
    measures: Mapping[str, Column] | None = None,
    kept: Sequence[str] | None = None,
) -> DecodedBatch:
    """Decodes a batch with a plan that has all ids that the registry has.

    If the registry does not answer, the last plan is used as long as it has all ids of the batch.

    Args:
        batch: The records.
        plans: The sources of the columns' plans. The first column's value is `decoded`, another one's
            `decoded_NAME`; `error` is that of the first column that has one, and `error_column` its name.
        patience: How long to wait for an unreachable registry that the batch needs.
        refresh: Whether versions that are registered after the first plan are read.
        measures: Further aggregates over the rows, by name.
        kept: The columns of the records that the rows have besides those of decoding; all if None.

    Raises:
        RegistryUnavailable: the registry does not answer, and the batch needs it.
    """
    for source in plans.values():
        patiently(source.refresh if refresh else partial(getattr, source, "plan"), patience)
    decoded = _decode(batch, plans, measures or {}, kept)
    if not refresh or not decoded.unknown:
        return decoded
    try:
        readable = {schema_id for source in plans.values() for schema_id in patiently(source.read, patience).ids}
    except BaseException:
        decoded.rows.unpersist()
        raise
    if decoded.unknown.isdisjoint(readable):
        return decoded
    decoded.rows.unpersist()
    return _decode(batch, plans, measures or {}, kept)


def decoded_rows(batch: DataFrame, plans: Mapping[str, Plans]) -> DataFrame:
    """A batch decoded with the last plans, not persisted; see `decode_batch`. Without plans, the rows as they are."""
    if not plans:
        return batch
    rows = batch
    for number, (column, source) in enumerate(plans.items()):
        names = ("decoded", "error") if number == 0 else (f"decoded_{column}", f"error_{column}")
        rows = split(rows, source.plan, column, names=names, drop_raw=number == 0)
    first, *others = plans
    if others:
        errors = [("error", first), *((f"error_{column}", column) for column in others)]
        of_column = F.coalesce(*(F.when(F.col(error).isNotNull(), F.lit(name)) for error, name in errors))
        rows = rows.withColumns(
            {"error_column": of_column, "error": F.coalesce(*(F.col(error) for error, _ in errors))}
        )
        rows = rows.drop(*(error for error, _ in errors[1:]))
    else:
        rows = rows.withColumn("error_column", F.lit(first))
    return rows


def _decode(
    batch: DataFrame, plans: Mapping[str, Plans], measures: Mapping[str, Column], kept: Sequence[str] | None
) -> DecodedBatch:
    rows = decoded_rows(batch, plans)
    if kept is not None:
        rows = rows.drop(*(name for name in batch.columns if name not in kept))
    rows = rows.persist()
    unknown = F.collect_set(F.when(F.col("error.reason").startswith(UNKNOWN), F.col("error.id")))
    standard = {"all_": F.count(F.lit(1)), "dead_": F.count("error"), "unknown_": F.slice(unknown, 1, _UNKNOWN_IDS)}
    aggregates = [measure.alias(name) for name, measure in {**standard, **measures}.items()]
    try:
        measured = rows.agg(*aggregates).collect()[0].asDict()
    except BaseException:
        rows.unpersist()
        raise
    counts = Counts(measured["all_"], measured["all_"] - measured["dead_"], measured["dead_"])
    return DecodedBatch(rows, counts, frozenset(measured["unknown_"]), measured)


def patiently(ask: Callable[[], Any], patience: timedelta) -> Any:
    """The result of a function that asks the registry; retries with growing pauses while it does not answer.

    Raises:
        RegistryUnavailable: the registry did not answer in this time.
    """
    deadline = time.monotonic() + patience.total_seconds()
    pause = _FIRST_PAUSE
    while True:
        try:
            return ask()
        except RegistryUnavailable as error:
            if time.monotonic() + pause > deadline:
                raise
            log.warning("the registry does not answer; the batch waits: %s", error)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def follow(
    records: DataFrame,
    write: Write,
    *,
    follower: Follower,
    dead_letters: Write | None = None,
    on_batch: Callable[[int, Counts], None] | None = None,
    column: str = "value",
) -> Any:
    """The writer of a stream; each micro-batch is decoded with the versions that the registry has at that moment.

    New versions need no restart: each batch is decoded with a plan made just before it, and again if it has ids that
    were registered in between. `write` receives its rows, and should be idempotent, as `sinks.parquet` is, because a
    batch is repeated after a crash.

    Args:
        records: A stream of Spark's Kafka source.
        write: Receives the rows: the source's columns, with the column's value decoded.
        follower: The plan, and the subject whose versions it follows.
        dead_letters: Receives the rows that could not be decoded, with `error`; without it, they stop the query.
        on_batch: Receives each batch's number and counts.
        column: The column to decode.

    Returns:
        Spark's DataStreamWriter: set checkpoint and trigger, and start it.
    """

    def one_batch(batch: DataFrame, number: int) -> None:
        decoded = decode_batch(batch, {column: follower})
        rows, counts = decoded.rows.drop("error_column"), decoded.counts
        try:
            if counts.dead and dead_letters is None:
                raise _broken(rows)
            good = rows.where(F.col("error").isNull()).drop("error").withColumnRenamed("decoded", column)
            write(good, number)
            if counts.dead and dead_letters is not None:
                dead_letters(rows.where(F.col("error").isNotNull()).drop("decoded"), number)
        finally:
            decoded.rows.unpersist()
        log.info("batch %d: %d rows, %d decoded, %d dead-lettered", number, counts.rows, counts.decoded, counts.dead)
        if on_batch is not None:
            on_batch(number, counts)

    return records.writeStream.foreachBatch(one_batch)


def _broken(rows: DataFrame) -> Exception:
    first = rows.where(F.col("error").isNotNull()).drop("decoded").limit(1).collect()[0].asDict()
    place = ", ".join(f"{name} {first[name]}" for name in ("topic", "partition", "offset") if name in first)
    return BrokenRecord(first["error"]["reason"], place)
