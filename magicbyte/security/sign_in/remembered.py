"""Credentials that were verified lately, by a keyed digest: no secret is kept."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from magicbyte.security.principal import Network, Principal, Refusal

_MAX_PRINCIPALS = 10_000
_MAX_FAILURES = 1_000
_FAILURE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Verified:
    """The outcome of a verification that succeeded.

    Attributes:
        principal: Who it is.
        networks: Where the principal may come from; empty for anywhere.
    """

    principal: Principal
    networks: tuple[Network, ...] = ()


class Remembered:
    """Outcomes by the digest of the header; forgotten after a time, and all at once when users or keys change."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing.

        Args:
            seconds: How long a success is remembered.
            clock: Seconds that never jump.
        """
        self._seconds = seconds
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._verified: OrderedDict[bytes, tuple[float, Verified]] = OrderedDict()
        self._failures: OrderedDict[bytes, tuple[float, Refusal]] = OrderedDict()

    def digest(self, header: bytes) -> bytes:
        """Return what stands for a header's value in this process."""
        return hashlib.blake2b(header, digest_size=16, key=self._key).digest()

    def verified(self, digest: bytes) -> Verified | None:
        """Return the success that is remembered, unless its time or that of the credentials is over."""
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
        """Return the failure that is remembered."""
        entry = self._failures.get(digest)
        return None if entry is None or self._clock() >= entry[0] else entry[1]

    def add(self, digest: bytes, outcome: Verified | Refusal) -> None:
        """Remember an outcome; the one used longest ago makes room."""
        if isinstance(outcome, Refusal):
            self._failures[digest] = (self._clock() + _FAILURE_SECONDS, outcome)
            if len(self._failures) > _MAX_FAILURES:
                self._failures.popitem(last=False)
            return
        if self._seconds > 0:
            self._verified[digest] = (self._clock() + self._seconds, outcome)
            if len(self._verified) > _MAX_PRINCIPALS:
                self._verified.popitem(last=False)

    def clear(self) -> None:
        """Forget everything; may be called from any thread."""
        # A look-up that has begun goes on with the dict that it began with.
        self._verified, self._failures = OrderedDict(), OrderedDict()
