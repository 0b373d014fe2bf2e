"""Encoding on threads, for records whose validation may take too long for the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from rest_proxy.errors import VALIDATION_BUSY
from rest_proxy.formats.plain import DataError
from serdes.validation.judging import seconds_spent

T = TypeVar("T")

_THREADS = 2
#: How many requests may wait for a thread, with their bodies in memory.
_MOST_WAITING = 32
#: The processor time for encoding the records of a request, with that of worker processes, in seconds.
_CPU_SECONDS = 2.0
#: The time after which no further record is encoded, even if the machine gave it too little processor time, in seconds.
_LONGEST_SECONDS = 30.0


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


def in_time(encode: Callable[[Any], bytes | None]) -> Callable[[Any], bytes | None]:
    """Limit the total time of an encoding function, from its first value on; later it raises DataError.

    The function is called on one thread.
    """
    ends: tuple[float, float] | None = None

    def encode_in_time(value: Any) -> bytes | None:
        nonlocal ends
        spent, now = seconds_spent(), time.monotonic()
        cpu_end, end = ends = ends or (spent + _CPU_SECONDS, now + _LONGEST_SECONDS)
        if spent > cpu_end or now > end:
            limit = f"{_CPU_SECONDS:g} s of processor time" if spent > cpu_end else f"{_LONGEST_SECONDS:g} s"
            raise DataError("", f"the validation of the records before took more than {limit}; send fewer")
        return encode(value)

    return encode_in_time
