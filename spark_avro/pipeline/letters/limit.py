"""`errors.at-most`: stops the pipeline when too many rows fail, before the whole topic is in the dead letters."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from spark_avro.pipeline.file.policies import PerHour

_HOUR = 3600.0


@dataclass(slots=True)
class ErrorLimit:
    """Counts the dead letters of batches against a limit.

    Attributes:
        at_most: A share of a batch's rows, or a number of rows per hour of this run; None for no limit.
        clock: The time in seconds.
    """

    at_most: float | PerHour | None
    clock: Callable[[], float] = time.monotonic
    _batches: deque[tuple[float, int]] = field(default_factory=deque, init=False)

    def note(self, dead: int) -> None:
        """Count the dead letters of a batch that was written."""
        self._batches.append((self.clock(), dead))

    def problem(self, dead: int, rows: int, before: int = 0) -> str | None:
        """Return the reason why a batch must not be written; None if its dead letters are within the limit.

        Args:
            dead: The batch's rows that would become dead letters.
            rows: All of its rows.
            before: The batch's dead letters that an earlier call checked.
        """
        if isinstance(self.at_most, PerHour):
            while self._batches and self._batches[0][0] <= self.clock() - _HOUR:
                self._batches.popleft()
            of_hour = sum(count for _, count in self._batches)
            if of_hour + dead > self.at_most.rows:
                return (
                    f"errors.at-most: {of_hour + dead:,} records failed within an hour, {dead:,} of them in this batch;"
                    f" at most {self.at_most.rows:,} per hour may"
                )
        elif self.at_most is not None and before + dead > self.at_most * rows:
            text = f"errors.at-most: {before + dead:,} of the {rows:,} records of this batch failed"
            return f"{text}; at most {self.at_most:g} may"
        return None
