"""`pipeline backfill`: a range of the source is processed again with today's steps and schemas."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.sinks import DeltaSink, FilesSink, IcebergSink, JdbcSink, KafkaSink, SqlSink, Upsert
from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import POSITION, BatchIdentity, SinkRefused, SourceRange
from spark_avro.pipeline.run.running import Running, RunResult
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.sources.time_range import range_id
from spark_avro.pipeline.upkeep.catalogs import open_catalogs, table_name
from spark_avro.pipeline.upkeep.file_batches import (
    begin_replacement,
    finish_replacement,
    plan_replacement,
    recover_replacements,
)
from spark_avro.pipeline.upkeep.ranges import covered, union, words


class Replacing(Protocol):
    """Removes the rows of some offsets from a target, before or after the batch that writes them again."""

    def widened(self, ranges: Sequence[SourceRange]) -> tuple[SourceRange, ...]:
        """The offsets that can be replaced only together."""

    def has(self, ranges: Sequence[SourceRange], query_id: str) -> bool:
        """Whether a batch of another query is known to have some of the offsets."""

    def begin(self, batch: BatchIdentity) -> None:
        """Prepare for a batch that replaces the earlier rows of its offsets."""

    def finish(self) -> None:
        """Remove the rows that the batch replaces."""


@dataclass(slots=True)
class ReplaceFiles:
    """Batches of files: the new one is written, then the old ones are deleted."""

    folder: Folder
    _batch: str = field(default="", init=False)

    def widened(self, ranges: Sequence[SourceRange]) -> tuple[SourceRange, ...]:
        """The offsets of whole batches: a file has all rows of its hour."""
        recover_replacements(self.folder)
        return plan_replacement(self.folder, ranges).ranges

    def has(self, ranges: Sequence[SourceRange], query_id: str) -> bool:
        """Whether the manifests have such offsets, including those of backfills, which are in no checkpoint."""
        batches = plan_replacement(self.folder, ranges).batches
        return any(not batch.startswith(f"{query_id}-") for batch in batches)

    def begin(self, batch: BatchIdentity) -> None:
        """Note which batches the new one replaces."""
        self._batch = str(batch)
        begin_replacement(self.folder, batch, plan_replacement(self.folder, batch.ranges).batches)

    def finish(self) -> None:
        """Delete those batches."""
        finish_replacement(self.folder, self._batch)


class ReplaceKeys:
    """Rows that are written by their keys: the new ones take the place of the old ones."""

    def widened(self, ranges: Sequence[SourceRange]) -> tuple[SourceRange, ...]:
        """The ranges themselves."""
        return union(ranges)

    def has(self, ranges: Sequence[SourceRange], query_id: str) -> bool:
        """False: rows do not say which backfill wrote them."""
        del ranges, query_id
        return False

    def begin(self, batch: BatchIdentity) -> None:
        """Nothing has to be deleted."""

    def finish(self) -> None:
        """Nothing is left to do."""


@dataclass
class ReplaceRows(ReplaceKeys):
    """Rows of a Delta or Iceberg table, by their column `_kafka`: they are deleted, then the new ones are written.

    Readers miss the rows in between. If the batch fails, the same command has to be run again.
    """

    spark: SparkSession
    table: str

    def begin(self, batch: BatchIdentity) -> None:
        """Delete the rows."""
        conditions = (
            f"({POSITION}.topic = '{part.topic}' AND {POSITION}.partition = {part.partition}"
            f" AND {POSITION}.offset >= {part.start} AND {POSITION}.offset < {part.end})"
            for part in batch.ranges
        )
        self.spark.sql(f"DELETE FROM {self.table} WHERE {' OR '.join(conditions)}")  # noqa: S608 - names of the file


def backfill(
    pipeline: Pipeline, spark: SparkSession, ranges: Sequence[SourceRange], *, replace: bool = False
) -> RunResult:
    """Process a range of the source again, as one batch.

    Args:
        pipeline: The file.
        spark: The session.
        ranges: The offsets.
        replace: Whether the earlier rows of these offsets are removed.

    Raises:
        SinkRefused: the stream has written some of the offsets, and `replace` is false; or a sink cannot replace rows.
        Failure: the batch failed; the same call does it again.
    """
    if not ranges:
        raise SinkRefused("the range has no offsets")
    open_catalogs(pipeline, spark)
    targets = [_replacing(spec, spark, replace=replace) for spec in pipeline.all_sinks]
    checkpoint = Checkpoint(spark, pipeline.checkpoint)
    query_id = range_id(ranges)
    if not replace:
        written = covered(checkpoint, ranges)
        if written:
            raise SinkRefused(f"the pipeline has written {words(written)} already; --replace writes it anew")
        if any(target.has(ranges, query_id) for target in targets if target is not None):
            raise SinkRefused("an earlier backfill has written some of these offsets; --replace writes them anew")
        return Running(pipeline, spark).run_range(ranges, query_id)
    whole = union(ranges)
    # If one target widens the offsets, the others have to take them too.
    while (widened := _widened(targets, whole)) != whole:
        whole = widened
    covered(checkpoint, whole)
    batch = BatchIdentity(pipeline.name, f"{range_id(whole)}-{time.time_ns():x}", 0, whole)
    for target in targets:
        if target is not None:
            target.begin(batch)
    result = Running(pipeline, spark).run_range(whole, batch.query_id)
    for target in targets:
        if target is not None:
            target.finish()
    return result


def _widened(targets: Sequence[Replacing | None], ranges: tuple[SourceRange, ...]) -> tuple[SourceRange, ...]:
    return union(part for target in targets if target is not None for part in (*ranges, *target.widened(ranges)))


def _replacing(spec: Any, spark: SparkSession, *, replace: bool) -> Replacing | None:
    """The replacement of rows in a sink; None if the sink cannot replace rows and need not.

    Raises:
        SinkRefused: rows are to be replaced, and the sink cannot.
    """
    made = _REPLACING[type(spec)](spec, spark)
    if isinstance(made, str):
        if replace:
            raise SinkRefused(f"--replace: {made}")
        return None
    return made


def _of_table(spec: DeltaSink | IcebergSink, spark: SparkSession) -> Replacing | str:
    if isinstance(spec.mode, Upsert):
        return ReplaceKeys()
    if not spec.keep_position:
        return "rows of a table are found by their positions, which keep-position: true keeps"
    return ReplaceRows(spark, table_name(spec))


def _of_database(spec: SqlSink, _spark: SparkSession) -> Replacing | str:
    if isinstance(spec.mode, Upsert):
        return ReplaceKeys()
    return "a table that rows are appended to cannot replace them; mode: {upsert: ...} does"


_REPLACING: Mapping[type[Any], Callable[[Any, SparkSession], Replacing | str]] = {
    FilesSink: lambda spec, spark: ReplaceFiles(Folder(spark, spec.path)),
    DeltaSink: _of_table,
    IcebergSink: _of_table,
    SqlSink: _of_database,
    KafkaSink: lambda _spec, _spark: "records of a topic cannot be replaced",
    JdbcSink: lambda _spec, _spark: "rows that Spark's JDBC writer appended cannot be told apart",
}
