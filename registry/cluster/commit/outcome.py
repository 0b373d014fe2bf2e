"""The outcome of a queued command, from the committer's thread to the thread that waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Outcome(Struct, Generic[T], eq=False):
    """A result or an error that one thread sets and others wait for.

    It does the needed part of a `concurrent.futures.Future`, without a lock: each write has an outcome, and making,
    setting and reading a future costs more than deciding a small schema.

    Attributes:
        value: The result, once it is set.
        error: The error, once it is set.
        is_done: Whether the result or the error is set.
    """

    value: Any = None
    error: BaseException | None = None
    is_done: bool = False
    _callbacks: list[Callable[[Outcome[T]], object]] = []

    def set_result(self, value: T) -> None:
        """Set the result, and call the callbacks."""
        self.value = value
        self._settle()

    def set_error(self, error: BaseException) -> None:
        """Set the error, and call the callbacks."""
        self.error = error
        self._settle()

    def when_done(self, callback: Callable[[Outcome[T]], object]) -> None:
        """Call back with this outcome once it is set: in the thread that sets it, or now if it is set already."""
        self._callbacks.append(callback)
        if self.is_done:
            self._call_back()

    def result(self, seconds: float | None = None) -> T:
        """Wait for the result and return it.

        Args:
            seconds: The longest wait; None for no limit.

        Raises:
            TimeoutError: The outcome is not set in time.
            BaseException: The error, if that is the outcome.
        """
        done = threading.Event()
        self.when_done(lambda _: done.set())
        if not done.wait(seconds):
            raise TimeoutError
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[no-any-return]

    def _settle(self) -> None:
        self.is_done = True
        self._call_back()

    def _call_back(self) -> None:
        # Two threads may come here at once; the one that takes a callback from the list calls it.
        while self._callbacks:
            try:
                callback = self._callbacks.pop()
            except IndexError:
                return
            callback(self)
