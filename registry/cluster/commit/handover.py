"""Results from the committer's thread to the event loop: one wake-up for all results of a batch."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from magicbyte.kit.sharing.deadlines import Deadlines
from registry.cluster.commit.outcome import Outcome

T = TypeVar("T")


class Handover:
    """Awaits outcomes that another thread settles.

    A batch settles many outcomes in a row. Waking the event loop for each one costs more than deciding it, so all that
    are settled before the loop wakes up are passed on at once.
    """

    def __init__(self, seconds: float | None = None) -> None:
        """Make a handover; `seconds` is the longest wait for an outcome, None for no limit."""
        self._deadlines = None if seconds is None else Deadlines(seconds)
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
            inbox = self._inbox = _Inbox(loop)
        waiter: asyncio.Future[T] = loop.create_future()
        deadline = None if self._deadlines is None else self._deadlines.start(partial(_give_up, waiter))
        submitted.when_done(partial(inbox.put, waiter))
        try:
            return await waiter
        finally:
            if deadline is not None:
                deadline.cancel()
            # Break a cycle: both hold the error that is raised here, and its traceback holds this frame.
            del submitted, waiter, deadline


class _Inbox:
    """Outcomes that are settled, and the event loop that passes them on."""

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
