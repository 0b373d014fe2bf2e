"""The limit on undelivered bytes in all producers together; only the event loop uses it."""

from __future__ import annotations

import asyncio

from rest_proxy.errors import BUFFER_FULL


class Budget:
    """Counts undelivered bytes. A request that finds no room is refused, a stream waits for room."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._waiting: list[asyncio.Future[None]] = []

    def take(self, size: int) -> None:
        """Reserve bytes.

        Raises:
            ApiError: BUFFER_FULL, with Retry-After, if they exceed the limit together with the reserved bytes.
        """
        if not self.has_room(size):
            error = BUFFER_FULL(detail=f"{self.used} of {self.limit} bytes (producer.buffer.memory) wait.")
            raise error.with_headers(Retry_After="1")
        self.used += size

    async def room(self, size: int) -> None:
        """Wait until that many bytes are free."""
        while not self.has_room(size):
            free = asyncio.get_running_loop().create_future()
            self._waiting.append(free)
            await free

    def give_back(self, size: int) -> None:
        """Release reserved bytes."""
        self.used -= size
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for free in waiting:
                if not free.done():
                    free.set_result(None)

    def has_room(self, size: int) -> bool:
        """Tell whether that many bytes are free; more than the limit fit if nothing else is reserved."""
        return not self.used or self.used + size <= self.limit
