"""Limits on the time that records are encoded on threads, with that of worker processes."""

from __future__ import annotations

import time
from typing import Any, Protocol

from magicbyte.kit.processes.processor_time import seconds_spent
from rest_proxy.errors import VALIDATION_BUSY
from rest_proxy.formats.plain import DataError
from rest_proxy.formats.writers import Encode

#: The processor time for encoding the records of a request, in seconds.
_CPU_SECONDS = 2.0
#: The time after which no further record is encoded, even if the machine gave it too little processor time, in seconds.
_LONGEST_SECONDS = 30.0
#: How long records that their schemas refuse in the end may be validated, in seconds in each window of seconds.
_REFUSING_SECONDS, _WINDOW_SECONDS = 2.0, 10.0


class TimeLimit(Protocol):
    """A limit on the time of encoding."""

    def check(self) -> None:
        """Check that the limit is not reached, on the event loop.

        Raises:
            ApiError: VALIDATION_BUSY.
        """

    def limited(self, encode: Encode) -> Encode:
        """Limit a function that encodes keys or values on one thread."""


class RequestTime:
    """The limit on the records of one request together: all or none of them are sent."""

    __slots__ = ()

    def check(self) -> None:
        """Check nothing, because the request's records are encoded in one go."""

    def limited(self, encode: Encode) -> Encode:
        """Limit the total time of a function, from its first value on; later it raises DataError."""
        ends: tuple[float, float] | None = None

        def encode_in_time(value: Any) -> bytes | None:
            nonlocal ends
            spent, now = seconds_spent(), time.monotonic()
            cpu_end, end = ends = ends or (spent + _CPU_SECONDS, now + _LONGEST_SECONDS)
            if spent > cpu_end or now > end:
                limit = f"{_CPU_SECONDS:g} s of processor time" if spent > cpu_end else f"{_LONGEST_SECONDS:g} s"
                raise DataError("", f"the validation of the records before took more than {limit}; send fewer")
            return encode(value)

        return encode_in_time


class RefusedTime:
    """The limit on the refused records of one client: otherwise each record of a stream could take long."""

    __slots__ = ("_refusing", "_window_ends_at")

    def __init__(self) -> None:
        #: How long the validation of refused records took in this window.
        self._refusing = 0.0
        self._window_ends_at = 0.0

    def check(self) -> None:
        """Check that refused records did not take too long in this window.

        Raises:
            ApiError: VALIDATION_BUSY.
        """
        now = time.monotonic()
        if now >= self._window_ends_at:
            self._window_ends_at, self._refusing = now + _WINDOW_SECONDS, 0.0
        if self._refusing > _REFUSING_SECONDS:
            limit = f"{_REFUSING_SECONDS:g} s of processor time"
            raise VALIDATION_BUSY(
                detail=f"the refused records before this one took {limit}; send it in another request"
            )

    def limited(self, encode: Encode) -> Encode:
        """Count the time of values that a function refuses."""

        def timed(value: Any) -> bytes | None:
            started = seconds_spent()
            try:
                return encode(value)
            except DataError:
                self._refusing += seconds_spent() - started
                raise

        return timed
