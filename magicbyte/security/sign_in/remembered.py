"""Remembers recently verified credentials by a keyed digest, so that no secret is kept."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import TTLCache

from magicbyte.security.principal import Network, Principal, Refusal

_MAX_PRINCIPALS = 10_000
_MAX_FAILURES = 1_000
_FAILURE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Verified:
    """A successful verification.

    Attributes:
        principal: The sender.
        networks: The networks from which the principal may connect; empty for all.
    """

    principal: Principal
    networks: tuple[Network, ...] = ()


class Remembered:
    """Outcomes by the digest of the header; they expire, and all are cleared when users or keys change."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Create an empty memory.

        Args:
            seconds: How long a success is remembered.
            clock: A monotonic clock, in seconds.
        """
        self._seconds = seconds
        self._clock = clock
        self._key = secrets.token_bytes(32)
        # By hand, because every request looks here: a TTLCache takes eight times as long.
        self._verified: OrderedDict[bytes, tuple[float, Verified]] = OrderedDict()
        self._failures = self._no_failures()

    def digest(self, header: bytes) -> bytes:
        """Return the digest of a header's value; it is valid only in this process."""
        return hashlib.blake2b(header, digest_size=16, key=self._key).digest()

    def verified(self, digest: bytes) -> Verified | None:
        """Return a remembered success, unless it or the credentials have expired."""
        entries = self._verified
        entry = entries.get(digest)
        if entry is None:
            return None
        deadline, verified = entry
        expires = verified.principal.expires
        if self._clock() >= deadline or (expires is not None and time.time() >= expires):
            del entries[digest]
            return None
        entries.move_to_end(digest)
        return verified

    def failure(self, digest: bytes) -> Refusal | None:
        """Return a remembered failure."""
        return self._failures.get(digest)

    def add(self, digest: bytes, outcome: Verified | Refusal) -> None:
        """Remember an outcome; if the memory is full, the least recently used one is dropped."""
        if isinstance(outcome, Refusal):
            self._failures[digest] = outcome
            return
        if self._seconds > 0:
            self._verified[digest] = (self._clock() + self._seconds, outcome)
            if len(self._verified) > _MAX_PRINCIPALS:
                self._verified.popitem(last=False)

    def clear(self) -> None:
        """Forget everything; may be called from any thread."""
        # A look-up in progress continues with the old dict.
        self._verified, self._failures = OrderedDict(), self._no_failures()

    def _no_failures(self) -> TTLCache[bytes, Refusal]:
        return TTLCache(_MAX_FAILURES, _FAILURE_SECONDS, self._clock)
