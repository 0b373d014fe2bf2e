"""Streams that follow new schema versions: before each micro-batch the registry is read again and the plan updated."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.error import RegistryUnavailable
from spark_avro.errors import BrokenRecord
from spark_avro.streams.dead_letters import Counts
from spark_avro.streams.decoder import ALL, DEAD, UNKNOWN_IDS, Decoder, RecordDecoder
from spark_avro.streams.followers import Follower, Plans, SchemaName, names_in, schema_names

log = logging.getLogger(__name__)

#: Writes a batch's rows; a batch that is repeated after a crash has the same number.
Write = Callable[[DataFrame, int], None]

#: Seconds before a registry that does not answer is asked again: the first pause, and the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0


@dataclass(frozen=True, slots=True)
class DecodedBatch:
    """A decoded batch.

    Attributes:
        rows: The rows as `split` returns them, persisted.
        counts: The numbers of rows.
        unknown: The ids and guids that are not in the plan.
        measured: The results of the requested aggregates.
    """

    rows: DataFrame
    counts: Counts
    unknown: frozenset[SchemaName]
    measured: Mapping[str, Any]


def _as_they_are(batch: DataFrame) -> DataFrame:
    return batch


def decode_batch(
    batch: DataFrame,
    decoder: RecordDecoder,
    *,
    patience: timedelta = timedelta(0),
    refresh: bool = True,
    prepared: Callable[[DataFrame], DataFrame] = _as_they_are,
) -> DecodedBatch:
    """Decodes a batch with a plan that has all ids and guids that the registry has.

    If the registry does not answer, the last plan is used as long as it has all ids of the batch.

    Args:
        batch: The records.
        decoder: The plans, and what is measured.
        patience: How long to wait for an unreachable registry that the batch needs.
        refresh: Whether versions that are registered after the first plan are read.
        prepared: Returns the records to decode; called again whenever the plans change.

    Raises:
        RegistryUnavailable: the registry does not answer, and the batch needs it.
    """
    plans = decoder.plans.values()
    for source in plans:
        patiently(source.refresh if refresh else partial(getattr, source, "plan"), patience)
    decoded = _decode(prepared(batch), decoder)
    if not refresh or not decoded.unknown:
        return decoded
    try:
        is_known_now = _look_up(decoded.unknown, plans, patience)
    except BaseException:
        decoded.rows.unpersist()
        raise
    if not is_known_now:
        return decoded
    decoded.rows.unpersist()
    return _decode(prepared(batch), decoder)


def _look_up(unknown: Collection[SchemaName], plans: Collection[Plans], patience: timedelta) -> bool:
    """Asks the registry for the schemas that plans lack; whether a plan has one of them now."""
    # One plan may have an id that is unknown in another one's column.
    before = [schema_names(source.plan) for source in plans]
    for source in plans:
        patiently(source.read, patience)
        patiently(partial(source.find, unknown), patience)
    new = [schema_names(source.plan) - known for source, known in zip(plans, before, strict=True)]
    return not set(unknown).isdisjoint(set().union(*new))


def _decode(batch: DataFrame, decoder: RecordDecoder) -> DecodedBatch:
    rows = decoder.rows(batch).persist()
    try:
        measured = rows.agg(*decoder.measures(batch)).collect()[0].asDict()
    except BaseException:
        rows.unpersist()
        raise
    counts = Counts(measured[ALL], measured[ALL] - measured[DEAD], measured[DEAD])
    return DecodedBatch(rows, counts, names_in(measured[UNKNOWN_IDS]), measured)


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
            log.warning(
                "the registry does not answer; the batch waits: %s",
                error,
                extra={"event": "registry_unreachable", "error": str(error)},
            )
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
    decoder = Decoder({column: follower})

    def one_batch(batch: DataFrame, number: int) -> None:
        decoded = decode_batch(batch, decoder)
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
        log.info(
            "batch %d: %d rows, %d decoded, %d dead-lettered",
            number,
            counts.rows,
            counts.decoded,
            counts.dead,
            extra={
                "event": "batch_done",
                "batch": number,
                "rows": counts.rows,
                "decoded": counts.decoded,
                "dead": counts.dead,
            },
        )
        if on_batch is not None:
            on_batch(number, counts)

    return records.writeStream.foreachBatch(one_batch)


def _broken(rows: DataFrame) -> Exception:
    first = rows.where(F.col("error").isNotNull()).drop("decoded").limit(1).collect()[0].asDict()
    place = ", ".join(f"{name} {first[name]}" for name in ("topic", "partition", "offset") if name in first)
    return BrokenRecord(first["error"]["reason"], place)
