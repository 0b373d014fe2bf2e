"""Brokers as the cluster's metadata names them."""

from __future__ import annotations

from dataclasses import dataclass

#: The host and port of a broker.
Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Node:
    """A broker as the cluster's metadata names it."""

    id: int
    host: str
    port: int
    rack: str | None
