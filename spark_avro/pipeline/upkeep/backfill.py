"""`pipeline backfill`: a range of the source is processed again with today's steps and schemas."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from dataclasses import replace as with_fields
from typing import Any, Protocol

from pyspark.sql import SparkSession

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.sinks import DeltaSink, FilesSink, IcebergSink, JdbcSink, KafkaSink, SqlSink, Upsert
from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.ports import POSITION, BatchIdentity, SinkRefused, SourceRange
from spark_avro.pipeline.run.result import RunResult
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.sources.checkpoint_reader import Offsets
from spark_avro.pipeline.sources.opening import open_source
from spark_avro.pipeline.sources.time_range import range_id
from spark_avro.pipeline.sources.topic_log import TopicLog
from spark_avro.pipeline.state.operators import operators_of
from spark_avro.pipeline.upkeep.catalogs import open_catalogs, table_name
from spark_avro.pipeline.upkeep.file_batches import (
    begin_replacement,
    finish_replacement,
    plan_replacement,
    recover_replacements,
)
from spark_avro.pipeline.upkeep.ranges import covered, union, words
from spark_avro.stored_values import exact_files


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
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    _batch: str = field(default="", init=False)

    def widened(self, ranges: Sequence[SourceRange]) -> tuple[SourceRange, ...]:
        """The offsets of whole batches: a file has all rows of its hour."""
        recover_replacements(self.folder)
        return plan_replacement(self.folder, ranges, self.topic_ids).ranges

    def has(self, ranges: Sequence[SourceRange], query_id: str) -> bool:
        """Whether the manifests have such offsets, including those of backfills, which are in no checkpoint."""
        batches = plan_replacement(self.folder, ranges, self.topic_ids).batches
        return any(not batch.startswith(f"{query_id}-") for batch in batches)

    def begin(self, batch: BatchIdentity) -> None:
        """Note which batches the new one replaces."""
        self._batch = str(batch)
        begin_replacement(self.folder, batch, plan_replacement(self.folder, batch.ranges, self.topic_ids).batches)

    def finish(self) -> None:
        """Delete those batches."""
        finish_replacement(self.folder, self._batch)


@dataclass
class ReplaceKeys:
    """Rows that are written by their keys: the new ones take the place of the old ones.

    Attributes:
        ends: Where the stream ends, if rows may delete their keys; empty if not.
    """

    ends: Offsets = field(default_factory=dict, kw_only=True)

    def widened(self, ranges: Sequence[SourceRange]) -> tuple[SourceRange, ...]:
        """The ranges and all later records of their partitions, which say which keys were deleted since."""
        later = (with_fields(part, end=max(part.end, self._end(part))) for part in ranges)
        return union(later)

    def _end(self, part: SourceRange) -> int:
        return self.ends.get(part.topic, {}).get(part.partition, 0)

    def has(self, ranges: Sequence[SourceRange], query_id: str) -> bool:
        """False: rows do not say which backfill wrote them."""
        del ranges, query_id
        return False

    def begin(self, batch: BatchIdentity) -> None:
        """Nothing has to be deleted."""

    def finish(self) -> None:
        """Nothing is left to do."""


@dataclass
class ReplaceRows:
    """Rows of a Delta or Iceberg table, by their column `_kafka`: they are deleted, then the new ones are written.

    Readers miss the rows in between. If the batch fails, the same command has to be run again.
    """

    spark: SparkSession
    table: str
    former_ids: Mapping[str, tuple[str, ...]]

    def widened(self, ranges: Sequence[SourceRange]) -> tuple[SourceRange, ...]:
        """The ranges themselves.

        Raises:
            SinkRefused: the table has rows of a topic of the same name and offsets that was deleted.
        """
        for part in ranges:
            if part.topic in self.former_ids:
                raise SinkRefused(
                    f"--replace: topic {part.topic} was deleted and made again, and {self.table} has rows of both"
                    " topics with the same offsets: delete the rows by another column"
                )
        return union(ranges)

    def has(self, ranges: Sequence[SourceRange], query_id: str) -> bool:
        """False: rows do not say which backfill wrote them."""
        del ranges, query_id
        return False

    def begin(self, batch: BatchIdentity) -> None:
        """Delete the rows."""
        conditions = (
            f"({POSITION}.topic = '{part.topic}' AND {POSITION}.partition = {part.partition}"
            f" AND {POSITION}.offset >= {part.start} AND {POSITION}.offset < {part.end})"
            for part in batch.ranges
        )
        # The files that have other rows, too, are written anew.
        with exact_files(self.spark):
            self.spark.sql(f"DELETE FROM {self.table} WHERE {' OR '.join(conditions)}")  # noqa: S608 - names of the file

    def finish(self) -> None:
        """Nothing is left to do."""


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
        PipelineError: rows are to be replaced, and a step remembers rows.
        Failure: the batch failed; the same call does it again.
    """
    _check(pipeline, ranges, replace=replace)
    open_catalogs(pipeline, spark)
    checkpoint = Checkpoint(spark, pipeline.checkpoint)
    past = _past(pipeline, spark, checkpoint)
    targets = [_replacing(spec, past, must_replace=replace) for spec in pipeline.all_sinks]
    query_id = range_id(ranges)
    if not replace:
        written = covered(checkpoint, ranges, past.former_ids)
        if written:
            raise SinkRefused(f"the pipeline has written {words(written)} already; --replace writes it anew")
        if any(target.has(ranges, query_id) for target in targets if target is not None):
            raise SinkRefused("an earlier backfill has written some of these offsets; --replace writes them anew")
        return Running(pipeline, spark).run_range(_with_deletes(targets, ranges), query_id, past.former_ids)
    whole = union(ranges)
    # If one target widens the offsets, the others have to take them too.
    while (widened := _widened(targets, whole)) != whole:
        whole = widened
    # Refuse if a batch of the stream is not finished.
    covered(checkpoint, whole, past.former_ids)
    batch = BatchIdentity(pipeline.name, f"{range_id(whole)}-{time.time_ns():x}", 0, whole)
    for target in targets:
        if target is not None:
            target.begin(batch)
    result = Running(pipeline, spark).run_range(whole, batch.query_id, past.former_ids)
    for target in targets:
        if target is not None:
            target.finish()
    return result


