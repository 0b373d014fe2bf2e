"""Wakes all followers of the log when it has grown: one task looks for all of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

#: How often the task looks at the log, in seconds.
_LOOK_SECONDS = 0.1
#: How many followers are woken at once; other requests have their turn before the next ones.
_TOGETHER = 50


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
        self._looking: asyncio.Task[None] | None = None

    async def wait(self, after: int, seconds: float) -> None:
        """Wait until the log has grown beyond an offset, the server stops, or the time has passed."""
        if self._end() > after or self._stopping.is_set():
            return
        loop = asyncio.get_running_loop()
        woken = loop.create_future()
        timer = loop.call_later(seconds, _wake, woken)
        self._waiting[woken] = after
        if self._looking is None or self._looking.done():
            self._looking = loop.create_task(self._look())
        try:
            await woken
        finally:
            timer.cancel()
            self._waiting.pop(woken, None)

    async def _look(self) -> None:
        while self._waiting:
            await asyncio.sleep(_LOOK_SECONDS)
            end, stops = self._end(), self._stopping.is_set()
            due = [woken for woken, after in self._waiting.items() if stops or end > after]
            for first in range(0, len(due), _TOGETHER):
                for woken in due[first : first + _TOGETHER]:
                    _wake(woken)
                await asyncio.sleep(0)


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
