"""The bound on the work that comparing schemas takes."""

from __future__ import annotations

from math import inf
from time import monotonic

#: The steps of a budget unless it is given others. A step is about a microsecond on a machine of 2020.
MAX_STEPS = 1_000_000
#: Steps between two looks at the clock.
_STEPS_A_LOOK = 2_000


class TooMuchWork(ValueError):
    """Work that goes beyond its budget; the text says so."""


class Budget:
    """A number of steps, and optionally a time, that some work may take.

    The work counts its own steps with `spend`, so that the same work ends at the same place on every machine. The
    deadline is for what it does not count, and for a machine that is slow.

    Attributes:
        steps: How many steps the work may take.
        steps_left: How many more steps may be taken.
    """

    __slots__ = ("_deadline", "_look_below", "_seconds", "steps", "steps_left")

    def __init__(self, steps: int = MAX_STEPS, *, seconds: float | None = None) -> None:
        """Make a budget that nothing has been taken from.

        Args:
            steps: How many steps the work may take.
            seconds: How long it may take from now on; without it, as long as the steps take.
        """
        self.steps = self.steps_left = steps
        self._seconds = seconds
        self._look_below = steps - _STEPS_A_LOOK if seconds is not None else 0
        self.start_clock()

    def start_clock(self) -> None:
        """Count the seconds from now on."""
        self._deadline = None if self._seconds is None else monotonic() + self._seconds

    def spend(self, steps: int) -> None:
        """Take some steps.

        Raises:
            TooMuchWork: They are not left, or the deadline has passed.
        """
        self.steps_left -= steps
        if self.steps_left < self._look_below:
            self._look()

    @property
    def seconds_left(self) -> float:
        """How much longer the work may take; not less than 0."""
        return inf if self._deadline is None else max(0.0, self._deadline - monotonic())

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left of it."""
        return self.steps_left < 0 or (self._deadline is not None and monotonic() > self._deadline)

    def _look(self) -> None:
        if self.is_spent:
            self.steps_left = -1
            raise TooMuchWork(f"The schemas are too large to compare: it takes more than {self.steps} steps")
        if self._deadline is not None:
            self._look_below = max(0, self.steps_left - _STEPS_A_LOOK)
