"""A blocking call in its own thread, whose result all waiting callers share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedCall(Generic[T]):
    """Calls a function once for all callers that wait for it.

    However many callers wait, there is one thread and one running call, so that they do not delay other work.
    """

    def __init__(self, call: Callable[[], T], name: str, *, fresh: bool = False) -> None:
        """Prepare the call.

        Args:
            call: The function; it may block.
            name: The thread's name.
            fresh: A caller gets only the result of a call that began after its request: if a call is running, it waits
                for the next one. If the running call fails, the waiting callers get its error at once.
        """
        self._call = call
        self._fresh = fresh
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._running: asyncio.Future[T] | None = None
        self._next: asyncio.Future[T] | None = None

    async def __call__(self, seconds: float | None = None) -> T:
        """Return the function's result.

        Args:
            seconds: How long to wait; the call continues after a timeout.

        Raises:
            TimeoutError: The call took longer.
            Exception: The function's error.
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
        """Stop making calls."""
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
        # Reading the error marks it as retrieved: all callers may have given up.
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
