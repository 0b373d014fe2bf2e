"""Rate limits: permits per second, which requests take."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping

from rest_proxy.errors import RATE_EXCEEDED
from rest_proxy.metrics import RATE_LIMITED


class TokenBucket:
    """Permits that refill at a constant rate; at most one second's permits are kept."""

    __slots__ = ("_filled_at", "_permits", "_rate")

    def __init__(self, per_second: float) -> None:
        """Begin with the permits of one second."""
        self._rate = per_second
        self._permits = per_second
        self._filled_at = time.monotonic()

    def take(self, cost: float, most_seconds: float = 0.0) -> float:
        """Take permits if they are available soon enough.

        A request that costs more than a bucket holds is let through when the bucket is full, and the next ones wait.

        Args:
            cost: How many permits.
            most_seconds: How long the caller would wait for them.

        Returns:
            After how many seconds the caller may continue, 0 for at once; if that is more than `most_seconds`, no
            permits were taken.
        """
        now = time.monotonic()
        self._permits = min(self._rate, self._permits + (now - self._filled_at) * self._rate)
        self._filled_at = now
        seconds = max(0.0, (min(cost, self._rate) - self._permits) / self._rate)
        if seconds <= most_seconds:
            self._permits -= cost
        return seconds


class RateLimit:
    """The limit on requests of all endpoints together, by `rate.limit.*`."""

    def __init__(self, per_second: float, timeout_seconds: float, default_cost: int, costs: Mapping[str, int]) -> None:
        """Make the limit.

        Args:
            per_second: The permits per second.
            timeout_seconds: How long a request waits for permits.
            default_cost: The permits that a request takes.
            costs: The permits by endpoint, for endpoints that take another number; 0 is free.
        """
        self._bucket = TokenBucket(per_second)
        self._timeout = timeout_seconds
        self._default_cost = default_cost
        self._costs = costs

    async def admit(self, endpoint: str) -> None:
        """Take the permits of a request, and wait for them if there is a timeout.

        Raises:
            ApiError: RATE_EXCEEDED, with Retry-After.
        """
        cost = self._costs.get(endpoint, self._default_cost)
        if cost == 0:
            return
        seconds = self._bucket.take(cost, self._timeout)
        if seconds > self._timeout:
            RATE_LIMITED.labels("requests").inc()
            raise RATE_EXCEEDED().with_headers(Retry_After=str(math.ceil(seconds)))
        if seconds:
            await asyncio.sleep(seconds)
