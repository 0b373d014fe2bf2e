"""A transport that sends the head and the body of a response together."""

from __future__ import annotations

import asyncio
from typing import Any


class JoinedWrites(asyncio.Transport):
    """Sends two writes of one turn of the event loop with one system call.

    uvicorn writes the head of a response and then its body, and uvloop sends either at once. Each costs the server a
    system call and the network a packet.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        """Send through a transport."""
        super().__init__()
        self._transport = transport
        self._loop = loop
        #: What waits for a companion, or for the end of the turn.
        self._held: bytes | None = None
        self._is_flush_due = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send with what was written before, or with what comes next, at the latest when the turn ends."""
        held = self._held
        if held is None:
            self._held = bytes(data)
            if not self._is_flush_due:
                self._is_flush_due = True
                self._loop.call_soon(self._flush)
            return
        self._held = None
        self._transport.writelines((held, data) if data else (held,))

    def _flush(self) -> None:
        self._is_flush_due = False
        held, self._held = self._held, None
        if held:
            self._transport.write(held)

    def close(self) -> None:
        """Close once all that was written is sent."""
        held, self._held = self._held, None
        if held:
            self._transport.write(held)
        self._transport.close()

    def abort(self) -> None:
        """Close now."""
        self._held = None
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether it is closed, or about to be."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What the transport knows about the connection."""
        return self._transport.get_extra_info(name, default)
