"""A cache of large bodies of answers, plain and compressed."""

from __future__ import annotations

import gzip
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from hashlib import blake2b

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
            body = KeptBody(plain, gzip.compress(plain, _LEVEL, mtime=0), digest_of(plain))
            self._keep(key, body)
        return body

    def _keep(self, key: Hashable, body: KeptBody) -> None:
        with self._lock:
            self._bodies[key] = body
            self._bytes += len(body.plain) + len(body.gzipped)
            while self._bytes > self._most_bytes:
                _, dropped = self._bodies.popitem(last=False)
                self._bytes -= len(dropped.plain) + len(dropped.gzipped)
