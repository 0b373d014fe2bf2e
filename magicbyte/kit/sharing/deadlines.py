"""Deadlines of one length that share a timer of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
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


class _OnLoop:
    """The deadlines of one event loop, and their timer.

    Attributes:
        loop: The event loop.
        open: The deadlines, in the order of their times, which is that of their starts.
    """

    __slots__ = ("_has_timer", "loop", "open")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.open: dict[_Deadline, None] = {}
        self._has_timer = False

    def start(self, seconds: float, act: Act) -> _Deadline:
        """Add a deadline."""
        deadline = _Deadline(self.loop.time() + seconds, act, self.open)
        self.open[deadline] = None
        if not self._has_timer:
            self._set_timer(deadline)
        return deadline

    def _set_timer(self, deadline: _Deadline) -> None:
        self._has_timer = True
        # In the context of the caller, the timer would keep the facts of one request for all that follow.
        self.loop.call_at(deadline.at, self._act, context=Context())

    def _act(self) -> None:
        """Call the functions whose time is over, and set the timer for the next deadline."""
        now = self.loop.time()
        over = list(takewhile(lambda deadline: deadline.at <= now, self.open))
        try:
            for deadline in over:
                # A function that was called before may have cancelled it.
                if deadline in self.open:
                    deadline.cancel()
                    deadline.act()
        finally:
            self._has_timer = False
            if (following := next(iter(self.open), None)) is not None:
                self._set_timer(following)


class Deadlines:
    """Calls each function after a fixed time, unless its deadline is cancelled first; most are.

    Starting and cancelling a timer of uvloop takes 2 us. A deadline takes 0.3 us, and one timer serves all of them.
    """

    def __init__(self, seconds: float) -> None:
        """Begin without deadlines.

        Args:
            seconds: The time of each deadline.
        """
        self._seconds = seconds
        self._current: _OnLoop | None = None

    def start(self, act: Act) -> Cancellable:
        """Call a function on this event loop when the time is over, without the caller's context."""
        loop = asyncio.get_running_loop()
        current = self._current
        if current is None or current.loop is not loop:
            current = self._current = _OnLoop(loop)
        return current.start(self._seconds, act)

    def after(self, seconds: float, act: Act) -> Cancellable:
        """Call a function after a time; as `start` if it is the usual one, else with a timer of its own."""
        if seconds == self._seconds:
            return self.start(act)
        return asyncio.get_running_loop().call_later(seconds, act)

    def __len__(self) -> int:
        """The number of deadlines that are neither over nor cancelled, on the loop of the last start."""
        return 0 if self._current is None else len(self._current.open)
