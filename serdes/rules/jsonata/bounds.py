"""Bounds of one JSONATA evaluation: its time, its depth, and the size of the values that it makes.

The library's own bounds are not used. They measure time from the expression's compilation, and they count every array
constructor in a function as a call that never returns, so a function called a thousand times "overflows the stack".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

#: The most items of a list that an expression makes, or passes to a function. Some functions of the library take time
#: that grows with the square of the items, and none can be interrupted.
MOST_ITEMS = 10_000
#: The most items of all lists that one evaluation makes, and the most characters of all texts.
MOST_ITEMS_MADE = 1_000_000
MOST_CHARACTERS_MADE = 64_000_000

#: The kinds of expressions that select existing values; all others make new ones.
_SELECTING = frozenset({"name", "path", "variable", "wildcard", "descendant", "parent", "block", "condition"})
_CALLS = frozenset({"function", "partial", "apply"})


class BoundsExceeded(Exception):
    """An evaluation exceeds one of its bounds; the text names the bound and the setting that moves it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds that settings move.

    Attributes:
        timeout_ms: The longest evaluation in milliseconds.
        max_depth: The most expressions that wait for one another.
    """

    timeout_ms: int = 1000
    max_depth: int = 500


class Watch:
    """Checks the bounds of one evaluation at every expression; `enter` and `leave` are the library's callbacks."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._end = monotonic() + bounds.timeout_ms / 1000
        #: The kinds of the expressions that wait for their parts.
        self._kinds: list[str | None] = []
        self._items = 0
        self._characters = 0
        #: The text of the bound that is exceeded. `$eval` replaces the exception, so the text is kept here as well.
        self.exceeded: str | None = None

    def enter(self, expression: Any, value: Any, environment: Any) -> None:  # noqa: ARG002  the library's signature
        """Check the time and the depth before an expression is evaluated."""
        self._kinds.append(getattr(expression, "type", None))
        if len(self._kinds) > self._bounds.max_depth:
            self._stop(f"it is nested deeper than {self._bounds.max_depth} (jsonata.max.depth)")
        self._check_time()

    def leave(self, expression: Any, value: Any, environment: Any, result: Any) -> None:  # noqa: ARG002  as above
        """Check the time and the size of an expression's result."""
        makes = (self._kinds.pop() if self._kinds else None) not in _SELECTING
        if isinstance(result, str):
            if makes:
                self._characters += len(result)
                if self._characters > MOST_CHARACTERS_MADE:
                    self._stop(f"it makes more than {MOST_CHARACTERS_MADE} characters of text")
        elif isinstance(result, list | dict):
            self._check_items(len(result), made=makes)
        self._check_time()

    def require_characters(self, count: float) -> None:
        """Check the length of a text before it is made."""
        if count > MOST_CHARACTERS_MADE:
            self._stop(f"it makes more than {MOST_CHARACTERS_MADE} characters of text")

    def _check_items(self, size: int, *, made: bool) -> None:
        if size > MOST_ITEMS and (made or (self._kinds and self._kinds[-1] in _CALLS)):
            self._stop(f"it makes a list of more than {MOST_ITEMS} items, or passes one to a function")
        if made:
            self._items += size
            if self._items > MOST_ITEMS_MADE:
                self._stop(f"it makes lists of more than {MOST_ITEMS_MADE} items in all")

    def _check_time(self) -> None:
        if monotonic() > self._end:
            self._stop(f"it takes more than {self._bounds.timeout_ms} ms (jsonata.timeout.ms)")

    def _stop(self, text: str) -> None:
        self.exceeded = text
        raise BoundsExceeded(text)


#: Each bound's names in the parameters of a rule and in settings: the current one, then the older one.
_NAMES = {
    "timeout_ms": ("jsonata.timeout.ms", "timeout.ms"),
    "max_depth": ("jsonata.max.depth", "max.depth"),
}


def bounds_of(parameters: Mapping[str, Any]) -> Bounds:
    """Read the bounds from parameters; a bound without a parameter has its default.

    Raises:
        ValueError: A parameter is not a positive whole number.
    """
    numbers = {}
    for bound, names in _NAMES.items():
        name = next((name for name in names if parameters.get(name) is not None), None)
        if name is not None:
            numbers[bound] = _positive(name, parameters[name])
    return Bounds(**numbers)


def _positive(name: str, value: Any) -> int:
    text = str(value).strip()
    if (
        isinstance(value, bool)
        or not (text.isascii() and text.isdigit())
        or len(text) > len(str(2**31))
        or int(text) < 1
    ):
        raise ValueError(f"{name} must be a positive whole number, not {text[:40]!r}")
    return int(text)
