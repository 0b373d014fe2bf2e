"""Having the broker make its coordinators' topics at once, so that the first group and transaction need not wait.

Kafka makes `__consumer_offsets` and `__transaction_state` when a client first asks for a coordinator; clients then back
off for a second and more. The question is asked here by two requests of the Kafka protocol, FindCoordinator version 1.
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

#: The client id, the group and the transactional id asked for; asking makes neither.
_NAME = b"magicbyte"

_SECONDS_BETWEEN = 0.02


def await_coordinators(host: str, port: int, timeout: float) -> bool:
    """Ask until a group's and a transaction's coordinator are there and ready; False if `timeout` seconds do not do."""
    deadline = time.monotonic() + timeout
    with socket.create_connection((host, port), timeout=timeout) as connection:
        questions = [
            _find_coordinator(_GROUP),
            _find_coordinator(_TRANSACTION),
            _end_transaction(),
            _init_producer_id(),
        ]
        while questions and time.monotonic() < deadline:
            questions = [question for question in questions if not question.is_answered(connection)]
            if questions:
                time.sleep(_SECONDS_BETWEEN)
    return not questions


@dataclass(frozen=True, slots=True)
class _Question:
    """A request, where its response has the error code, and the codes that say that all is there."""

    request: bytes
    error_at: int
    good: frozenset[int]

    def is_answered(self, connection: socket.socket) -> bool:
        connection.sendall(struct.pack(">i", len(self.request)) + self.request)
        (length,) = struct.unpack(">i", _receive(connection, 4))
        (error,) = struct.unpack_from(">h", _receive(connection, length), self.error_at)
        return error in self.good


def _find_coordinator(kind: int) -> _Question:
    """FindCoordinator version 1; its answer begins with the correlation id and the throttle time."""
    header = struct.pack(">hhih", 10, 1, kind, len(_NAME)) + _NAME
    return _Question(header + struct.pack(">h", len(_NAME)) + _NAME + bytes([kind]), 8, frozenset({_NONE}))


def _end_transaction() -> _Question:
    """EndTxn version 0 for a transactional id that nobody has: it changes nothing, and every Kafka since 0.11 takes it.

    The error is COORDINATOR_LOAD_IN_PROGRESS while the coordinator still reads its topic. The answer begins with the
    correlation id and the throttle time.
    """
    header = struct.pack(">hhih", 26, 0, 2, len(_NAME)) + _NAME
    transaction = struct.pack(">h", len(_NAME)) + _NAME + struct.pack(">qh?", 0, 0, False)
    return _Question(header + transaction, 8, frozenset({_INVALID_PRODUCER_ID_MAPPING}))


def _init_producer_id() -> _Question:
    """InitProducerId version 0 without a transactional id.

    The first one after a start has the broker fetch its block of producer ids and is itself answered with
    COORDINATOR_LOAD_IN_PROGRESS, on which clients wait half a second.
    """
    header = struct.pack(">hhih", 22, 0, 3, len(_NAME)) + _NAME
    return _Question(header + struct.pack(">hi", -1, 60_000), 8, frozenset({_NONE}))


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the broker closed the connection")
        data += part
    return data
