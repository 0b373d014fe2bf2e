"""Encoding beside the event loop, for records whose validation may take long: few threads, few requests in wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from rest_proxy.codecs import DataError
from rest_proxy.errors import VALIDATION_BUSY

T = TypeVar("T")

_THREADS = 2
#: Requests that may wait for a thread, with their bodies in memory.
_MOST_WAITING = 32
#: Seconds that the records of one request may take.
LONGEST_SECONDS = 2.0


class Beside:
    """A few threads; they start when they are first needed."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, "validation")
        self._running = 0

    async def run(self, function: Callable[[], T]) -> T:
        """The result of a function, run on one of the threads.

        Raises:
            ApiError: VALIDATION_BUSY if too many wait.
        """
        if self._running >= _THREADS + _MOST_WAITING:
            raise VALIDATION_BUSY(detail=f"{_MOST_WAITING} requests wait already.").with_headers(Retry_After="1")
        self._running += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function)
        finally:
            self._running -= 1

    def close(self) -> None:
        """Takes no more; what runs is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def in_time(encode: Callable[[Any], bytes | None]) -> Callable[[Any], bytes | None]:
    """An encoding function that refuses values once the time of a request is over, which begins with the first.

    It raises DataError then.
    """
    end: float | None = None

    def encode_in_time(value: Any) -> bytes | None:
        nonlocal end
        now = time.monotonic()
        end = end or now + LONGEST_SECONDS
        if now > end:
            raise DataError(
                "", f"the validation of the records before took more than {LONGEST_SECONDS:g} s; send fewer"
            )
        return encode(value)

    return encode_in_time
