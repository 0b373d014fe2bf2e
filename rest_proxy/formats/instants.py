"""Instants in the JSON of v3."""

from __future__ import annotations

from functools import lru_cache
from time import gmtime, strftime


def instant(milliseconds: int) -> bytes:
    """A time in ms since the epoch, as ISO-8601 in UTC; with milliseconds only if they are not zero."""
    second, rest = divmod(milliseconds, 1000)
    return b"%b.%03dZ" % (_second(second), rest) if rest else b"%bZ" % _second(second)


@lru_cache(maxsize=16)
def _second(second: int) -> bytes:
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(second)).encode()
