"""A transport that sends the head and the body of a response in one system call."""

from __future__ import annotations

import asyncio
from typing import Any


class JoinedWrites(asyncio.Transport):
    """Joins two writes in the same turn of the event loop into one system call.

    An exchange writes the head of a response and then its body, and uvloop sends each one at once. Each write costs a
    system call and a network packet.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        """Send through a transport."""
        super().__init__()
        self._transport = transport
        self._loop = loop
        #: Data that waits for a second write or for the end of the turn.
        self._held: bytes | None = None
        self._is_flush_due = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send the data together with the previous or the next write, at the latest when the turn ends."""
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
        """Close once all written data is sent."""
        held, self._held = self._held, None
        if held:
            self._transport.write(held)
        self._transport.close()

    def abort(self) -> None:
        """Close now; unsent data is lost."""
        self._held = None
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether the transport is closed or closing."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return the transport's information about the connection."""
        return self._transport.get_extra_info(name, default)
