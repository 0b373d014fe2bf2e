"""From the committer's thread to the event loop: what is decided together is handed over with one wake-up."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

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

        def settle() -> None:
            if answered.done():
                return
            error = submitted.exception()
            if error is not None:
                answered.set_exception(error)
            else:
                answered.set_result(submitted.result())

        def give_up() -> None:
            if not answered.done():
                answered.set_exception(TimeoutError())

        submitted.add_done_callback(lambda _: inbox.put(settle))
        # asyncio.timeout does the same for any wait, and takes five times as long.
        timer = loop.call_later(seconds, give_up)
        try:
            return await answered
        finally:
            timer.cancel()


class _Inbox:
    """What an event loop is to do next; other threads put it in."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._waiting: deque[Callable[[], None]] = deque()
        self._called = False

    def put(self, action: Callable[[], None]) -> None:
        """Have the loop do it; it is called unless it has been and has not come yet."""
        self._waiting.append(action)
        # Whoever finds this set has appended before `_empty` looks at what waits.
        if not self._called:
            self._called = True
            with suppress(RuntimeError):  # the loop has ended, and nobody waits
                self.loop.call_soon_threadsafe(self._empty)

    def _empty(self) -> None:
        self._called = False
        while self._waiting:
            self._waiting.popleft()()
