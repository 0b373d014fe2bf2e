"""Writing a batch: the rows that failed become dead letters, and the others go to all sinks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from magicbyte.kit.failure import Failure
from spark_avro.pipeline.batch.changes import ChangeLog
from spark_avro.pipeline.batch.counts import RowsMissing
from spark_avro.pipeline.batch.prepared import Opened
from spark_avro.pipeline.batch.transform import TransformedBatch
from spark_avro.pipeline.letters.isolate import failures
from spark_avro.pipeline.letters.limit import ErrorLimit
from spark_avro.pipeline.letters.retry import retried
from spark_avro.pipeline.letters.rows import failed_checks, letters, rejected, undecoded
from spark_avro.pipeline.ports import BatchIdentity, Sink, SinkResult
from spark_avro.streams.following import DecodedBatch


class BatchStopped(Failure):
    """A batch that must not be written: too many errors, or a check of `fail`."""


@dataclass(frozen=True, slots=True)
class _Failed:
    """Rows that failed, with stage and reason; `is_of_records` is true if each is a whole record."""

    frame: DataFrame
    rows: int
    is_of_records: bool = False


@dataclass(frozen=True, slots=True)
class BatchWriter:
    """Writes batches whose rows have passed steps and checks.

    Attributes:
        opened: The parts of the pipeline.
        limit: How many rows may fail.
        changes: Notes when the columns change.
    """

    opened: Opened
    limit: ErrorLimit
    changes: ChangeLog

    def stop(self, transformed: TransformedBatch, decoded: DecodedBatch) -> None:
        """Stop before anything is written if too much failed.

        Raises:
            BatchStopped: too many rows failed, or a check of `fail` did.
        """
        verdict = transformed.verdict
        if verdict is not None and verdict.stop:
            raise BatchStopped(verdict.stop)
        problem = self.limit.problem(dead_rows(transformed, decoded), decoded.counts.rows)
        if problem is not None:
            raise BatchStopped(problem)

    def write(
        self, transformed: TransformedBatch, decoded: DecodedBatch, records: DataFrame, batch: BatchIdentity
    ) -> list[SinkResult]:
        """Send the rows that failed to the dead letters, and write the others to all sinks.

        Raises:
            RowsMissing: a sink wrote and rejected another number of rows than it got.
        """
        self.changes.note(transformed.passed.schema, batch)
        for failure in self._failures(transformed, decoded):
            self._send(failure, records, batch)
        dead = dead_rows(transformed, decoded)
        return [self._to_sink(sink, transformed, decoded, records, batch, dead) for sink in self.opened.sinks]

    def _to_sink(
        self,
        sink: Sink,
        transformed: TransformedBatch,
        decoded: DecodedBatch,
        records: DataFrame,
        batch: BatchIdentity,
        dead: int,
    ) -> SinkResult:
        """Write to a sink; the result says how many rows it refused, in this attempt or an earlier one."""
        refused = 0

        def reject(rows: DataFrame) -> None:
            nonlocal refused
            refused = rows.count()
            problem = self.limit.problem(refused, decoded.counts.rows, before=dead)
            if problem is not None:
                raise BatchStopped(problem)
            self._send(_Failed(rejected(rows, "TASK_PUT"), refused), records, batch)

        def write() -> SinkResult:
            nonlocal refused
            refused = 0
            return sink.write(transformed.passed, batch, reject=reject)

        result = retried(write, self.opened.pipeline.errors.retry)
        if result.repeated:
            return result
        if result.written + refused != transformed.passed_count:
            raise RowsMissing(
                f"{type(sink).__name__} got {transformed.passed_count:,} rows, wrote {result.written:,} and rejected"
                f" {refused:,}; the batch is not committed"
            )
        return replace(result, refused=refused)

    def _failures(self, transformed: TransformedBatch, decoded: DecodedBatch) -> list[_Failed]:
        """The rows that failed before the sinks, grouped by the part that refused them."""
        failed: list[_Failed] = []
        if decoded.counts.dead:
            failed.append(_Failed(undecoded(decoded.rows), decoded.counts.dead, is_of_records=True))
        if transformed.faults:
            faulty = failures(decoded.rows, transformed.faults)
            failed.append(_Failed(faulty, len(transformed.faults), is_of_records=True))
        verdict = transformed.verdict
        if verdict is not None and verdict.dead:
            assert self.opened.gate is not None
            failed.append(_Failed(failed_checks(self.opened.gate.dead(transformed.tagged)), verdict.dead))
        return failed

    def _send(self, failed: _Failed, records: DataFrame, batch: BatchIdentity) -> None:
        """Write dead letters, one for each record.

        Raises:
            BatchStopped: there is no topic for them.
            RowsMissing: another number of letters was written.
        """
        if self.opened.letters is None:
            first = failed.frame.limit(1).collect()[0]
            place = f"topic {first['topic']}, partition {first['partition']}, offset {first['offset']}"
            raise BatchStopped(f"{first['reason']} at {place}; errors.tolerance is none")
        whole = letters(failed.frame, records).persist()
        try:
            self.opened.letters.log_samples(whole)
            sent = self.opened.letters.write(whole, batch)
        finally:
            whole.unpersist()
        if sent != failed.rows and (failed.is_of_records or not 0 < sent <= failed.rows):
            raise RowsMissing(f"{failed.rows:,} rows failed, but {sent:,} dead letters were written")


def dead_rows(transformed: TransformedBatch, decoded: DecodedBatch) -> int:
    """The number of rows that failed before the sinks."""
    return decoded.counts.dead + len(transformed.faults) + (transformed.verdict.dead if transformed.verdict else 0)
