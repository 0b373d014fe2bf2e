"""Clients that send until they are stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable


class UntilStopped:
    """Threads that run until they are stopped; `stop` raises the first error that ended one of them."""

    def __init__(self) -> None:
        """Begin without threads."""
        #: Set when the threads have to end.
        self.stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._errors: list[BaseException] = []

    def begin(self, *runs: Callable[[], None]) -> None:
        """Run functions on threads of their own; they return soon after `stopping` is set."""
        started = [threading.Thread(target=self._noting_errors, args=(run,)) for run in runs]
        self._threads += started
        for thread in started:
            thread.start()

    def stop(self) -> None:
        """End the threads, and wait until each has its last answer."""
        self.stopping.set()
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors[0]

    def _noting_errors(self, run: Callable[[], None]) -> None:
        try:
            run()
        except BaseException as error:  # noqa: BLE001  raised by `stop`
            self._errors.append(error)
