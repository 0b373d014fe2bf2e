"""A blocking call that all who want its result share, in a thread that does nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedCall(Generic[T]):
    """Calls a function for everybody who waits for it at the time.

    However many wait, there is one thread and one call under way, so that they hold up nobody else.
    """

    def __init__(self, call: Callable[[], T], name: str, *, fresh: bool = False) -> None:
        """Prepare to call.

        Args:
            call: The function; it may block.
            name: The thread's name.
            fresh: A result counts only for those who asked before the call began; the others wait for the next call.
                If a call fails, they fail with it.
        """
        self._call = call
        self._fresh = fresh
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._running: asyncio.Future[T] | None = None
        self._next: asyncio.Future[T] | None = None

    async def __call__(self, seconds: float | None = None) -> T:
        """The function's result.

        Args:
            seconds: How long to wait for it; the call itself goes on.

        Raises:
            TimeoutError: It took longer.
            Exception: What the function raised.
        """
        if self._running is None:
            self._running = self._begin()
            awaited = self._running
        elif self._fresh:
            if self._next is None:
                self._next = asyncio.get_running_loop().create_future()
            awaited = self._next
        else:
            awaited = self._running
        done, _ = await asyncio.wait([awaited], timeout=seconds)
        if not done:
            raise TimeoutError
        return awaited.result()

    def close(self) -> None:
        """Begin no more calls."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _begin(self) -> asyncio.Future[T]:
        running = asyncio.get_running_loop().run_in_executor(self._thread, self._call)
        running.add_done_callback(self._finish)
        return running

    def _finish(self, finished: asyncio.Future[T]) -> None:
        self._running = None
        awaited, self._next = self._next, None
        if finished.cancelled():
            return
        # Asking for the error marks it as seen: those who wait may all have given up.
        error = finished.exception()
        if awaited is None:
            return
        if error is not None:
            awaited.set_exception(error)
            awaited.exception()
            return
        self._running = self._begin()
        self._running.add_done_callback(lambda following: _copy(following, awaited))


def _copy(finished: asyncio.Future[T], awaited: asyncio.Future[T]) -> None:
    if finished.cancelled():
        awaited.cancel()
        return
    error = finished.exception()
    if error is None:
        awaited.set_result(finished.result())
    else:
        awaited.set_exception(error)
        awaited.exception()
