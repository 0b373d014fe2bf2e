"""A topic, exactly once, without the driver: several writers, each with transactions of its own for its records."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import KafkaSink
from spark_avro.pipeline.ports import (
    BatchIdentity,
    Delivery,
    Guarantee,
    Reject,
    SinkContext,
    SinkRefused,
    SinkResult,
)
from spark_avro.pipeline.session_settings import applied
from spark_avro.pipeline.sinks.collected import collected
from spark_avro.pipeline.sinks.kafka.division import MARK, PAYLOAD, WRITER, Divider, Division, have_places, look_around
from spark_avro.pipeline.sinks.kafka.exact_topic import ExactTopic
from spark_avro.pipeline.sinks.kafka.mirroring import frame_columns
from spark_avro.pipeline.sinks.kafka.ownership import Started, StartedWriter
from spark_avro.pipeline.sinks.kafka.producing import TopicLimits, refusing
from spark_avro.pipeline.sinks.kafka.query_records import StageRecord
from spark_avro.pipeline.sinks.kafka.stage import ONE_FILE_A_TASK, Stage, StagedRecords
from spark_avro.pipeline.sinks.kafka.writing import OUTCOME, Outcome, Writing
from spark_avro.pipeline.sinks.marker import Marker, is_written, marker_of


@dataclass(slots=True)
class _Query:
    """The writers of a query.

    Attributes:
        query_id: The query.
        limits: What records the topic takes.
        started: What the start found.
        writers: The writers, with their last markers.
        divider: Divides records among the writers.
        stage: The folder in which batches are stored; a backfill beside the stream has another one.
        noted: The division of the last batch.
    """

    query_id: str
    limits: TopicLimits
    started: Started
    writers: tuple[StartedWriter, ...]
    divider: Divider
    stage: Stage
    noted: StageRecord | None

    @property
    def last(self) -> Marker | None:
        """The marker of the last batch that all writers have written."""
        markers = [writer.marker for writer in self.writers if writer.marker is not None]
        return min(markers, key=lambda marker: marker.batch) if len(markers) == len(self.writers) else None


class ExecutorsTarget:
    """A topic that executors write to.

    A batch's records are divided among the writers. Each writes its records and a marker in one transaction. So a
    repeated batch is completed by the writers that have not committed it: with the records of the same source
    partitions, or with those that were stored before the first writer began.
    """

    guarantee = Guarantee(
        Delivery.EXACTLY_ONCE,
        "each writer writes its records of a batch and its marker in one transaction: those of some source partitions,"
        " or records that are stored before; readers see the parts of a batch one after the other",
        "refused, unless adopted",
        "tests/chaos/pipeline_killed.py --sink kafka-executors --sink kafka-by-key",
    )

    def __init__(self, spec: KafkaSink, context: SinkContext) -> None:
        """Make a sink.

        Raises:
            SinkRefused: Spark runs tasks twice at the same time.
        """
        session = context.spark
        if session.conf.get("spark.speculation", "false") == "true":
            raise SinkRefused(
                "sink.kafka.via: executors needs spark.speculation: false, because a second task of a writer fences the"
                " first one"
            )
        self._spec, self._context = spec, context
        self._topic = ExactTopic(spec, context)
        self._query: _Query | None = None

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check schemas and brokers; see `Sink`."""
        return self._topic.prepare(schema)

    def write(self, rows: DataFrame, batch: BatchIdentity, *, reject: Reject) -> SinkResult:
        """Write what the writers have not yet written of a batch; see `Sink`."""
        try:
            with refusing(self._topic.shown):
                return self._write(rows, batch, reject)
        except BaseException:
            # The outcome of transactions may be unknown: the next attempt reads the markers again.
            self.close()
            raise

    def close(self) -> None:
        """Forget the writers; each has closed its producer. See `Sink`."""
        if self._query is not None:
            self._query.started.producer.purge()
            self._query = None

    def _write(self, rows: DataFrame, batch: BatchIdentity, reject: Reject) -> SinkResult:
        query = self._opened(batch)
        is_new = not self._has_begun(query, batch)
        if self._pending(query, batch):
            query = self._finish(query, self._topic.records(rows, query.limits), batch, reject)
        markers = [writer.marker for writer in query.writers if writer.marker is not None]
        written, refused = sum(marker.written for marker in markers), sum(marker.refused for marker in markers)
        return SinkResult(written) if is_new else SinkResult(written, repeated=True, refused=refused)

    def _finish(self, query: _Query, records: DataFrame, batch: BatchIdentity, reject: Reject) -> _Query:
        """Let the writers write that have not written the batch; the query, which may have been opened again."""
        query, noted = self._noted(query, records, batch)
        numbered = query.divider.numbered(records, batch, noted.division)
        by_source = noted.division is Division.BY_SOURCE
        has_begun = self._has_begun(query, batch, noted.stored if by_source else None)
        # By source, a stage is of use only once a writer has written its part of it: then the letters are there.
        staged = query.stage.at(noted) if has_begun or not by_source else None
        if staged is None and by_source:
            self._run(query, query.divider.parts(numbered), batch, has_letters=False)
            if not self._pending(query, batch):
                return query
        elif staged is None and has_begun and not self._context.adopt:
            raise self._lost(query, batch)
        if staged is None:
            staged, has_begun = self._stored(query, numbered, batch, noted.division), False
        self._copy_schemas(staged)
        if staged.noted.marker.refused and not has_begun:
            # Once a writer has written, the letters are there: they are written before the first writer begins.
            reject(staged.rejected(self._context.spark))
        with applied(self._context.spark, ONE_FILE_A_TASK):
            self._run(query, staged.read(self._context.spark), batch, has_letters=True)
        query.stage.forget(staged)
        return query

    def _noted(self, query: _Query, records: DataFrame, batch: BatchIdentity) -> tuple[_Query, StageRecord]:
        """The query, perhaps opened anew, and a batch's division: an earlier attempt's, or one that the rows allow.

        Raises:
            SinkRefused: Some writers have written the batch, and the others cannot get the rows that are missing.
        """
        count, adopt = len(query.writers), self._context.adopt
        can_be_numbered = self._topic.schemas is None and have_places(records, batch)
        by_source = can_be_numbered and self._context.of_one_record and not look_around(records)
        division = Division.BY_SOURCE if by_source else Division.BY_KEY
        new = StageRecord(marker_of(batch, query.last, written=0), count, division)
        noted = query.noted if query.noted is not None and self._is_of(query.noted, batch, count) else new
        if noted.division is Division.BY_SOURCE and not by_source:
            if not self._has_begun(query, batch):
                # Tasks of the earlier attempt that begin later see the note; those that have begun are fenced then.
                self._note(query, new, batch)
                self.close()
                query = self._opened(batch)
                if not self._has_begun(query, batch):
                    return query, new
            if not adopt:
                raise SinkRefused(
                    f"{self._topic.shown}: some of {count} writers have written batch {batch} by source partition, and"
                    " the steps as they are now make rows of several records. Run it with the steps of that attempt"
                    " until the batch is whole; or run once with --adopt: such a row may be missing or there twice"
                )
            return query, noted if can_be_numbered else new
        if noted is new:
            if self._has_begun(query, batch) and not adopt:
                raise self._lost(query, batch)
            if by_source:
                self._note(query, new, batch)
        return query, noted

    def _stored(self, query: _Query, numbered: DataFrame, batch: BatchIdentity, division: Division) -> StagedRecords:
        """Store the records of the writers that have not written a batch."""
        pending = self._pending(query, batch)
        rows = numbered.where(F.col(WRITER).isin(pending))
        staged = query.stage.store(batch, query.last, rows, query.divider, division=division, writers=pending)
        self._note(query, staged.noted, batch)
        return staged

    def _copy_schemas(self, staged: StagedRecords) -> None:
        if self._topic.schemas is not None:
            records = staged.read(self._context.spark)
            frames = records.select(F.explode(frame_columns(records.columns))).distinct()
            self._topic.schemas.copy_for(collected(frames).column(0).to_pylist())

    def _note(self, query: _Query, noted: StageRecord, batch: BatchIdentity) -> None:
        query.started.note_stage(noted, batch, self._topic.sink)
        query.noted = noted
        # Only now: a driver that was replaced may come here, but cannot note what it stored.
        query.stage.keep(noted)

    def _lost(self, query: _Query, batch: BatchIdentity) -> SinkRefused:
        return SinkRefused(
            f"{self._topic.shown}: some of {len(query.writers)} writers have written batch {batch}, and the records of"
            f" the others are not in {query.stage.path}. Restore that folder with the checkpoint; or run once with"
            " --adopt, which divides the rows as they are now: a row that has another key by now may be missing"
            " or there twice"
        )

    def _is_of(self, noted: StageRecord, batch: BatchIdentity, count: int) -> bool:
        """Whether a batch is what is noted, for so many writers."""
        if noted.marker.batch != batch.number or noted.writers != count:
            return False
        return is_written(noted.marker, batch, self._topic.shown)

    def _has_begun(self, query: _Query, batch: BatchIdentity, among: Collection[int] | None = None) -> bool:
        """Whether one of the writers, or of those with these numbers, has written a batch."""
        return any(
            self._has_written(writer, batch) for writer in query.writers if among is None or writer.number in among
        )

    def _pending(self, query: _Query, batch: BatchIdentity) -> list[int]:
        """The numbers of the writers that have not written a batch."""
        return [writer.number for writer in query.writers if not self._has_written(writer, batch)]

    def _run(self, query: _Query, parts: DataFrame, batch: BatchIdentity, *, has_letters: bool) -> None:
        """Let the writers write that have not written the batch; see `Writing.has_letters`.

        Raises:
            KafkaException: A writer met an error of the client library.
            SinkRefused: A writer met another error.
        """
        pending = self._pending(query, batch)
        tasks = {
            writer.number: (writer, marker_of(batch, writer.marker, written=0))
            for writer in query.writers
            if writer.number in pending
        }
        assert query.noted is not None
        noted = (StageRecord.key(batch, self._topic.sink), query.noted)
        properties, owner = self._topic.properties, query.started.owner
        writing = Writing(self._topic.name, query.limits, batch, properties, owner, noted, tasks, has_letters)
        sent = [name for name in (*PAYLOAD, MARK) if name in parts.columns]
        found = parts.where(F.col(WRITER).isin(pending)).select(*sent).mapInArrow(writing, OUTCOME).collect()
        outcomes = {row["number"]: Outcome(**row.asDict()) for row in found}
        for outcome in outcomes.values():
            outcome.check()
        if outcomes.keys() != tasks.keys():
            raise SinkRefused(f"{self._topic.shown}: of writers {sorted(tasks)} only {sorted(outcomes)} have answered")
        query.writers = tuple(
            _after(writer, tasks[writer.number][1], outcomes[writer.number]) if writer.number in tasks else writer
            for writer in query.writers
        )

    def _has_written(self, writer: StartedWriter, batch: BatchIdentity) -> bool:
        return is_written(writer.marker, batch, self._topic.shown, adopt=self._context.adopt)

    def _opened(self, batch: BatchIdentity) -> _Query:
        if self._query is None or self._query.query_id != batch.query_id:
            limits = self._topic.opened()
            slots = self._context.spark.sparkContext.defaultParallelism
            started = self._topic.start(self._spec.writers, slots).run(batch)
            sink = re.sub(r"[^A-Za-z0-9._-]", "_", self._topic.sink)
            # Names that differ in other characters are those of expressions.
            name = sink if self._topic.name else f"{sink}-{zlib.crc32(self._topic.sink.encode()):08x}"
            folder = f"{self._context.checkpoint.rstrip('/')}/kafka/{name}/{batch.query_id}"
            session = self._context.spark
            stage, divider = Stage(session, folder), Divider(session, self._topic.name, len(started.writers))
            self._query = _Query(batch.query_id, limits, started, started.writers, divider, stage, started.stage)
        return self._query


def _after(writer: StartedWriter, marker: Marker, outcome: Outcome) -> StartedWriter:
    """A writer that has written its part of a batch, or could not."""
    if outcome.is_aborted:
        return replace(writer, since=outcome.since)
    marker = replace(marker, written=outcome.written, refused=outcome.refused)
    return replace(writer, marker=marker, since=outcome.since)
