"""One batch: records are decoded, carried through the steps, checked, written and counted."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from spark_avro.pipeline.batch.changes import ChangeLog
from spark_avro.pipeline.batch.counts import BatchCounts
from spark_avro.pipeline.batch.groups import make_groups
from spark_avro.pipeline.batch.measures import NEWEST, ROWS, counts_by_id, row_measures
from spark_avro.pipeline.batch.one_pass import OnePass, PassedBatch
from spark_avro.pipeline.batch.prepared import Opened, Prepared
from spark_avro.pipeline.batch.refusals import refuse
from spark_avro.pipeline.batch.transform import MaterialisedBatch, Transform, TransformedBatch, Transforming
from spark_avro.pipeline.batch.writer import BatchStopped, BatchWriter, dead_rows
from spark_avro.pipeline.letters.limit import ErrorLimit
from spark_avro.pipeline.letters.retry import may_pass
from spark_avro.pipeline.ports import BatchIdentity, SinkResult
from spark_avro.streams.dead_letters import Counts
from spark_avro.streams.following import DecodedBatch, decode_batch

log = logging.getLogger(__name__)


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The records of a batch, decoded; how many were lost; and the topics whose records are left out."""

    records: DataFrame
    decoded: DecodedBatch
    lost: int
    replaced: Collection[str]


