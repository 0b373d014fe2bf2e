"""The size of a made instance, whose parts may be shared, so that its text is far larger than its objects."""

from __future__ import annotations

from typing import Any

#: The most characters of an instance that is tried.
MOST_CHARACTERS = 500_000


def characters_of(value: Any) -> int:
    """About how many characters the text of an object or array has; 0 for other values.

    Counting stops beyond `MOST_CHARACTERS`.
    """
    if not isinstance(value, dict | list):
        return 0
    characters = MOST_CHARACTERS
    waiting: list[Any] = [value]
    while waiting and characters >= 0:
        part = waiting.pop()
        characters -= 2
        if isinstance(part, dict):
            characters -= sum(map(len, part))
            waiting += part.values()
        elif isinstance(part, list):
            characters -= len(part)
            waiting += part if characters >= 0 else ()
        elif isinstance(part, str):
            characters -= len(part)
    return MOST_CHARACTERS - characters
