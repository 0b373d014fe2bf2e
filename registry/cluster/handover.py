"""Results from the committer's thread to the event loop: one wake-up for all results of a batch."""

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

    A batch completes many futures in a row. Waking the event loop for each one costs more than deciding it, so all
    that complete before the loop wakes up are settled at once.
    """

    def __init__(self) -> None:
        self._inbox: _Inbox | None = None

    async def wait(self, submitted: Future[T], seconds: float) -> T:
        """Return a future's result, or raise its error.

        A timeout does not affect the other thread: the outcome is then unknown, and the command may still take effect.

        Raises:
            TimeoutError: The future is not done within `seconds`.
        """
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[T] = loop.create_future()
        inbox = self._inbox
        if inbox is None or inbox.loop is not loop:
            inbox = self._inbox = _Inbox(loop)
        # A future keeps its callbacks, so a callback must not hold the future: every write would leave a cycle.
        submitted.add_done_callback(partial(inbox.put, waiter))
        # asyncio.timeout would do the same, but takes five times as long.
        timer = loop.call_later(seconds, _give_up, waiter)
        try:
            return await waiter
        finally:
            timer.cancel()
            # Break a cycle: the futures hold the error that is raised here, and its traceback holds this frame.
            del submitted, waiter


class _Inbox:
    """Futures of other threads that are done, and the event loop that passes their outcomes on."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._ended: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._called = False

    def put(self, waiter: asyncio.Future[T], ended: Future[T]) -> None:
        """Have the loop pass an outcome on; wakes the loop unless a wake-up is pending."""
        self._ended.append((waiter, ended))
        # If this is set, `_empty` has not looked at the queue yet and will see the outcome just appended.
        if not self._called:
            self._called = True
            with suppress(RuntimeError):  # the loop has ended, so nothing waits
                self.loop.call_soon_threadsafe(self._empty)

    def _empty(self) -> None:
        self._called = False
        while self._ended:
            _settle(*self._ended.popleft())


def _settle(waiter: asyncio.Future[T], ended: Future[T]) -> None:
    if waiter.done():
        return
    error = ended.exception()
    if error is not None:
        waiter.set_exception(error)
    else:
        waiter.set_result(ended.result())


def _give_up(waiter: asyncio.Future[Any]) -> None:
    if not waiter.done():
        waiter.set_exception(TimeoutError())
