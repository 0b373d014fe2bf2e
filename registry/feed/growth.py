"""Wakes all followers of the log when it has grown: one task looks for all of them."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from time import perf_counter

#: How often the task looks at the log, in seconds.
_POLL_SECONDS = 0.1
#: How long the followers that are woken together may take, in seconds, and how many they are at first and at most. A
#: request takes some turns of the event loop, and waits for one such group in each of them.
_TURN_SECONDS = 0.002
_FIRST_TOGETHER, _MOST_TOGETHER = 10, 100


class Growth:
    """The followers that wait for the log to grow; used on one event loop."""

    def __init__(self, end: Callable[[], int], stopping: threading.Event) -> None:
        """Begin without followers.

        Args:
            end: Returns the offset that this node has applied.
            stopping: Set when the server begins to stop, which wakes all followers.
        """
        self._end = end
        self._stopping = stopping
        self._waiting: dict[asyncio.Future[None], int] = {}
        self._polling: asyncio.Task[None] | None = None

    async def wait(self, after: int, seconds: float) -> None:
        """Wait until the log has grown beyond an offset, the server stops, or the time has passed."""
        if self._end() > after or self._stopping.is_set():
            return
        loop = asyncio.get_running_loop()
        woken = loop.create_future()
        timer = loop.call_later(seconds, _wake, woken)
        self._waiting[woken] = after
        if self._polling is None or self._polling.done():
            self._polling = loop.create_task(self._poll())
        try:
            await woken
        finally:
            timer.cancel()
            self._waiting.pop(woken, None)

    async def _poll(self) -> None:
        together = _FIRST_TOGETHER
        while self._waiting:
            await asyncio.sleep(_POLL_SECONDS)
            end, stops = self._end(), self._stopping.is_set()
            due = deque(woken for woken, after in self._waiting.items() if stops or end > after)
            while due:
                started = perf_counter()
                for _ in range(min(together, len(due))):
                    _wake(due.popleft())
                # They write to their clients in this turn, and so do all other requests that can go on.
                await asyncio.sleep(0)
                together = _next_size(together, perf_counter() - started)


def _next_size(size: int, seconds: float) -> int:
    """Return the number of followers to wake next, after `size` of them took `seconds`."""
    return max(1, min(_MOST_TOGETHER, 2 * size, int(size * _TURN_SECONDS / seconds) if seconds > 0 else 2 * size))


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
