"""Streams that follow new schema versions: before each micro-batch the registry is read again and the plan updated."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.error import RegistryUnavailable
from spark_avro.errors import BrokenRecord
from spark_avro.plan.decoding import UNKNOWN, Decoding
from spark_avro.registry import Registry
from spark_avro.selection import plan_decoding, select_versions
from spark_avro.streams.dead_letters import Counts, split

log = logging.getLogger(__name__)

#: Writes a batch's rows; a batch that is repeated after a crash has the same number.
Write = Callable[[DataFrame, int], None]

#: The most unknown ids of one batch that are looked up.
_UNKNOWN_IDS = 1000


@dataclass(slots=True)
class Follower:
    """A plan of decoding that `refresh` makes again with the registry's newest versions.

    Attributes:
        registry, subject, topic, reader_schema, fields, is_key: As in `from_confluent_avro`.
        ids: Schema ids in addition to the subject's versions.
    """

    registry: Registry = field(repr=False)
    subject: str | None = None
    topic: str | None = None
    reader_schema: str | None = None
    fields: Sequence[str] | None = None
    is_key: bool = False
    ids: tuple[int, ...] = ()
    _plan: Decoding | None = field(default=None)

    @property
    def plan(self) -> Decoding:
        """The plan of the last refresh."""
        return self.refresh() if self._plan is None else self._plan

    def refresh(self) -> Decoding:
        """Reads the registry and makes a new plan; if the registry does not answer, keeps the last plan.

        Raises:
            RegistryUnavailable: the registry does not answer, and there is no plan yet.
        """
        try:
            chosen = select_versions(
                registry=self.registry,
                subject=self.subject,
                topic=self.topic,
                ids=self.ids,
                reader_schema=self.reader_schema,
                is_key=self.is_key,
            )
        except RegistryUnavailable as error:
            if self._plan is None:
                raise
            log.warning("the registry does not answer; the last plan is used: %s", error)
            return self._plan
        plan = self._plan = plan_decoding(chosen, self.fields)
        return plan


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
        rows = split(batch, follower.refresh(), column)
        rows.persist()
        try:
            if _has_new_ids(rows, follower):
                rows.unpersist()
                rows = split(batch, follower.plan, column)
                rows.persist()
            counted = rows.agg(F.count(F.lit(1)).alias("all"), F.count("error").alias("dead")).collect()[0]
            counts = Counts(counted["all"], counted["all"] - counted["dead"], counted["dead"])
            if counts.dead and dead_letters is None:
                raise _broken(rows)
            good = rows.where(F.col("error").isNull()).drop("error").withColumnRenamed("decoded", column)
            write(good, number)
            if counts.dead and dead_letters is not None:
                dead_letters(rows.where(F.col("error").isNotNull()).drop("decoded"), number)
        finally:
            rows.unpersist()
        log.info("batch %d: %d rows, %d decoded, %d dead-lettered", number, counts.rows, counts.decoded, counts.dead)
        if on_batch is not None:
            on_batch(number, counts)

    return records.writeStream.foreachBatch(one_batch)


def _has_new_ids(rows: DataFrame, follower: Follower) -> bool:
    """Whether a refreshed plan has ids of the batch that the last plan did not have."""
    unknown = rows.where(F.col("error.reason").startswith(UNKNOWN)).select("error.id").distinct()
    ids = {row["id"] for row in unknown.limit(_UNKNOWN_IDS).collect()}
    return bool(ids) and not ids.isdisjoint(follower.refresh().ids)


def _broken(rows: DataFrame) -> Exception:
    first = rows.where(F.col("error").isNotNull()).drop("decoded").limit(1).collect()[0].asDict()
    place = ", ".join(f"{name} {first[name]}" for name in ("topic", "partition", "offset") if name in first)
    return BrokenRecord(first["error"]["reason"], place)
