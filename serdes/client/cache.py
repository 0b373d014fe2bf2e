"""A bounded cache: it drops the least recently used entries and those older than a time to live."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Generic, TypeVar

from serdes.error import ConfigError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """A mapping of at most `capacity` entries, none older than `ttl` seconds; safe to share between threads.

    Attributes:
        capacity: The maximum number of entries; the least recently used one is dropped first.
        ttl: Seconds after which an entry is dropped; None for never, 0 to keep nothing.
    """

    def __init__(self, capacity: int, ttl: float | None = None, clock: Callable[[], float] = monotonic) -> None:
        if capacity < 1:
            raise ConfigError("cache.capacity", f"must be at least 1, not {capacity}")
        self.capacity = capacity
        self.ttl = ttl
        self._clock = clock
        self._entries: OrderedDict[K, tuple[V, float]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """The value of a key, or None if there is none or it is too old."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            value, since = entry
            if self.ttl is not None and self._clock() - since >= self.ttl:
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
            return value

    def put(self, key: K, value: V) -> None:
        """Stores a value and, if the cache is full, drops the least recently used one."""
        with self._lock:
            self._entries[key] = (value, self._clock())
            self._entries.move_to_end(key)
            while len(self._entries) > self.capacity:
                self._entries.popitem(last=False)

    def discard(self, matches: Callable[[K], bool]) -> None:
        """Drops the entries whose key matches."""
        with self._lock:
            for key in [key for key in self._entries if matches(key)]:
                del self._entries[key]

    def clear(self) -> None:
        """Drops all entries."""
        with self._lock:
            self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)
