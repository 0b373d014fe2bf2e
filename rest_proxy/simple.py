"""The stateless consumer of the oldest API: reads by partition and offset, from a pool, without any group."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from rest_proxy.consumers import PolledConsumer
from rest_proxy.errors import NO_SIMPLE_CONSUMER


class SimplePool:
    """Lends consumers, made when they are first needed."""

    def __init__(self, make: Callable[[], PolledConsumer], *, size: int, timeout_seconds: float) -> None:
        self._make = make
        self._timeout = timeout_seconds
        self._places = asyncio.Semaphore(size)
        self._idle: list[PolledConsumer] = []

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[PolledConsumer]:
        """A consumer for one read.

        Raises:
            ApiError: NO_SIMPLE_CONSUMER where none is free in time.
        """
        try:
            await asyncio.wait_for(self._places.acquire(), self._timeout)
        except TimeoutError:
            raise NO_SIMPLE_CONSUMER() from None
        try:
            consumer = self._idle.pop() if self._idle else self._make()
            try:
                yield consumer
            finally:
                self._idle.append(consumer)
        finally:
            self._places.release()

    async def close(self) -> None:
        """Close the consumers that nobody has."""
        idle, self._idle = self._idle, []
        await asyncio.gather(*(consumer.close() for consumer in idle), return_exceptions=True)
