"""The key of the record whose value comes next, for actions that send records to a topic of dead letters.

Serializers and deserializers of keys note the key. They do so for each message only after a plan has such an action:
until then their fast paths stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any
from weakref import WeakMethod

_KEY: ContextVar[tuple[str | None, Any] | None] = ContextVar("magicbyte_record_key", default=None)


class _Wish:
    """Whether keys are wanted, and the methods to call once they are."""

    def __init__(self) -> None:
        self.is_set = False
        self.listeners: list[WeakMethod[Callable[[], None]]] = []


_WISH = _Wish()


def note(topic: str | None, key: Any) -> None:
    """Notes the key of a record of a topic: the datum, or the bytes on reading."""
    _KEY.set((topic, key))


def taken(topic: str | None) -> Any:
    """The key of the record of a topic whose value comes now, and forgets it; None if none was noted."""
    noted = _KEY.get()
    if noted is None:
        return None
    _KEY.set(None)
    return noted[1] if noted[0] == topic else None


def are_wanted() -> bool:
    """Whether a plan has an action that needs keys."""
    return _WISH.is_set


def want() -> None:
    """Asks all serializers and deserializers to note the keys of all messages."""
    if not _WISH.is_set:
        _WISH.is_set = True
        for listener in _WISH.listeners:
            method = listener()
            if method is not None:
                method()
        _WISH.listeners.clear()


def when_wanted(method: Callable[[], None]) -> None:
    """Calls a method, which is not kept alive, once keys are wanted."""
    if not _WISH.is_set:
        _WISH.listeners = [listener for listener in _WISH.listeners if listener() is not None]
        _WISH.listeners.append(WeakMethod(method))
