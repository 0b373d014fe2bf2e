"""A limit on the work of comparing schemas."""

from __future__ import annotations

from math import inf
from time import thread_time

#: The default number of steps. A step is about a microsecond on a machine of 2020.
MAX_STEPS = 1_000_000
#: Steps between two looks at the clock.
_STEPS_A_LOOK = 2_000


class TooMuchWork(ValueError):
    """The work exceeds its budget; the text says so."""


class Budget:
    """The number of steps, and optionally the time, that a piece of work may take.

    The work counts its steps with `spend`, so that it stops at the same place on every machine. The deadline covers
    uncounted work and slow machines. It counts the processor time of the thread, so a busy machine takes nothing of it.

    Attributes:
        steps: How many steps the work may take.
        steps_left: How many of them are left.
    """

    __slots__ = ("_deadline", "_look_below", "_seconds", "steps", "steps_left")

    def __init__(self, steps: int = MAX_STEPS, *, seconds: float | None = None) -> None:
        """Make an unspent budget.

        Args:
            steps: How many steps the work may take.
            seconds: The limit of processor time from now on; None for no limit.
        """
        self.steps = self.steps_left = steps
        self._seconds = seconds
        self._look_below = steps - _STEPS_A_LOOK if seconds is not None else 0
        self.start_clock()

    def start_clock(self) -> None:
        """Count the seconds of this thread from now on."""
        self._deadline = None if self._seconds is None else thread_time() + self._seconds

    def spend(self, steps: int) -> None:
        """Take some steps.

        Raises:
            TooMuchWork: Too few steps are left, or the deadline has passed.
        """
        self.steps_left -= steps
        if self.steps_left < self._look_below:
            self._look()

    def part(self, count: int, at_least: int) -> Budget:
        """A budget for the next of several pieces of work, with the same deadline; `take` then charges it to this one.

        A piece that is costly leaves something for the others, and what a cheap one leaves over is shared among them.

        Args:
            count: The number of pieces that are left.
            at_least: The steps that a piece gets if so many are left.
        """
        steps = max(0, min(self.steps_left, max(self.steps_left // max(count, 1), at_least)))
        return Budget(steps, seconds=None if self._deadline is None else self.seconds_left)

    def take(self, part: Budget) -> None:
        """Charge the work of a part; it never exceeds this budget, so this does not raise."""
        self.steps_left -= part.steps - max(part.steps_left, 0)

    @property
    def seconds_left(self) -> float:
        """Return the processor time that the work may still take; not less than 0."""
        return inf if self._deadline is None else max(0.0, self._deadline - thread_time())

    @property
    def is_spent(self) -> bool:
        """Whether the work exceeded its steps or its deadline."""
        return self.steps_left < 0 or (self._deadline is not None and thread_time() > self._deadline)

    def _look(self) -> None:
        if self.is_spent:
            self.steps_left = -1
            raise TooMuchWork(f"The schemas are too large to compare: it takes more than {self.steps} steps")
        if self._deadline is not None:
            self._look_below = max(0, self.steps_left - _STEPS_A_LOOK)
