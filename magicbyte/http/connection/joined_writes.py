"""A transport that joins what is written in one turn of the event loop into few system calls."""

from __future__ import annotations

import asyncio
from typing import Any

#: Up to this many bytes, parts are copied together: that takes less time than a system call with several parts.
_MOST_COPIED = 8 << 10


class JoinedWrites(asyncio.Transport):
    """Joins two writes in the same turn of the event loop into one system call.

    An exchange writes the head of a stream and then its first chunk, and uvloop sends each one at once. Each write
    costs a system call and a network packet.
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
            self._held = data if type(data) is bytes else bytes(data)
            if not self._is_flush_due:
                self._is_flush_due = True
                self._loop.call_soon(self._flush)
            return
        self.send(b"", bytes(data))

    def send(self, head: bytes, body: bytes = b"") -> None:
        """Send a head and a body now, together with the data that waits for a second write."""
        held = self._held
        if held is not None:
            head, self._held = held + head, None
        if len(head) + len(body) <= _MOST_COPIED:
            self._transport.write(head + body)
        else:
            self._transport.writelines((head, body))

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
