"""The nodes of a cluster of proxies, and the owner of each consumer instance by rendezvous hashing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Peers:
    """The nodes by their base URLs; every node has the same list, in any order."""

    urls: Sequence[str]
    self_url: str

    def owner(self, group: str, name: str) -> str:
        """The node that holds an instance: the one whose hash with the instance is highest."""
        return max(self.urls, key=lambda url: hashlib.blake2b(f"{url}\n{group}\n{name}".encode()).digest())

    def owns(self, group: str, name: str) -> bool:
        """Tell whether this node holds an instance."""
        return self.owner(group, name) == self.self_url
