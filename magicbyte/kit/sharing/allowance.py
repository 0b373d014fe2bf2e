"""Allowances: how much of a resource each client may hold at once, so that no client takes all of it."""

from __future__ import annotations

from collections import Counter


class Allowance:
    """Counts what each client holds; a client is a principal, or an address if nobody signs in.

    Use it on one event loop, or under the lock of the resource.
    """

    def __init__(self, most: int) -> None:
        """Begin with nothing held.

        Args:
            most: How many a client may hold.
        """
        self.most = most
        self._held: Counter[str] = Counter()

    def take(self, client: str) -> bool:
        """Count one more for a client; False if it holds as many as it may."""
        held = self._held[client]
        if held >= self.most:
            return False
        self._held[client] = held + 1
        return True

    def give_back(self, client: str) -> None:
        """Count one less for a client."""
        self._held[client] -= 1
        if not self._held[client]:
            del self._held[client]
