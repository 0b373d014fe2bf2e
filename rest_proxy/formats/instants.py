"""Instants in the JSON of v3."""

from __future__ import annotations

from functools import lru_cache
from time import gmtime, strftime


@lru_cache(maxsize=256)
def instant(milliseconds: int) -> bytes:
    """A time in ms since the epoch, as ISO-8601 in UTC; with milliseconds only if they are not zero.

    Cached: the records of a batch often have the same time.
    """
    second, rest = divmod(milliseconds, 1000)
    text = strftime("%Y-%m-%dT%H:%M:%S", gmtime(second))
    return (f"{text}.{rest:03d}Z" if rest else f"{text}Z").encode()
