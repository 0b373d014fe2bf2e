"""The iteration order of Java's hash sets, in which the reference reports properties."""

from __future__ import annotations

from functools import lru_cache

_SMALLEST_TABLE = 16
_LOAD = 0.75


@lru_cache(maxsize=4_096)
def hash_order(names: tuple[str, ...]) -> tuple[str, ...]:
    """The strings without repetitions, in the order of a `java.util.HashSet` after they were added one by one."""
    unique = list(dict.fromkeys(names))
    table = _SMALLEST_TABLE
    while len(unique) > table * _LOAD:
        table *= 2
    return tuple(sorted(unique, key=lambda name: _spread_hash(name) & (table - 1)))


@lru_cache(maxsize=65_536)
def _spread_hash(name: str) -> int:
    value = 0
    units = name.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value ^ value >> 16
