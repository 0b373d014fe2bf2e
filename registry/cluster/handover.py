"""From the committer's thread to the event loop: what is decided together is handed over with one wake-up."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class Handover:
    """Awaits futures of other threads.

    A batch ends many futures one right after another. Waking the event loop for each costs more than deciding it, so
    those that ended before the loop has come are settled in one go.
    """

    def __init__(self) -> None:
        self._inbox: _Inbox | None = None

    async def wait(self, submitted: Future[T], seconds: float) -> T:
        """What a future ends with.

        A wait that is given up leaves the other thread alone: the outcome is unknown then, never undone.

        Raises:
            TimeoutError: It took too long.
        """
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[T] = loop.create_future()
        inbox = self._inbox
        if inbox is None or inbox.loop is not loop:
            inbox = self._inbox = _Inbox(loop)
        # A future keeps its callbacks: one that held the future itself would leave a cycle behind every write.
        submitted.add_done_callback(partial(inbox.put, answered))
        # asyncio.timeout does the same for any wait, and takes five times as long.
        timer = loop.call_later(seconds, _give_up, answered)
        try:
            return await answered
        finally:
            timer.cancel()
            # They hold the error that leaves here, and its traceback holds this frame.
            del submitted, answered


class _Inbox:
    """What has ended in other threads, for an event loop to tell those who wait."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._ended: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._called = False

    def put(self, answered: asyncio.Future[T], ended: Future[T]) -> None:
        """Have the loop pass an outcome on; it is called unless it has been and has not come yet."""
        self._ended.append((answered, ended))
        # Whoever finds this set has appended before `_empty` looks at what waits.
        if not self._called:
            self._called = True
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                self.loop.call_soon_threadsafe(self._empty)

    def _empty(self) -> None:
        self._called = False
        while self._ended:
            _settle(*self._ended.popleft())


def _settle(answered: asyncio.Future[T], ended: Future[T]) -> None:
    if answered.done():
        return
    error = ended.exception()
    if error is not None:
        answered.set_exception(error)
    else:
        answered.set_result(ended.result())


def _give_up(answered: asyncio.Future[Any]) -> None:
    if not answered.done():
        answered.set_exception(TimeoutError())
