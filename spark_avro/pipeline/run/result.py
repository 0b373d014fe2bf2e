"""The result of a run: its batches and rows, and why it ends with findings."""

from __future__ import annotations

from dataclasses import dataclass

from spark_avro.pipeline.ports import SourceRange
from spark_avro.pipeline.run.counts import BatchCounts


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    Attributes:
        batches: The number of batches.
        read, written, dead, dropped: The rows of all batches.
        findings: Why it ends with exit code 100 although its batches are written.
        ranges: The offsets that a backfill processed; empty for other runs.
    """

    batches: int = 0
    read: int = 0
    written: int = 0
    dead: int = 0
    dropped: int = 0
    findings: tuple[str, ...] = ()
    ranges: tuple[SourceRange, ...] = ()

    def plus(self, counts: BatchCounts) -> RunResult:
        """The result with one more batch."""
        return RunResult(
            self.batches + 1,
            self.read + counts.read,
            self.written + counts.written,
            self.dead + counts.dead,
            self.dropped + counts.dropped,
            self.findings,
        )
