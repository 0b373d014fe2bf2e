"""Dead letters of rules, sent by the proxy's own producer."""

from __future__ import annotations

import asyncio

from rest_proxy.formats.frame_places import Headers
from rest_proxy.produce.producers import Producers
from rest_proxy.produce.sent import outcomes_in_time


class LetterNotStored(Exception):
    """The brokers have not acknowledged a dead letter; the text says why."""


class RuleLetters:
    """Sends dead letters from the threads that encode and decode."""

    def __init__(self, producers: Producers, timeout_ms: int) -> None:
        """Prepare, on the event loop.

        Args:
            producers: Send the records.
            timeout_ms: How long a letter may take.
        """
        self._producers = producers
        self._timeout_ms = timeout_ms
        self._loop = asyncio.get_running_loop()

    def __call__(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        """Send a letter and wait until it is stored; not on the event loop.

        Raises:
            LetterNotStored: It is not, or nobody knows.
            ApiError: It is too large, or the producer's buffer is full.
        """
        asyncio.run_coroutine_threadsafe(self._send(topic, key, value, headers), self._loop).result()

    async def _send(self, topic: str, key: bytes | None, value: bytes | None, headers: Headers) -> None:
        batch = self._producers.send_batch(topic, [(key, value, -1, 0, headers)], "all", "binary")
        timer = self._loop.call_later(self._timeout_ms / 1000, batch.give_up)
        try:
            await batch.done
        finally:
            timer.cancel()
        ((_, _, code, reason),) = outcomes_in_time(batch, self._timeout_ms)
        if code is not None:
            raise LetterNotStored(reason)
