"""A cache of large bodies of answers, plain and compressed."""

from __future__ import annotations

import gzip
import secrets
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b

from cachetools import LRUCache

#: A higher level takes twice the time for a tenth fewer bytes.
_LEVEL = 5


#: The key of digests, so that nobody finds what was digested by trying.
_KEY = secrets.token_bytes(16)


def digest_of(data: bytes) -> bytes:
    """A digest of 16 bytes, by a key of this process."""
    return blake2b(data, digest_size=16, key=_KEY).digest()


@dataclass(frozen=True, slots=True)
class KeptBody:
    """The body of an answer, the same with gzip, and its digest."""

    plain: bytes
    gzipped: bytes
    digest: bytes


class KeptBodies:
    """The bodies that were used last. Safe for several threads."""

    def __init__(self, most_bytes: int = 16 << 20) -> None:
        """Make an empty cache.

        Args:
            most_bytes: The total length of the bodies, at most; a longer body is not kept.
        """
        self._bodies: LRUCache[Hashable, KeptBody] = LRUCache(most_bytes, getsizeof=_size)
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> KeptBody | None:
        """The body that was kept under a key."""
        with self._lock:
            return self._bodies.get(key)

    def make(self, key: Hashable, make: Callable[[], bytes]) -> KeptBody:
        """The body under a key; if there is none, make, compress and keep it. Takes long."""
        body = self.get(key)
        if body is None:
            plain = make()
            body = KeptBody(plain, gzip.compress(plain, _LEVEL, mtime=0), digest_of(plain))
            with self._lock, suppress(ValueError):  # it is longer than the cache
                self._bodies[key] = body
        return body


def _size(body: KeptBody) -> int:
    return len(body.plain) + len(body.gzipped)
