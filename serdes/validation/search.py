"""The bound on an explanation: counted steps, and short texts of values in messages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

#: Keywords that are tried, usually and while others wait: each is a step of about 10 microseconds.
_STEPS, _FEW_STEPS = 1_000, 100
#: How often the search goes on behind a keyword that it gave up, each time with fewer steps.
_RENEWALS = 4
#: Parts of an object or array, and characters, that are copied in one step.
_COPIED_IN_STEP = 5_000
#: The longest text that a reason shows, in characters.
LONGEST_SHOWN = 200


class Exhausted(Exception):
    """The steps are spent."""


class Search:
    """The steps of one explanation, and the values that it met.

    Args:
        is_short: Take few steps, and give up when they are spent.

    Attributes:
        is_combining: Whether the errors of subschemas are being combined to a single error.
        passing: The value for which errors of subschemas are being passed on.
    """

    def __init__(self, *, is_short: bool = False) -> None:
        self._left = _FEW_STEPS if is_short else _STEPS
        self._renewals = [] if is_short else [_STEPS // 4] * _RENEWALS
        self.is_combining = False
        self.passing: Any = self  # no value is that
        #: Values by identity, each with itself, so that its identity stays its own.
        self._brief: dict[int, tuple[Any, Any]] = {}

    def spend(self, steps: int) -> None:
        """Counts steps.

        Raises:
            Exhausted: There are none left.
        """
        self._left -= steps
        if self._left < 0:
            raise Exhausted

    def renew(self) -> None:
        """Goes on with fewer steps.

        Raises:
            Exhausted: That was done too often.
        """
        if not self._renewals:
            raise Exhausted
        self._left = self._renewals.pop()

    def brief(self, value: Any) -> Any:
        """The value with a short `repr`, because the library puts whole values into its messages."""
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
    """A long text, which messages do not show."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "the text"


_BRIEF: Mapping[type, Callable[[Any], Any]] = {dict: _Object, list: _Array, str: LongText}
_active = threading.local()


def current() -> Search:
    """The search of this thread."""
    search: Search = _active.search
    return search


@contextmanager
def searching(search: Search) -> Iterator[None]:
    """Installs a search as that of this thread."""
    _active.search = search
    try:
        yield
    finally:
        del _active.search
