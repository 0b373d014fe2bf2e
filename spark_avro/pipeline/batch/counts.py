"""The counts of a batch, and their equation: read + made = written + dead + dropped + held + grouped.

A later audit reports the `BatchCounts` of each batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from magicbyte.kit.failure import Failure


class RowsMissing(Failure):
    """The number of rows read is not the number of rows written, dead and dropped."""


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """The rows of a batch.

    Attributes:
        number: The number of the batch.
        read: Records of the source.
        made: Rows that steps added to their input, such as those of `explode`.
        written: Rows that the sinks wrote.
        dead: Dead letters.
        dropped: Rows that steps or checks left out.
        late: Written rows that are in the folder of late rows.
        lost: Records that the broker deleted before they were read.
        replaced: Source topics that were deleted and made again; the next query reads them from their beginning.
        failed: The number of failed rows by check name.
        ids: Records by schema id.
        seconds: How long the batch took.
        event_time: The time of the newest record.
        lag: Records that are not read yet, by topic and partition.
        repeated: Whether a target had the batch already.
        held: Rows that the steps' state took in, less those that it gave out; without state, 0.
        grouped: Rows that became groups or were left out, less the groups, if steps without state make groups of rows.
    """

    number: int
    read: int
    written: int
    dead: int = 0
    dropped: int = 0
    made: int = 0
    late: int = 0
    lost: int = 0
    replaced: tuple[str, ...] = ()
    failed: Mapping[str, int] = field(default_factory=dict)
    ids: Mapping[int, int] = field(default_factory=dict)
    seconds: float = 0.0
    event_time: datetime | None = None
    lag: Mapping[tuple[str, int], int] = field(default_factory=dict)
    repeated: bool = False
    held: int = 0
    grouped: int = 0

    def check(self) -> None:
        """Raise RowsMissing unless read + made = written + dead + dropped + held + grouped."""
        if self.read + self.made != self.written + self.dead + self.dropped + self.held + self.grouped:
            raise RowsMissing(
                f"batch {self.number}: {self.read:,} rows read and {self.made:,} made are not {self.written:,} written,"
                f" {self.dead:,} dead, {self.dropped:,} dropped, {self.held:,} held and {self.grouped:,} grouped;"
                " the batch is not committed"
            )

    def line(self) -> str:
        """The log line of the batch."""
        parts = [f"batch {self.number}: {self.read:,} read", f"{self.written:,} written", f"{self.dead:,} dead"]
        parts += [f"{self.dropped:,} dropped"]
        parts += other_rows(self.made, self.held, self.grouped)
        parts += [f"{self.late:,} late"] if self.late else []
        parts += [f"{self.lost:,} LOST before they were read"] if self.lost else []
        parts += [f"topic {topic} was REPLACED" for topic in self.replaced]
        parts += [f"{name} failed {count:,} times" for name, count in self.failed.items()]
        parts += ["written before"] if self.repeated else []
        parts += [f"{self.seconds:.1f} s"]
        parts += [f"lag {sum(self.lag.values()):,} records"] if self.lag else []
        return ", ".join(parts)


def other_rows(made: int, held: int, grouped: int) -> list[str]:
    """The counts of rows that steps made, hold or grouped, in words; see `BatchCounts`."""
    parts = [f"{made:,} made"] if made else []
    parts += [f"{held:,} held by steps"] if held > 0 else []
    parts += [f"{-held:,} given by steps that held them"] if held < 0 else []
    return parts + ([f"{grouped:,} grouped by steps"] if grouped else [])
