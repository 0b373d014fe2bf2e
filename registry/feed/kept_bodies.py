"""A cache of large bodies of answers, plain and compressed."""

from __future__ import annotations

import gzip
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

#: A higher level takes twice the time for a tenth fewer bytes.
_LEVEL = 5


@dataclass(frozen=True, slots=True)
class KeptBody:
    """The body of an answer, and the same with gzip."""

    plain: bytes
    gzipped: bytes


class KeptBodies:
    """The bodies that were used last. Safe for several threads."""

    def __init__(self, most_bytes: int = 16 << 20) -> None:
        """Make an empty cache.

        Args:
            most_bytes: The total length of the bodies, at most; a longer body is not kept.
        """
        self._most_bytes = most_bytes
        self._bytes = 0
        self._bodies: OrderedDict[Hashable, KeptBody] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> KeptBody | None:
        """The body that was kept under a key."""
        with self._lock:
            body = self._bodies.get(key)
            if body is not None:
                self._bodies.move_to_end(key)
            return body

    def make(self, key: Hashable, make: Callable[[], bytes]) -> KeptBody:
        """The body under a key; if there is none, make, compress and keep it. Takes long."""
        body = self.get(key)
        if body is None:
            plain = make()
            body = KeptBody(plain, gzip.compress(plain, _LEVEL, mtime=0))
            self._keep(key, body)
        return body

    def _keep(self, key: Hashable, body: KeptBody) -> None:
        with self._lock:
            self._bodies[key] = body
            self._bytes += len(body.plain) + len(body.gzipped)
            while self._bytes > self._most_bytes:
                _, dropped = self._bodies.popitem(last=False)
                self._bytes -= len(dropped.plain) + len(dropped.gzipped)
