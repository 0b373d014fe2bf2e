"""The time for which the view has lagged behind the log, from the ends of the log that status requests have seen."""

from __future__ import annotations

import time
from collections.abc import Callable


class LagClock:
    """Remembers the oldest end of the log that the view has not reached, and when it was seen."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._missed: tuple[int, float] | None = None

    def seconds(self, position: int, end: int) -> float:
        """Return for how many seconds the view has lacked an entry; 0 if it has reached the end that was seen first.

        Args:
            position: The position up to which the view holds everything.
            end: The position of the log's end.
        """
        now = self._now()
        if self._missed is not None and position >= self._missed[0]:
            self._missed = None
        if self._missed is None and position < end:
            self._missed = (end, now)
        return 0.0 if self._missed is None else now - self._missed[1]
