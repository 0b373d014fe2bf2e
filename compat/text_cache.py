"""Caches the results of parsing referenced texts: a chain of n schemas has n texts, and n squared uses of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class TextCache(Generic[_Value]):
    """Values that depend on a name and a text alone, the most recently used ones up to a bound.

    Args:
        make: Returns the value of a name and a text; errors are not cached. The value must be immutable.
        characters: How many characters all remembered texts have together at most.
    """

    def __init__(self, make: Callable[[str, str], _Value], characters: int) -> None:
        self._make = make
        self._left = characters
        self._values: OrderedDict[tuple[str, str], _Value] = OrderedDict()
        self._lock = Lock()

    def get(self, name: str, text: str) -> _Value:
        """The value of a name and a text."""
        key = (name, text)
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = self._make(name, text)
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._left -= len(text)
            while self._left < 0:
                (_, oldest), _ = self._values.popitem(last=False)
                self._left += len(oldest)
        return value