@dataclass(slots=True)
class BatchRunner:
    """Runs batches; a batch is done when `run` returns, and has to be run again if it raises.

    Attributes:
        prepared: The pipeline; its sinks have checked their targets.
        findings: Why the run ends with exit code 100 although its batches are written.
    """

    prepared: Prepared
    findings: list[str] = field(default_factory=list)
    _limit: ErrorLimit = field(init=False)
    _changes: ChangeLog = field(init=False)
    _writer: BatchWriter = field(init=False)
    _one_pass: OnePass = field(init=False)

    def __post_init__(self) -> None:
        self._one_pass = OnePass(self.opened)
        self._changes = ChangeLog.of(self.prepared)
        self._limit = ErrorLimit(self.opened.pipeline.errors.at_most)
        self._writer = BatchWriter(self.opened, self._limit, self._changes)

    @property
    def opened(self) -> Opened:
        """The parts of the pipeline."""
        return self.prepared.opened

    def run(self, records: DataFrame, batch: BatchIdentity) -> BatchCounts:
        """Run a batch.

        Args:
            records: The records of the source.
            batch: Its identity.

        Raises:
            BrokenRecord: a record cannot be decoded, and errors.tolerance is none.
            SchemaRefused: `evolve` refuses a record's schema.
            BatchStopped: too many rows failed, or a check of `fail` did.
            RegistryUnavailable: the registry does not answer, and the batch needs it.
            SinkRefused: a target cannot take the rows.
            RowsMissing: the counts do not add up.
        """
        started = time.monotonic()
        # The batch before is done with the tables.
        self.opened.tables.refresh()
        note = partial(self._changes.note, batch=batch)
        passed = self._one_pass.stage(records, batch, self.opened.context(records, whole_topics=True), note)
        counts = None if passed is None else self._committed(passed, batch, started)
        if counts is None:
            counts = self._in_stages(records, batch, started)
            self._one_pass.noted(counts.dead)
        counts.check()
        log.info("%s", counts.line(), extra={"event": "batch_done"})
        return counts

    def _committed(self, passed: PassedBatch, batch: BatchIdentity, started: float) -> BatchCounts | None:
        """Commit a batch that was staged whole; None after a temporary error, so that it is repeated."""
        problem = self._limit.problem(0, passed.read)
        if problem is not None:
            raise BatchStopped(problem)
        try:
            result = passed.staged.commit(reject=_never)
        except Exception as error:
            if not may_pass(error):
                raise
            log.warning(
                "batch %d is committed again: %s",
                batch.number,
                error,
                extra={"event": "batch_recommitted", "batch": batch.number},
            )
            return None
        self._limit.note(0)
        return BatchCounts(
            number=batch.number,
            read=passed.read,
            written=result.written,
            late=result.late,
            lost=passed.lost,
            ids=counts_by_id(passed.measured),
            seconds=time.monotonic() - started,
            event_time=passed.measured[NEWEST],
            lag=self.opened.source.lag(_ends(batch)),
        )

    def run_materialised(
        self, batch: MaterialisedBatch, started: float, before_writing: Callable[[], None]
    ) -> BatchCounts:
        """Run a batch whose rows have passed the steps in Spark's own plan.

        Args:
            batch: The batch.
            started: When it began, on the monotonic clock in seconds.
            before_writing: Called when nothing stops the batch any more, before its first letter or row is written.

        Raises:
            Failure: as `run`.
        """
        lost = self.opened.source.lost(batch.batch.all_ranges)
        read = _Read(batch.originals(), batch.decoded, lost, ())
        counts = self._finished(batch, read, batch.batch, started, before_writing)
        counts.check()
        log.info("%s", counts.line(), extra={"event": "batch_done"})
        return counts

    def _in_stages(self, records: DataFrame, batch: BatchIdentity, started: float) -> BatchCounts:
        """Decode and count a batch, carry it through steps and checks, and write it, one after the other."""
        read = self._read(records, batch)
        try:
            rows = Transform(self.opened, self.opened.context(read.records, whole_topics=True), read.decoded, batch)
            return self._finished(rows, read, batch, started)
        finally:
            read.decoded.rows.unpersist()

    def _finished(
        self,
        rows: Transforming,
        read: _Read,
        batch: BatchIdentity,
        started: float,
        before_writing: Callable[[], None] = _nothing,
    ) -> BatchCounts:
        refuse(read.decoded, self.opened.pipeline, self.opened.source)
        counts = self._written(rows, read, batch, started, before_writing)
        counts = replace(counts, lost=read.lost, replaced=tuple(read.replaced))
        self._limit.note(counts.dead)
        return counts

    def _read(self, records: DataFrame, batch: BatchIdentity) -> _Read:
        """Read the records of the batch's topics; those of topics that were deleted and made again are left out."""
        source = self.opened.source
        replaced = source.replaced(batch.topic_ids)
        while True:
            rest = [part for part in batch.ranges if part.topic not in replaced]
            kept = records
            if replaced:
                # A filter would not do: Spark waits for minutes for offsets that the new topic does not have.
                kept = source.batch(rest) if rest else source.empty()
            # Records that the broker deletes after the batch was read are not lost.
            lost = source.lost(rest)
            lost += sum(part.end - part.start for part in batch.ranges if part.topic in replaced)
            decoded = self._decode(kept)
            # Compared again: now that all records are read, they are those of the topics with these ids.
            now = source.replaced(batch.topic_ids)
            if set(now) == set(replaced):
                return _Read(kept, decoded, lost, replaced)
            decoded.rows.unpersist()
            replaced = now

    def _decode(self, records: DataFrame) -> DecodedBatch:
        source, registry = self.opened.source, self.opened.pipeline.registry
        if not source.plans:
            rows = source.positioned(records).persist()
            measured = rows.agg(*row_measures()).collect()[0].asDict()
            return DecodedBatch(rows, Counts(measured[ROWS], measured[ROWS], 0), frozenset(), measured)
        patience = {"patience": registry.patience} if registry else {}
        return decode_batch(
            records, self.opened.decoder, refresh=source.refreshes, prepared=source.positioned, **patience
        )

    def _written(
        self,
        transform: Transforming,
        read: _Read,
        batch: BatchIdentity,
        started: float,
        before_writing: Callable[[], None],
    ) -> BatchCounts:
        decoded, records = transform.decoded, read.records
        transformed = transform.rows()
        try:
            self._writer.stop(transformed, decoded)
            before_writing()
            try:
                results = self._writer.write(transformed, decoded, records, batch)
            except PySparkException as error:
                if transformed.faults or transformed.verdict is not None:
                    raise
                transformed = transform.rows(transform.faults(error))
                self._writer.stop(transformed, decoded)
                results = self._writer.write(transformed, decoded, records, batch)
        finally:
            transformed.tagged.unpersist()
        return self._counts(transformed, read, results, batch, started, transform)

    def _counts(
        self,
        transformed: TransformedBatch,
        read: _Read,
        results: Sequence[SinkResult],
        batch: BatchIdentity,
        started: float,
        transform: Transforming,
    ) -> BatchCounts:
        verdict, source, decoded = transformed.verdict, self.opened.source, read.decoded
        if verdict is not None and verdict.finding:
            self.findings.append(verdict.finding)
        into_steps = decoded.counts.decoded - len(transformed.faults)
        # Of a repeated batch, records may be lost since they were refused.
        refused = min(transformed.passed_count, max(result.refused for result in results))
        left_out = into_steps - transformed.count
        held, grouped = (left_out if transform.remembers else 0), 0
        if not transform.remembers and left_out > 0:
            steps = self.opened.pipeline.steps
            grouped = left_out if make_groups(steps, transformed.tagged, decoded.rows) else 0
        dropped = left_out - held - grouped
        return BatchCounts(
            number=batch.number,
            read=decoded.counts.rows,
            written=transformed.passed_count - refused,
            dead=dead_rows(transformed, decoded) + refused,
            dropped=max(0, dropped) + (verdict.dropped if verdict else 0),
            made=max(0, -dropped),
            held=held,
            grouped=grouped,
            late=max(result.late for result in results),
            failed=verdict.failed if verdict else {},
            ids=counts_by_id(decoded.measured),
            seconds=time.monotonic() - started,
            event_time=decoded.measured[NEWEST],
            lag=source.lag(_ends(batch, without=read.replaced)),
            repeated=any(result.repeated for result in results),
        )


def _ends(batch: BatchIdentity, without: Collection[str] = ()) -> dict[str, dict[int, int]]:
    """The next offset of each partition after a batch, except those of some topics."""
    ends: dict[str, dict[int, int]] = {}
    for part in batch.all_ranges:
        if part.topic not in without:
            ends.setdefault(part.topic, {})[part.partition] = part.end
    return ends


def _never(_rows: DataFrame) -> None:
    """Receive rejected rows of a batch that has none."""
    raise AssertionError("a batch that was staged whole has no rejected rows")
