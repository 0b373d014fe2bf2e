"""Turns of an event loop: however many tasks have long work, one slice of it runs in each turn."""

from __future__ import annotations

import asyncio

from magicbyte.kit.sharing.fair_queue import Turns


class LoopTurns:
    """Lets tasks with long work on an event loop pause after each slice, and resumes one of them in each turn.

    With `asyncio.sleep(0)` each of them would run a slice in each turn, so other requests would wait for all of them.
    """

    def __init__(self) -> None:
        """Begin without tasks."""
        self._paused: Turns[asyncio.Future[None]] = Turns()
        self._is_resuming = False

    async def pause(self, client: str) -> None:
        """Wait for the next turn; clients take turns, and so do the tasks of a client.

        Args:
            client: The principal, or the network of the address if nobody signs in.
        """
        loop = asyncio.get_running_loop()
        resumed = loop.create_future()
        self._paused.add(resumed, client)
        if not self._is_resuming:
            self._is_resuming = True
            loop.call_soon(self._resume, loop)
        await resumed

    def _resume(self, loop: asyncio.AbstractEventLoop) -> None:
        """Resume the next task; the one after it is resumed in the next turn."""
        while (following := self._paused.take()) is not None:
            resumed = following[1]
            if not resumed.done():  # else its task has been cancelled
                resumed.set_result(None)
                loop.call_soon(self._resume, loop)
                return
        self._is_resuming = False
