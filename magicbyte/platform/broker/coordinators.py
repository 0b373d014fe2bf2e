"""Makes the broker create its coordinators' topics at once, so that the first group and transaction need not wait.

Kafka creates `__consumer_offsets` and `__transaction_state` when a client first asks for a coordinator; clients then
back off for a second or more. This module therefore sends the requests of the Kafka protocol that create them.
"""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass

#: Kinds of coordinator.
_GROUP, _TRANSACTION = 0, 1

#: Error codes of the protocol.
_NONE, _INVALID_PRODUCER_ID_MAPPING = 0, 49

#: The client id, group and transactional id in the requests; the requests create neither group nor transaction.
_NAME = b"magicbyte"

_RETRY_SECONDS = 0.02


def await_coordinators(host: str, port: int, timeout: float) -> bool:
    """Wait until the coordinators of groups and transactions are ready; False after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    with socket.create_connection((host, port), timeout=timeout) as connection:
        requests = [
            _find_coordinator(_GROUP),
            _find_coordinator(_TRANSACTION),
            _end_transaction(),
            _init_producer_id(),
        ]
        while requests and time.monotonic() < deadline:
            requests = [request for request in requests if not request.succeeds(connection)]
            if requests:
                time.sleep(_RETRY_SECONDS)
    return not requests


@dataclass(frozen=True, slots=True)
class _Request:
    """A request, the position of the error code in its response, and the error codes that mean success."""

    data: bytes
    error_position: int
    success: frozenset[int]

    def succeeds(self, connection: socket.socket) -> bool:
        connection.sendall(struct.pack(">i", len(self.data)) + self.data)
        (length,) = struct.unpack(">i", _receive(connection, 4))
        (error,) = struct.unpack_from(">h", _receive(connection, length), self.error_position)
        return error in self.success


def _find_coordinator(kind: int) -> _Request:
    """Return FindCoordinator version 1; its response begins with the correlation id and the throttle time."""
    header = struct.pack(">hhih", 10, 1, kind, len(_NAME)) + _NAME
    return _Request(header + struct.pack(">h", len(_NAME)) + _NAME + bytes([kind]), 8, frozenset({_NONE}))


def _end_transaction() -> _Request:
    """Return EndTxn version 0 for an unused transactional id: it has no effect, and all Kafkas since 0.11 support it.

    The error is COORDINATOR_LOAD_IN_PROGRESS while the coordinator still reads its topic. The response begins with
    the correlation id and the throttle time.
    """
    header = struct.pack(">hhih", 26, 0, 2, len(_NAME)) + _NAME
    transaction = struct.pack(">h", len(_NAME)) + _NAME + struct.pack(">qh?", 0, 0, False)
    return _Request(header + transaction, 8, frozenset({_INVALID_PRODUCER_ID_MAPPING}))


def _init_producer_id() -> _Request:
    """Return InitProducerId version 0 without a transactional id.

    The first one after a start makes the broker fetch its block of producer ids, and gets the error
    COORDINATOR_LOAD_IN_PROGRESS. Clients would then wait half a second.
    """
    header = struct.pack(">hhih", 22, 0, 3, len(_NAME)) + _NAME
    return _Request(header + struct.pack(">hi", -1, 60_000), 8, frozenset({_NONE}))


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the broker closed the connection")
        data += part
    return data
