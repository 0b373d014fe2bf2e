"""Limits of a server's connections, as its settings give them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a server's connections.

    Attributes:
        connections: How many may be open; 0 allows as many as there are descriptors.
        heads_per_address: How many requests from one address may have an unfinished head.
        head_bytes: The largest head of a request, from its first line to the empty line.
        head_fields: The largest number of fields in a head.
        target_bytes: The longest request target.
        head_seconds: The longest time for a head; for a new connection, it starts when the connection opens.
        idle_seconds: The longest time without a next request, without bytes of a body, or without reading an answer.
        body_bytes_per_second: The lowest average rate of a body after its first `idle_seconds`.
        pipelined_bytes: How many bytes of pipelined requests may wait on all connections together.
    """

    connections: int = 10_000
    heads_per_address: int = 256
    head_bytes: int = 32 << 10
    head_fields: int = 100
    target_bytes: int = 8 << 10
    head_seconds: float = 10.0
    idle_seconds: float = 30.0
    body_bytes_per_second: int = 1024
    pipelined_bytes: int = 64 << 20
