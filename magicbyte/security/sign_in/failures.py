"""Limits the failed sign-ins of each client."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from cachetools import LRUCache

_MAX_CLIENTS = 10_000
#: How many failures are allowed at once: people mistype, and a fleet may start with an old password.
BURST = 20


class FailureLimit:
    """A bucket of allowed failures for each client address; it refills with time."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with full buckets.

        Args:
            per_minute: How many failures are refilled per minute.
            clock: A monotonic clock, in seconds.
        """
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: LRUCache[str, tuple[float, float]] = LRUCache(_MAX_CLIENTS)

    def __len__(self) -> int:
        """The number of clients with recent failures; never more than 10,000."""
        return len(self._buckets)

    def seconds_to_wait(self, client: str) -> int:
        """Return 0 if the client may try to sign in, otherwise the seconds to wait, rounded up."""
        left = self._left(client)
        return 0 if left >= 1 else math.ceil((1 - left) / self._per_second)

    def count(self, client: str) -> None:
        """Count a failure of a client."""
        self._buckets[client] = (max(0.0, self._left(client) - 1), self._clock())

    def take_back(self, client: str) -> None:
        """Take back a failure that was counted before it was known whether it would happen."""
        self._buckets[client] = (min(float(BURST), self._left(client) + 1), self._clock())

    def _left(self, client: str) -> float:
        left, since = self._buckets.get(client, (float(BURST), 0.0))
        return min(float(BURST), left + (self._clock() - since) * self._per_second)
