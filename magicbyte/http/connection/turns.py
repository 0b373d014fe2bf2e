"""Turns of connections whose next request has already arrived."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

#: How many pipelined requests begin in one turn of the event loop, on all connections together.
_A_TURN = 8


class Turns:
    """Lets connections with pipelined requests continue, a few in each turn of the event loop.

    Without it, each turn would serve one request of every such connection before any other client is read.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin without connections.

        Args:
            loop: The event loop of the connections.
        """
        self._loop = loop
        self._waiting: deque[Callable[[], None]] = deque()

    def add(self, resume: Callable[[], None]) -> None:
        """Call a function when it is its turn, after those that have waited for longer."""
        self._waiting.append(resume)
        if len(self._waiting) == 1:
            self._loop.call_soon(self._serve)

    def _serve(self) -> None:
        for _ in range(min(_A_TURN, len(self._waiting))):
            self._waiting[0]()
            self._waiting.popleft()
        if self._waiting:
            self._loop.call_soon(self._serve)