def _check(pipeline: Pipeline, ranges: Sequence[SourceRange], *, replace: bool) -> None:
    if not ranges:
        raise SinkRefused("the range has no offsets")
    if replace and (operators := operators_of(pipeline)):
        kind = "check" if operators[0].kind == "unique" else "step"
        raise operators[0].section.error(
            "",
            "backfill --replace does not know which rows of the target are made of a range's records, since this"
            f" {kind} remembers rows from batch to batch; run the pipeline anew, with another checkpoint and target",
        )


@dataclass(frozen=True, slots=True)
class _Past:
    """The history of the stream: its end offsets, the ids of its topics, and those of topics that were deleted."""

    spark: SparkSession
    ends: Offsets
    topic_ids: Mapping[str, str]
    former_ids: Mapping[str, tuple[str, ...]]


def _past(pipeline: Pipeline, spark: SparkSession, checkpoint: Checkpoint) -> _Past:
    number = checkpoint.last_committed()
    log, following = TopicLog(checkpoint.folder), (-1 if number is None else number) + 1
    with closing(open_source(spark, pipeline)) as source:
        replaced = source.replaced(log.ids(following))
    if replaced:
        raise SinkRefused(
            f"{', '.join(replaced)} was deleted and made again since the pipeline's last batch; run the pipeline first"
        )
    ends = {} if number is None else checkpoint.ends(number)
    return _Past(spark, ends, log.ids(following), log.former_ids(following))


def _with_deletes(targets: Sequence[Replacing | None], ranges: Sequence[SourceRange]) -> tuple[SourceRange, ...]:
    """The ranges of a backfill that replaces nothing, with the later records that delete keys.

    Raises:
        SinkRefused: there are such records, and another sink would have them twice.
    """
    by_keys = [target for target in targets if isinstance(target, ReplaceKeys)]
    whole = union(part for target in by_keys for part in target.widened(ranges)) or union(ranges)
    if whole != union(ranges) and len(by_keys) != len(targets):
        raise SinkRefused(
            "keys that were deleted after these offsets would come back, and the later records would be in the other"
            " sinks twice; --replace writes them anew, or use a file for each sink"
        )
    return whole


def _widened(targets: Sequence[Replacing | None], ranges: tuple[SourceRange, ...]) -> tuple[SourceRange, ...]:
    return union(part for target in targets if target is not None for part in (*ranges, *target.widened(ranges)))


def _replacing(spec: Any, past: _Past, *, must_replace: bool) -> Replacing | None:
    """The replacement of rows in a sink; None if the sink cannot replace rows and need not.

    Raises:
        SinkRefused: rows are to be replaced, and the sink cannot.
    """
    made = _REPLACING[type(spec)](spec, past)
    if isinstance(made, str):
        if must_replace:
            raise SinkRefused(f"--replace: {made}")
        return None
    return made


def _of_keys(mode: Upsert, past: _Past) -> ReplaceKeys:
    return ReplaceKeys(ends=past.ends if mode.deletes is not None else {})


def _of_table(spec: DeltaSink | IcebergSink, past: _Past) -> Replacing | str:
    if isinstance(spec.mode, Upsert):
        return _of_keys(spec.mode, past)
    if not spec.keep_position:
        return "rows of a table are found by their positions, which keep-position: true keeps"
    return ReplaceRows(past.spark, table_name(spec), past.former_ids)


def _of_database(spec: SqlSink, past: _Past) -> Replacing | str:
    if isinstance(spec.mode, Upsert):
        return _of_keys(spec.mode, past)
    return "a table that rows are appended to cannot replace them; mode: {upsert: ...} does"


_REPLACING: Mapping[type[Any], Callable[[Any, _Past], Replacing | str]] = {
    FilesSink: lambda spec, past: ReplaceFiles(Folder(past.spark, spec.path), past.topic_ids),
    DeltaSink: _of_table,
    IcebergSink: _of_table,
    SqlSink: _of_database,
    KafkaSink: lambda _spec, _past: "records of a topic cannot be replaced",
    JdbcSink: lambda _spec, _past: "rows that Spark's JDBC writer appended cannot be told apart",
}
