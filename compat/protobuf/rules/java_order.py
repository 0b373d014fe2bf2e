"""The iteration order of Java's hash sets, in which the reference lists its messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

_Key = TypeVar("_Key", bound=str | int)
_SMALLEST = 16


def union_order(first: Iterable[_Key], second: Iterable[_Key]) -> list[_Key]:
    """The keys of two hash maps in the iteration order of the hash set that holds both.

    Args:
        first: The keys of the map that the set is created from, in insertion order.
        second: The keys of the map that is added to the set.
    """
    return list(_union_order(tuple(first), tuple(second)))


@lru_cache(maxsize=1024)
def _union_order(first: tuple[_Key, ...], second: tuple[_Key, ...]) -> tuple[_Key, ...]:
    # versions of a schema usually declare the same names, so calls often repeat
    start: list[_Key] = _map_order(first)
    keys = list(dict.fromkeys([*start, *_map_order(second)]))
    capacity = _power_of_two(max(int(len(start) / 0.75) + 1, _SMALLEST))
    return tuple(_by_bucket(keys, _grown(capacity, len(keys))))


def _map_order(keys: Iterable[_Key]) -> list[_Key]:
    distinct = list(dict.fromkeys(keys))
    return _by_bucket(distinct, _grown(_SMALLEST, len(distinct)))


def _by_bucket(keys: Sequence[_Key], capacity: int) -> list[_Key]:
    def bucket(key: _Key) -> int:
        return _spread(key) & (capacity - 1)

    # a bucket keeps the insertion order, also when it is split
    return sorted(keys, key=bucket)


def _grown(capacity: int, size: int) -> int:
    while size > 0.75 * capacity:
        capacity *= 2
    return capacity


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def _spread(key: str | int) -> int:
    code = key & 0xFFFFFFFF if isinstance(key, int) else _string_hash(key)
    return code ^ (code >> 16)


def _string_hash(text: str) -> int:
    code = 0
    for character in text:  # names are ASCII, so a character is one UTF-16 unit
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return code
