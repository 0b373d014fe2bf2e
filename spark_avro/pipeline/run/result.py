"""The result of a run: its batches and rows, and why it ends with findings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spark_avro.pipeline.batch.counts import BatchCounts, other_rows
from spark_avro.pipeline.ports import SourceRange

#: The rows that are added up.
_ROWS = ("read", "written", "dead", "dropped", "made", "held", "grouped")


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    Attributes:
        batches: The number of batches.
        read, written, dead, dropped, made, held, grouped: The rows of all batches; see `BatchCounts`.
        findings: Why it ends with exit code 100 although its batches are written.
        ranges: The offsets that a backfill processed; empty for other runs.
    """

    batches: int = 0
    read: int = 0
    written: int = 0
    dead: int = 0
    dropped: int = 0
    made: int = 0
    held: int = 0
    grouped: int = 0
    findings: tuple[str, ...] = ()
    ranges: tuple[SourceRange, ...] = ()

    def plus(self, counts: BatchCounts) -> RunResult:
        """The result with one more batch."""
        sums = {name: getattr(self, name) + getattr(counts, name) for name in _ROWS}
        return replace(self, batches=self.batches + 1, **sums)

    def line(self) -> str:
        """The rows in words."""
        parts = [f"{self.read:,} read", f"{self.written:,} written", f"{self.dead:,} dead", f"{self.dropped:,} dropped"]
        return ", ".join([*parts, *other_rows(self.made, self.held, self.grouped)])
