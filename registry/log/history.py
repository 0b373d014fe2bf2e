"""The time that a reader of a compacted topic may pause before the topic has lost deletions that it has not read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, TypeVar

from registry.log.port import HistoryLost, LogError

T = TypeVar("T")

#: Kafka's default of `delete.retention.ms`, in seconds.
_DEFAULT_RETENTION = 86_400.0
#: After this many seconds without a completed read, a node reads before it answers, and asks for the retention again.
_PAUSE_SECONDS = 60.0
#: The longest time between two failures of an outage. A node that runs asks Kafka again and again, and no request takes
#: this long, so the process was suspended in between.
_GAP_SECONDS = 30.0
#: How often a follower compares its position with the log's end, at the least, in seconds.
_COMPARE_SECONDS = 10.0
#: Counts the time in which the machine sleeps, too.
_RUNNING_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Instant(NamedTuple):
    """A point in time by two clocks, in seconds: since the machine's start, and since the epoch."""

    running: float
    wall: float

    @classmethod
    def now(cls) -> Instant:
        """The current time."""
        return cls(time.clock_gettime(_RUNNING_CLOCK), time.time())

    @property
    def age(self) -> float:
        """The seconds since then, by the clock that has moved further.

        The first clock stands still while a virtual machine is suspended; the second one may be set back.
        """
        running, wall = Instant.now()
        return max(running - self.running, wall - self.wall)


class History:
    """The time of the last complete read of the topic, and whether it still has every tombstone written since.

    Compaction keeps a tombstone for `delete.retention.ms` after it first meets it (KIP-534). So a reader that goes on
    within that time after a completed read gets every tombstone. A reader that goes on later, or takes longer, may miss
    some, and then keeps records that are deleted. Gaps between offsets do not show this: transaction markers and
    aborted transactions leave gaps, too.
    """

    def __init__(self, retention: Callable[[], float]) -> None:
        """Make the history of a topic that is about to be read.

        Args:
            retention: Fetches how long the topic keeps tombstones, in seconds.
        """
        self._fetch_retention = retention
        self._retention = _DEFAULT_RETENTION
        #: The first and the last failure of an outage of Kafka; None if there is none.
        self._outage: tuple[Instant, Instant] | None = None
        self._completing = threading.Lock()
        self._completed = Instant.now()
        self._fresh_until = self._completed
        #: The end that a follower has to reach, and a time before it was fetched.
        self._goal: tuple[Instant, int] | None = None

    @property
    def allows_answers(self) -> bool:
        """Whether the state may be served: it was read lately, or Kafka cannot be reached."""
        running, wall = self._fresh_until
        return (time.clock_gettime(_RUNNING_CLOCK) < running and time.time() < wall) or self.is_cut_off

    @property
    def is_cut_off(self) -> bool:
        """Whether Kafka could not be reached for a while, up to now, in which this process was not suspended.

        A process that was suspended may find the network gone for a moment. That tells nothing about the deletions that
        it has missed.
        """
        if self._outage is None:
            return False
        first, last = self._outage
        return last.running - first.running >= self._fresh_seconds / 2 and last.age < _GAP_SECONDS

    def require(self) -> None:
        """Check that every tombstone since the last completed read is still there.

        Raises:
            HistoryLost: Some may be gone.
            LogError: Kafka does not answer.
        """
        age = self._completed.age
        if _PAUSE_SECONDS <= age < self._retention:
            self._retention = min(self._retention, self._current_retention())
        if age >= self._retention:
            raise HistoryLost(
                f"the topic was last read to its end {age:.1f} s ago and keeps tombstones for {self._retention:g} s "
                "(delete.retention.ms), so deletions may be missing"
            )

    def begin_anew(self) -> Instant:
        """Begin to read the topic from its beginning; returns the time for `complete_anew`.

        Raises:
            LogError: Kafka does not answer.
        """
        self._retention = self._current_retention()
        return Instant.now()

    def complete(self, begun: Instant) -> None:
        """Note that the topic has been read on, up to an end that was fetched after `begun`.

        Raises:
            HistoryLost: As `require`: the read took too long.
            LogError: Kafka does not answer.
        """
        self.require()
        self._complete(begun)

    def complete_anew(self, begun: Instant) -> None:
        """Note that the topic has been read from its beginning, up to an end that was fetched after `begun`.

        Raises:
            HistoryLost: The read took too long.
        """
        if begun.age >= self._retention:
            raise HistoryLost(
                f"reading the whole topic took {begun.age:.1f} s, but it keeps tombstones for {self._retention:g} s "
                "only, so deletions may be missing: set its delete.retention.ms higher"
            )
        self._complete(begun)

    def set_goal(self, end: Callable[[], int]) -> None:
        """Fetch the end now and then: a completed read counts from a time before such a request.

        Args:
            end: Fetches the log's committed end.
        """
        if self._goal is None and self._completed.age >= min(_COMPARE_SECONDS, self._retention / 4):
            begun = Instant.now()
            with suppress(LogError):  # the broker is away, and the reader reports that
                self._goal = begun, end()

    def reach_goal(self, position: int) -> None:
        """Note that a follower has read up to a position.

        Raises:
            HistoryLost: As `require`.
            LogError: Kafka does not answer.
        """
        # The process may have been suspended since the last check.
        self.require()
        goal = self._goal
        if goal is not None and position >= goal[1]:
            self._goal = None
            self._complete(goal[0])

    def reach(self, request: Callable[[], T]) -> T:
        """Send a request to Kafka, and note whether it could not be reached.

        Raises:
            LogError: Kafka does not answer.
        """
        try:
            return request()
        except LogError:
            now, outage = Instant.now(), self._outage
            goes_on = outage is not None and outage[1].age < _GAP_SECONDS
            self._outage = (outage[0] if outage is not None and goes_on else now, now)
            raise

    def end_outage(self) -> None:
        """Note that Kafka has told the log's end, so that nothing is answered before it has been read."""
        self._outage = None

    @property
    def _fresh_seconds(self) -> float:
        return min(self._retention, _PAUSE_SECONDS)

    def _current_retention(self) -> float:
        return self.reach(self._fetch_retention)

    def _complete(self, begun: Instant) -> None:
        with self._completing:
            if begun.running >= self._completed.running:
                self._completed = begun
                fresh = self._fresh_seconds
                self._fresh_until = Instant(begun.running + fresh, begun.wall + fresh)
        self.end_outage()
