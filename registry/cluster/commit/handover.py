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
    """Awaits outcomes that another thread settles.

    A batch settles many outcomes in a row. Waking the event loop for each one costs more than deciding it, so all that
    are settled before the loop wakes up are passed on at once.
    """

    def __init__(self, seconds: float | None = None) -> None:
        """Make a handover; `seconds` is the longest wait for an outcome, None for no limit."""
        self._seconds = seconds
        self._inbox: _Inbox | None = None

    async def wait(self, submitted: Outcome[T]) -> T:
        """Return a result, or raise the error.

        A timeout does not affect the other thread: the outcome is then unknown, and the command may still take effect.

        Raises:
            TimeoutError: The outcome is not settled in time.
        """
        loop = asyncio.get_running_loop()
        inbox = self._inbox
        if inbox is None or inbox.loop is not loop:
            inbox = self._inbox = _Inbox(loop, self._seconds)
        waiter: asyncio.Future[T] = inbox.waiter()
        submitted.when_done(partial(inbox.put, waiter))
        try:
            return await waiter
        finally:
            # Break a cycle: both hold the error that is raised here, and its traceback holds this frame.
            del submitted, waiter


class _Inbox:
    """Outcomes that are settled, and the event loop that passes them on."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float | None) -> None:
        self.loop = loop
        self._seconds = seconds
        self._settled: deque[tuple[asyncio.Future[Any], Outcome[Any]]] = deque()
        self._called = False
        #: The waiters and the times when they give up, in order: one timer for all of them, because setting and
        #: cancelling a timer for each one costs as much as passing its outcome on.
        self._waiters: deque[tuple[float, asyncio.Future[Any]]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def waiter(self) -> asyncio.Future[Any]:
        """A new future, which fails with a TimeoutError when its time is over."""
        waiter = self.loop.create_future()
        if self._seconds is not None:
            self._waiters.append((self.loop.time() + self._seconds, waiter))
            if self._timer is None:
                self._timer = self.loop.call_later(self._seconds, self._give_up)
        return waiter

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
        self._forget_done()

    def _forget_done(self) -> None:
        while self._waiters and self._waiters[0][1].done():
            self._waiters.popleft()

    def _give_up(self) -> None:
        """Fail the waiters whose time is over, and set the timer for the next one."""
        now = self.loop.time()
        while self._waiters and (self._waiters[0][1].done() or self._waiters[0][0] <= now):
            waiter = self._waiters.popleft()[1]
            if not waiter.done():
                waiter.set_exception(TimeoutError())
        self._timer = self.loop.call_at(self._waiters[0][0], self._give_up) if self._waiters else None
