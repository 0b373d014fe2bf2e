"""Encoding on threads, for records whose validation may take too long for the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from rest_proxy.errors import VALIDATION_BUSY

T = TypeVar("T")

_THREADS = 2
#: How many requests may wait for a thread, with their bodies in memory.
_MOST_WAITING = 32


class EncodingThreads:
    """Two threads, started on first use, and a bound on the requests that wait for them."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, "validation")
        self._running = 0

    async def run(self, function: Callable[[], T]) -> T:
        """Run a function on one of the threads and return its result.

        Raises:
            ApiError: VALIDATION_BUSY if too many requests wait.
        """
        if self._running >= _THREADS + _MOST_WAITING:
            raise VALIDATION_BUSY(detail=f"{_MOST_WAITING} requests wait already.").with_headers(Retry_After="1")
        self._running += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function)
        finally:
            self._running -= 1

    def close(self) -> None:
        """Accept no more functions; does not wait for running ones."""
        self._threads.shutdown(wait=False, cancel_futures=True)
