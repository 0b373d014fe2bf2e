"""The number of rows in a time: of each batch, or of the last hour or day of this run."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from spark_avro.pipeline.file.policies import Volume

_SECONDS = {"hour": 3600.0, "day": 86400.0}


@dataclass(slots=True)
class VolumeCount:
    """Counts rows as batches end; reports too few only after a whole hour or day of this run.

    Attributes:
        volume: The bounds.
        clock: The time in seconds.
    """

    volume: Volume
    clock: Callable[[], float] = time.monotonic
    _began: float = field(default=0.0, init=False)
    _batches: deque[tuple[float, int]] = field(default_factory=deque, init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def problem(self, rows: int) -> str | None:
        """Return the reason why the number is wrong after a batch of `rows` rows; None if right or not yet known."""
        least, greatest = self.volume.between[:2]
        if self.volume.per == "batch":
            return _outside(rows, least, greatest, "in a batch")
        now, seconds = self.clock(), _SECONDS[self.volume.per]
        self._batches.append((now, rows))
        while self._batches[0][0] <= now - seconds:
            self._batches.popleft()
        total = sum(count for _, count in self._batches)
        is_whole = now - self._began >= seconds
        return _outside(total, least if is_whole else 0, greatest, f"in the last {self.volume.per}")


def _outside(rows: int, least: int, greatest: int, when: str) -> str | None:
    return None if least <= rows <= greatest else f"{rows:,} rows {when}, expected {least:,} to {greatest:,}"
