"""A topic, exactly once, without the driver: several writers, each with transactions of its own for its records."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql import types as spark

from spark_avro.pipeline.file.sinks import KafkaSink
from spark_avro.pipeline.ports import BatchIdentity, Delivery, Guarantee, Reject, SinkContext, SinkRefused, SinkResult
from spark_avro.pipeline.session_settings import applied
from spark_avro.pipeline.sinks.collected import collected
from spark_avro.pipeline.sinks.kafka.exact_topic import ExactTopic
from spark_avro.pipeline.sinks.kafka.mirroring import frame_columns
from spark_avro.pipeline.sinks.kafka.ownership import Started, StartedWriter
from spark_avro.pipeline.sinks.kafka.producing import TopicLimits, refusing
from spark_avro.pipeline.sinks.kafka.query_records import StageRecord
from spark_avro.pipeline.sinks.kafka.stage import ONE_FILE_A_TASK, WRITER, Stage, StagedRecords
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
        stage: The folder in which batches are stored; a backfill beside the stream has another one.
        noted: Where the last batch is stored.
    """

    query_id: str
    limits: TopicLimits
    started: Started
    writers: tuple[StartedWriter, ...]
    stage: Stage
    noted: StageRecord | None

    @property
    def last(self) -> Marker | None:
        """The marker of the last batch that all writers have written."""
        markers = [writer.marker for writer in self.writers if writer.marker is not None]
        return min(markers, key=lambda marker: marker.batch) if len(markers) == len(self.writers) else None


class ExecutorsTarget:
    """A topic that executors write to.

    A batch's records are stored, and then divided among the writers. Each writes its records and a marker in one
    transaction. So a repeated batch is completed by the writers that have not committed it.
    """

    guarantee = Guarantee(
        Delivery.EXACTLY_ONCE,
        "each writer writes its records of a batch and its marker in one transaction, of records that are stored"
        " before; readers see the parts of a batch one after the other",
        "refused, unless adopted",
        "tests/chaos/pipeline_killed.py --sink kafka-executors",
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
        pending = [writer for writer in query.writers if not self._has_written(writer, batch)]
        is_new = len(pending) == len(query.writers)
        if pending:
            staged = self._staged(rows, batch, query, is_new=is_new)
            if staged.noted.marker.refused and is_new:
                # Later, the letters are there: they are written before the first writer begins.
                reject(staged.rejected(self._context.spark))
            self._run(pending, query, staged, batch)
            query.stage.forget(staged)
        markers = [writer.marker for writer in query.writers if writer.marker is not None]
        written, refused = sum(marker.written for marker in markers), sum(marker.refused for marker in markers)
        return SinkResult(written) if is_new else SinkResult(written, repeated=True, refused=refused)

    def _staged(self, rows: DataFrame, batch: BatchIdentity, query: _Query, *, is_new: bool) -> StagedRecords:
        """The stored records of a batch."""
        stage, count = query.stage, len(query.writers)
        records = self._topic.records(rows, query.limits)
        staged = None
        if query.noted is not None and self._is_of(query.noted, batch, count):
            staged = stage.at(query.noted, records, count)
        if staged is None:
            if not is_new and not self._context.adopt:
                raise SinkRefused(
                    f"{self._topic.shown}: some of {count} writers have written batch {batch}, and the records of the"
                    f" others are not in {stage.path}. Restore that folder with the checkpoint; or run once with"
                    " --adopt, which divides the rows as they are now: a row that has another key by now may be missing"
                    " or there twice"
                )
            staged = stage.store(batch, query.last, records, count)
            query.started.note_stage(staged.noted, batch, self._topic.sink)
            query.noted = staged.noted
            # Only now: a driver that was replaced may come here, but cannot note what it stored.
            stage.keep(staged)
        if self._topic.schemas is not None:
            records = staged.read(self._context.spark)
            frames = records.select(F.explode(frame_columns(records.columns))).distinct()
            self._topic.schemas.copy_for(collected(frames).column(0).to_pylist())
        return staged

    def _is_of(self, noted: StageRecord, batch: BatchIdentity, count: int) -> bool:
        """Whether a batch is what is stored, for so many writers."""
        marker = noted.marker
        if marker.batch != batch.number or not noted.attempt.startswith(f"{count}-"):
            return False
        return is_written(marker, batch, self._topic.shown)

    def _run(
        self, pending: Sequence[StartedWriter], query: _Query, staged: StagedRecords, batch: BatchIdentity
    ) -> None:
        """Let the writers write that have not written the batch.

        Raises:
            KafkaException: A writer met an error of the client library.
            SinkRefused: A writer met another error.
        """
        tasks: dict[int, tuple[StartedWriter, Marker]] = {}
        for writer in pending:
            refused = staged.noted.marker.refused if writer is query.writers[0] else 0
            tasks[writer.number] = (writer, marker_of(batch, writer.marker, written=0, refused=refused))
        properties, owner = self._topic.properties, query.started.owner
        writing = Writing(self._topic.name, query.limits, batch, properties, owner, tasks)
        session = self._context.spark
        with applied(session, ONE_FILE_A_TASK):
            parts = staged.read(session).where(F.col(WRITER).isin([*tasks]))
            found = parts.mapInArrow(writing, OUTCOME).collect()
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
            stage = Stage(self._context.spark, folder, self._topic.name)
            self._query = _Query(batch.query_id, limits, started, started.writers, stage, started.stage)
        return self._query


def _after(writer: StartedWriter, marker: Marker, outcome: Outcome) -> StartedWriter:
    """A writer that has written its part of a batch."""
    return replace(writer, marker=replace(marker, written=outcome.written), since=outcome.since)
