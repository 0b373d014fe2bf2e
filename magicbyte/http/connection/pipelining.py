"""Pipelined requests of all connections: the limit of bytes that wait for answers to earlier requests."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from magicbyte.http.errors import TOO_MUCH_PIPELINED
from magicbyte.kit.errors import ApiError


class PipeliningConnection(Protocol):
    """One connection, as this module sees it."""

    #: The client's address, without its port.
    address: str

    def refuse_pipelined(self, error: ApiError) -> None:
        """Drop the pipelined requests; after the current answer, answer with an error and close the connection."""


class Pipelining:
    """The received bytes that wait on all connections.

    One connection holds at most one read, but the connections together could fill the memory.
    """

    def __init__(self, most_bytes: int) -> None:
        """Begin without connections.

        Args:
            most_bytes: How many bytes may wait on all connections together.
        """
        self._most_bytes = most_bytes
        self._waiting_bytes = 0
        self._bytes_of: dict[PipeliningConnection, int] = {}
        self._bytes_of_address: Counter[str] = Counter()

    def hold(self, connection: PipeliningConnection, size: int) -> None:
        """Note how many bytes wait on a connection.

        If all connections together have too many, refuse those of the address that has the most, so that a client that
        fills the memory is refused and others are not.
        """
        if size == self._bytes_of.get(connection):
            return
        self.release(connection)
        self._bytes_of[connection] = size
        self._bytes_of_address[connection.address] += size
        self._waiting_bytes += size
        while self._waiting_bytes > self._most_bytes:
            self._refuse_largest()

    def release(self, connection: PipeliningConnection) -> None:
        """Note that no bytes wait on a connection."""
        size = self._bytes_of.pop(connection, 0)
        if size:
            self._waiting_bytes -= size
            self._bytes_of_address[connection.address] -= size
            if not self._bytes_of_address[connection.address]:
                del self._bytes_of_address[connection.address]

    def _refuse_largest(self) -> None:
        address = max(self._bytes_of_address, key=self._bytes_of_address.__getitem__)
        connections = [connection for connection in self._bytes_of if connection.address == address]
        largest = max(connections, key=self._bytes_of.__getitem__)
        self.release(largest)
        largest.refuse_pipelined(TOO_MUCH_PIPELINED(limit=self._most_bytes))
