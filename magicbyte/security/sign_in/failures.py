"""Bounds on failed sign-ins of one client."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

_MAX_CLIENTS = 10_000
#: So many failures are free at once; a person mistypes, and a fleet starts with an old password.
BURST = 20


class FailureLimit:
    """A bucket of allowed failures for each client address; it fills again with time."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with full buckets.

        Args:
            per_minute: How many failures come back in a minute.
            clock: Seconds that never jump.
        """
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        """How many clients are known; never more than 10,000."""
        return len(self._buckets)

    def seconds_to_wait(self, client: str) -> int:
        """Return 0 if the client may try, else the whole seconds until it may."""
        left = self._left(client)
        return 0 if left >= 1 else math.ceil((1 - left) / self._per_second)

    def count(self, client: str) -> None:
        """Take one failure out of the client's bucket."""
        self._buckets[client] = (max(0.0, self._left(client) - 1), self._clock())
        self._buckets.move_to_end(client)
        if len(self._buckets) > _MAX_CLIENTS:
            self._buckets.popitem(last=False)

    def _left(self, client: str) -> float:
        left, since = self._buckets.get(client, (float(BURST), 0.0))
        return min(float(BURST), left + (self._clock() - since) * self._per_second)
