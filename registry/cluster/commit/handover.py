"""Results from the committer's thread to the event loop: one wake-up for all results of a batch."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from registry.cluster.commit.outcome import Outcome

T = TypeVar("T")


class Handover:
    """Awaits outcomes that another thread sets.

    A batch sets many outcomes in a row. Waking the event loop for each one costs more than deciding it, so all that are
    set before the loop wakes up are passed on at once.
    """

    def __init__(self) -> None:
        self._inbox: _Inbox | None = None

    async def wait(self, submitted: Outcome[T], seconds: float | None = None) -> T:
        """Return a result, or raise the error.

        A timeout does not affect the other thread: the outcome is then unknown, and the command may still take effect.

        Args:
            submitted: The outcome.
            seconds: The longest wait; None for no limit.

        Raises:
            TimeoutError: The outcome is not set in time.
        """
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[T] = loop.create_future()
        inbox = self._inbox
        if inbox is None or inbox.loop is not loop:
            inbox = self._inbox = _Inbox(loop)
        submitted.when_done(partial(inbox.put, waiter))
        # asyncio.timeout would do the same, but takes five times as long.
        timer = None if seconds is None else loop.call_later(seconds, _give_up, waiter)
        try:
            return await waiter
        finally:
            if timer is not None:
                timer.cancel()
            # Break a cycle: both hold the error that is raised here, and its traceback holds this frame.
            del submitted, waiter


class _Inbox:
    """Outcomes that are set, and the event loop that passes them on."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._settled: deque[tuple[asyncio.Future[Any], Outcome[Any]]] = deque()
        self._called = False

    def put(self, waiter: asyncio.Future[T], outcome: Outcome[T]) -> None:
        """Have the loop pass an outcome on; wakes the loop unless a wake-up is pending."""
        self._settled.append((waiter, outcome))
        # If this is set, `_empty` has not looked at the queue yet and will see the outcome just appended.
        if not self._called:
            self._called = True
            with suppress(RuntimeError):  # the loop has ended, so nothing waits
                self.loop.call_soon_threadsafe(self._empty)

    def _empty(self) -> None:
        self._called = False
        while self._settled:
            waiter, outcome = self._settled.popleft()
            if waiter.done():
                continue
            if outcome.error is not None:
                waiter.set_exception(outcome.error)
            else:
                waiter.set_result(outcome.value)


def _give_up(waiter: asyncio.Future[Any]) -> None:
    if not waiter.done():
        waiter.set_exception(TimeoutError())
