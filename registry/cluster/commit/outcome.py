"""The outcome of a queued command, from the committer's thread to the thread that waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Outcome(Struct, Generic[T], eq=False):
    """A result or an error that one thread sets and another waits for.

    It does the needed part of a `concurrent.futures.Future`, without a lock: each write has an outcome, and making,
    setting and reading a future costs more than deciding a small schema.

    Attributes:
        value: The result, valid once the outcome is done.
        error: The error, valid once the outcome is done; None if there is a result.
        is_done: Whether the result or the error is final.
    """

    value: Any = None
    error: BaseException | None = None
    is_done: bool = False
    _callback: Callable[[Outcome[T]], object] | None = None

    def set(self, value: T | None, error: BaseException | None = None) -> None:
        """Set the result or the error; `settle` makes it final."""
        self.value, self.error = value, error

    def settle(self) -> None:
        """Make what was set final, and call back."""
        self.is_done = True
        if self._callback is not None:
            self._callback(self)

    def set_error(self, error: BaseException) -> None:
        """Set the error, make it final, and call back."""
        self.set(None, error)
        self.settle()

    def when_done(self, callback: Callable[[Outcome[T]], object]) -> None:
        """Call back with this outcome once it is done: in the thread that settles it, or now if it is done already.

        There is one callback. It is called twice if the outcome is settled at this very moment.
        """
        self._callback = callback
        if self.is_done:
            callback(self)

    def result(self, seconds: float | None = None) -> T:
        """Wait for the result and return it.

        Args:
            seconds: The longest wait; None for no limit.

        Raises:
            TimeoutError: The outcome is not done in time.
            BaseException: The error, if that is the outcome.
        """
        done = threading.Event()
        self.when_done(lambda _: done.set())
        if not done.wait(seconds):
            raise TimeoutError
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[no-any-return]
