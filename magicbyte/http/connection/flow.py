"""Backpressure on one connection: when to read from the client, and when to wait until it has read."""

from __future__ import annotations

import asyncio

#: How many bytes of a body may wait for the application before the connection stops reading.
HIGH_WATER_BYTES = 64 << 10


class Flow:
    """Pauses reading while received data waits, and pauses an answer while sent data waits.

    Reading has two reasons to pause: a body that the application does not read, and requests behind an unanswered one.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        """Begin with reading and writing.

        Args:
            transport: The connection.
        """
        self._transport = transport
        self._is_body_full = self._is_held = False
        self._writable: asyncio.Event | None = None

    @property
    def is_read_paused(self) -> bool:
        """Whether nothing more is read from the client."""
        return self._is_body_full or self._is_held

    @property
    def is_write_paused(self) -> bool:
        """Whether the client has to read before more is written."""
        return self._writable is not None

    def pause_body(self) -> None:
        """Stop reading until the application has taken the body."""
        self._set(is_body_full=True, is_held=self._is_held)

    def resume_body(self) -> None:
        """Read on: the application has taken the body, or does not need it."""
        if self._is_body_full:
            self._set(is_body_full=False, is_held=self._is_held)

    def hold(self) -> None:
        """Stop reading until the current request has been answered."""
        self._set(is_body_full=self._is_body_full, is_held=True)

    def release(self) -> None:
        """Read on: no received request waits for an answer."""
        if self._is_held:
            self._set(is_body_full=self._is_body_full, is_held=False)

    def _set(self, *, is_body_full: bool, is_held: bool) -> None:
        was_paused = self.is_read_paused
        self._is_body_full, self._is_held = is_body_full, is_held
        if self.is_read_paused == was_paused or self._transport.is_closing():
            return
        if was_paused:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        """Hold the answer until `resume_writing`."""
        if self._writable is None:
            self._writable = asyncio.Event()

    def resume_writing(self) -> None:
        """Continue the answer."""
        writable, self._writable = self._writable, None
        if writable is not None:
            writable.set()

    async def drain(self) -> None:
        """Wait until the answer may continue."""
        if self._writable is not None:
            await self._writable.wait()
