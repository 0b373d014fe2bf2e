"""A running pipeline: the streaming query or the batch job, its lease, and its end after a batch."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from confluent_kafka import KafkaException
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from magicbyte.kit.failure import Failure
from spark_avro.pipeline.batch.counts import BatchCounts
from spark_avro.pipeline.batch.prepared import Opened, Prepared, open_pipeline, prepare
from spark_avro.pipeline.batch.runner import BatchRunner
from spark_avro.pipeline.batch.stream import Batches, PlainBatches, QueryOutdated
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.steps import Aggregate, Join, Window
from spark_avro.pipeline.ports import BatchIdentity, SourceRange
from spark_avro.pipeline.run.health import Health, waits_for_work
from spark_avro.pipeline.run.java_objects import JavaObjects
from spark_avro.pipeline.run.last_failure import noted_failure
from spark_avro.pipeline.run.lease import Lease
from spark_avro.pipeline.run.result import RunResult
from spark_avro.pipeline.run.run_log import RunLog
from spark_avro.pipeline.session_settings import applied
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.sources.source_topics import SourceTopics
from spark_avro.pipeline.sources.table_topics import TableTopics
from spark_avro.pipeline.state.new_state import begin_new_state
from spark_avro.pipeline.state.operators import StateRecord, operators_of
from spark_avro.pipeline.state.plan_batches import StateBatches
from spark_avro.pipeline.state.progress import StateProgress

log = logging.getLogger(__name__)

#: Seconds between two checks whether to stop a query; the most seconds until a finished batch is in the checkpoint.
_LOOK, _COMMIT = 0.2, 10.0
#: Where rows wait for a time, Spark runs batches without records for ever, so that a run of what is available would not
#: end.
_TIMERS_WITH_RECORDS = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}


@dataclass(slots=True)
class Running:
    """Runs a pipeline until its end; after `stop`, until the end of the batch that is running.

    Attributes:
        pipeline: The file.
        spark: The session.
        adopt: Whether targets that another query has written to are taken over.
        new_state: Whether Spark begins with empty state, at the offsets of the last finished batch.
        until_caught_up: Whether the run ends when it has read all records that exist, whatever the trigger says.
        on_batch: Receives the counts of each batch.
        on_restart: Called when the run begins from a checkpoint with progress.
        on_state: Receives the state of the steps that remember rows after each batch.
        health: Gets the progress of the run.
    """

    pipeline: Pipeline
    spark: SparkSession
    adopt: bool = False
    new_state: bool = False
    until_caught_up: bool = False
    on_batch: Callable[[BatchCounts], None] | None = None
    on_restart: Callable[[], None] | None = None
    on_state: Callable[[StateProgress], None] | None = None
    health: Health = field(default_factory=Health)
    _java: JavaObjects = field(default_factory=JavaObjects)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _batch_runs: threading.Lock = field(default_factory=threading.Lock)
    _failure: BaseException | None = None
    _done: int | None = None
    _result: RunResult = field(default_factory=RunResult)

    def stop(self) -> None:
        """End the run after the batch that is running."""
        self._stopping.set()

    def run(self) -> RunResult:
        """Run the pipeline.

        Raises:
            PipelineError: the file does not fit the columns or the target.
            LeaseHeld: another driver runs it.
            Failure: as `BatchRunner.run`.
        """
        checkpoint = Checkpoint(self.spark, self.pipeline.checkpoint)
        with (
            Lease(checkpoint.folder, self.pipeline.name) as lease,
            noted_failure(checkpoint.folder, lease.is_ours),
            closing(open_pipeline(self.pipeline, self.spark, adopt=self.adopt)) as opened,
        ):
            prepared = _prepare(opened)
            if checkpoint.last_planned() is not None and self.on_restart is not None:
                self.on_restart()
            runner = BatchRunner(prepared)
            if self.new_state:
                begin_new_state(opened, checkpoint)
            if opened.source.stream() is None:
                self._run_once(opened, runner, checkpoint)
            else:
                topics = SourceTopics(opened.source, checkpoint)
                batches = batches_of(runner, checkpoint, self.on_state)
                while self._run_stream(topics, batches, checkpoint, lease):
                    log.info("the query starts again", extra={"event": "query_restarted"})
                    self._java.free(now=True)
            return replace(self._result, findings=tuple(runner.findings))

    def _run_stream(self, topics: SourceTopics, batches: Batches, checkpoint: Checkpoint, lease: Lease) -> bool:
        """Run a streaming query; whether another one has to go on."""
        again = threading.Event()
        planned = checkpoint.last_planned()

        def one_batch(rows: DataFrame, spark_number: int) -> None:
            number = checkpoint.number(spark_number)
            with self._batch_runs:
                if self._stopping.is_set() or again.is_set():
                    raise _Stopped
                try:
                    lease.check()
                    batch = topics.identity(self.pipeline.name, number)
                    batch = replace(batch, attempted=planned is not None and number <= planned)
                    counts = batches.run(rows, batch)
                    self._add(counts)
                    self._java.free()
                    self._done = number
                    if counts.replaced or batches.are_outdated():
                        again.set()
                    if batches.runner.findings:
                        self._stopping.set()
                except QueryOutdated:
                    again.set()
                    raise
                except BaseException as error:
                    self._failure = error
                    raise

        is_repeat = topics.begin(can_rewind=batches.can_rewind)
        tables = TableTopics(batches.runner.opened.source, checkpoint)
        to_load = tables.to_load()
        # Made here: topics that were made again change where a query begins.
        stream = batches.runner.opened.source.stream(tables.starts(), to_load)
        assert stream is not None
        query = batches.query(stream)
        # One batch: the one that is planned.
        trigger = {"once": True} if is_repeat else {"availableNow": True} if to_load else self._trigger()
        writer = query.rows.writeStream.foreachBatch(one_batch).queryName(self.pipeline.name)
        writer = writer.outputMode(query.output_mode).option("checkpointLocation", checkpoint.query.path)
        settings = {**query.settings, **(_TIMERS_WITH_RECORDS if "availableNow" in trigger else {})}
        with applied(self.spark, settings if self._waits() else query.settings):
            started = writer.trigger(**trigger).start()
        self._wait(started, checkpoint, topics, batches, again)
        if to_load and not again.is_set() and not self._stopping.is_set():
            tables.loaded()
        return (bool(to_load) or is_repeat or again.is_set()) and not self._stopping.is_set()

    def _wait(
        self, query: Any, checkpoint: Checkpoint, topics: SourceTopics, batches: Batches, again: threading.Event
    ) -> None:
        """Wait until a query ends, or end it between two batches if it has to stop or to start again."""
        try:
            while query.isActive and not self._stopping.is_set() and not again.is_set():
                query.awaitTermination(_LOOK)
                if waits_for_work(query.status):
                    self.health.progressed()
                batches.note(query)
            if query.isActive:
                self._end(query, checkpoint)
            elif query.exception() is not None:
                query.awaitTermination()
        except StreamingQueryException as error:
            # A batch that was planned behind the last one did not begin.
            if self._failure is not None or not (self._stopping.is_set() or again.is_set()):
                self._explain(topics)
                raise self._failure or error from None
        finally:
            query.stop()
            batches.note(query)

    def _explain(self, topics: SourceTopics) -> None:
        """Raise TopicReplaced if that is why a query failed in Spark or in reading."""
        if not isinstance(self._failure, Failure):
            with suppress(KafkaException):
                topics.check()

    def _run_once(self, opened: Opened, runner: BatchRunner, checkpoint: Checkpoint) -> None:
        """Run a source that is read once: one batch, with its number and id in our own log."""
        self.health.without_limit()
        run_log = RunLog(checkpoint.folder)
        begun = run_log.begin()
        batch = BatchIdentity(
            self.pipeline.name,
            run_log.query_id(),
            begun.number,
            input_id=begun.input_id,
            attempted=begun.attempted,
        )
        self._add(runner.run(opened.source.batch(), batch))
        run_log.commit(batch.number)

    def run_range(
        self,
        ranges: Sequence[SourceRange],
        query_id: str,
        former_topic_ids: Mapping[str, tuple[str, ...]] | None = None,
    ) -> RunResult:
        """Run one batch over some offsets, beside the stream and its checkpoint.

        Args:
            ranges: The offsets.
            query_id: The identity of the range, the same at each run.
            former_topic_ids: The ids that topics had before they were made again; see `BatchIdentity`.

        Raises:
            PipelineError: a step writes groups again and again; a range has not all rows of a group.
        """
        for step in self.pipeline.steps:
            if isinstance(step, Window | Aggregate) and step.emit == "each-batch":
                raise step.error(
                    "emit",
                    "each-batch over a range would replace a group's row by one of a part of its rows; run the"
                    " pipeline on a new checkpoint instead",
                )
        self.health.without_limit()
        with closing(open_pipeline(self.pipeline, self.spark, adopt=self.adopt)) as opened:
            runner = BatchRunner(_prepare(opened))
            topic_ids = opened.source.topic_ids({part.topic for part in ranges})
            batch = BatchIdentity(self.pipeline.name, query_id, 0, tuple(ranges), topic_ids, former_topic_ids or {})
            self._add(runner.run(opened.source.batch(ranges), batch))
            return replace(self._result, findings=tuple(runner.findings), ranges=tuple(ranges))

    def _add(self, counts: BatchCounts) -> None:
        self._result = self._result.plus(counts)
        self.health.progressed(counts.number)
        if self.on_batch is not None:
            self.on_batch(counts)

    def _waits(self) -> bool:
        """Whether rows wait for a time in the state."""
        return any(isinstance(step, Join) and step.wait is not None for step in self.pipeline.steps)

    def _trigger(self) -> dict[str, Any]:
        every = self.pipeline.trigger.every
        if every is None or self.until_caught_up:
            return {"availableNow": True}
        return {"processingTime": f"{int(every.total_seconds() * 1000)} milliseconds"}

    def _end(self, query: Any, checkpoint: Checkpoint) -> None:
        """Stop a query between two batches: wait for the one that runs, and until it is in the checkpoint."""
        log.info("stopping after the batch", extra={"event": "pipeline_stopping"})
        with self._batch_runs:
            deadline = time.monotonic() + _COMMIT
            while query.isActive and time.monotonic() < deadline:
                if self._done is None or checkpoint.last_committed() == self._done:
                    break
                time.sleep(_LOOK)
        # Without the lock: a batch that was about to begin finds that it must not, and Spark waits for it.
        query.stop()


def batches_of(
    runner: BatchRunner, checkpoint: Checkpoint, on_state: Callable[[StateProgress], None] | None = None
) -> Batches:
    """The batches of a pipeline: with state if a step or check remembers rows, or if the checkpoint has state."""
    if operators_of(runner.opened.pipeline) or StateRecord.read(checkpoint.query) is not None:
        return StateBatches(runner, checkpoint, on_state)
    return PlainBatches(runner, checkpoint)


def _prepare(opened: Opened) -> Prepared:
    prepared = prepare(opened)
    if opened.letters is not None:
        opened.letters.prepare()
    return prepared


class _Stopped(Exception):
    """A batch was not begun because the run ends."""
