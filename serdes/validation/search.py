"""The limit of work for an explanation, and short texts for values in messages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

#: The limit of keywords to check, normally and if other work is waiting; each step takes about 10 microseconds.
_STEPS, _FEW_STEPS = 1_000, 100
#: How often the search continues after a keyword that gave up, each time with fewer steps.
_RENEWALS = 4
#: How many parts of an object or array, and characters, are copied in one step.
_COPIED_IN_STEP = 5_000
#: The longest text to show in a reason, in characters.
LONGEST_SHOWN = 200


class Exhausted(Exception):
    """No steps are left."""


class Search:
    """The remaining steps of one explanation, and the values seen so far.

    Args:
        is_short: Whether to take only few steps.

    Attributes:
        is_combining: Whether errors of subschemas are being combined into one error.
        passing: The value about which errors of subschemas are being passed on.
    """

    def __init__(self, *, is_short: bool = False) -> None:
        self._left = _FEW_STEPS if is_short else _STEPS
        self._renewals = [] if is_short else [_STEPS // 4] * _RENEWALS
        self.is_combining = False
        self.passing: Any = self  # differs from every value
        #: Values by identity; keeping them alive keeps the identities unique.
        self._brief: dict[int, tuple[Any, Any]] = {}

    def spend(self, steps: int) -> None:
        """Count steps.

        Raises:
            Exhausted: No steps are left.
        """
        self._left -= steps
        if self._left < 0:
            raise Exhausted

    def renew(self) -> None:
        """Continue with fewer steps.

        Raises:
            Exhausted: This was done too often.
        """
        if not self._renewals:
            raise Exhausted
        self._left = self._renewals.pop()

    def brief(self, value: Any) -> Any:
        """The value with a short `repr`, because the library includes whole values in its messages."""
        brief = _BRIEF.get(type(value))
        if brief is None or (brief is LongText and len(value) <= LONGEST_SHOWN):
            return value
        if id(value) not in self._brief:
            self.spend(len(value) // _COPIED_IN_STEP)
            self._brief[id(value)] = value, brief(value)
        return self._brief[id(value)][1]


class _Object(dict[str, Any]):
    def __repr__(self) -> str:
        return "the object"


class _Array(list[Any]):
    def __repr__(self) -> str:
        return "the array"


class LongText(str):
    """A long text, which messages abbreviate."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "the text"


_BRIEF: Mapping[type, Callable[[Any], Any]] = {dict: _Object, list: _Array, str: LongText}
_active = threading.local()


def current() -> Search:
    """The current search of this thread."""
    search: Search = _active.search
    return search


@contextmanager
def searching(search: Search) -> Iterator[None]:
    """Make a search the current one of this thread."""
    _active.search = search
    try:
        yield
    finally:
        del _active.search
