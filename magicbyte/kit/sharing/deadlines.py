"""Deadlines of one length that share a timer of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import takewhile
from typing import Protocol

Act = Callable[[], None]


class Cancellable(Protocol):
    """A deadline, or a timer of an event loop."""

    def cancel(self) -> None:
        """Do not act any more."""


class _Deadline:
    __slots__ = ("_open", "act", "at")

    def __init__(self, at: float, act: Act, deadlines: dict[_Deadline, None]) -> None:
        self.at = at
        self.act = act
        self._open = deadlines

    def cancel(self) -> None:
        """Do not act any more; it may be over."""
        self._open.pop(self, None)


class Deadlines:
    """Calls functions when a time is over, unless they are cancelled before, as most are.

    To start and cancel a timer of uvloop takes 2 us; a deadline takes 0.3 us, and one timer serves all of them.
    """

    def __init__(self, seconds: float) -> None:
        """Begin without deadlines.

        Args:
            seconds: The time of each deadline.
        """
        self._seconds = seconds
        #: The running loop: that of the first deadline, until another loop runs.
        self._loop: asyncio.AbstractEventLoop | None = None
        #: In the order of their times, which is that of their starts.
        self._open: dict[_Deadline, None] = {}
        self._has_timer = False

    def start(self, act: Act) -> Cancellable:
        """Call a function when the time is over. It must not raise, and does not run in the caller's context."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._open, self._has_timer = loop, {}, False
        deadline = _Deadline(loop.time() + self._seconds, act, self._open)
        self._open[deadline] = None
        if not self._has_timer:
            self._has_timer = True
            loop.call_at(deadline.at, self._act, self._open)
        return deadline

    def after(self, seconds: float, act: Act) -> Cancellable:
        """Call a function after a time; as `start` if it is the usual one, else with a timer of its own."""
        if seconds == self._seconds:
            return self.start(act)
        return asyncio.get_running_loop().call_later(seconds, act)

    def _act(self, deadlines: dict[_Deadline, None]) -> None:
        """Call the functions whose time is over, and set the timer for the next deadline."""
        assert self._loop is not None
        now = self._loop.time()
        over = list(takewhile(lambda deadline: deadline.at <= now, deadlines))
        try:
            for deadline in over:
                # A function that was called before may have cancelled it.
                if deadline in deadlines:
                    deadline.cancel()
                    deadline.act()
        finally:
            following = next(iter(deadlines), None)
            self._has_timer = following is not None
            if following is not None:
                self._loop.call_at(following.at, self._act, deadlines)
