"""The key of the record whose value comes next, for actions that send records to a topic of dead letters.

Serializers and deserializers of keys note the key. They do so for each message only after a plan has such an action:
until then their fast paths stay as they are.

A key belongs to a value if both calls have the same context or list of headers. Calls that share neither belong
together if each key comes just before its value. Once a value of the topic came without a key before it, nobody can
tell whether the next key is that of the value before or after it, so such a key counts for none.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Protocol
from weakref import WeakSet

_KEY: ContextVar[tuple[str | None, Any] | None] = ContextVar("magicbyte_record_key", default=None)


class KeyNoter(Protocol):
    """A serializer or deserializer."""

    def leave_fast_path(self) -> None:
        """Stop taking the fast path for keys, which does not note them."""


class _Wish:
    """Whether keys are wanted, and who has to know once they are."""

    def __init__(self) -> None:
        self.is_set = False
        self.noters: WeakSet[KeyNoter] = WeakSet()


_WISH = _Wish()


def note(topic: str | None, key: Any) -> None:
    """Notes the key of a record of a topic, if keys are wanted: the datum, or the bytes on reading.

    Before that, the keys that take the fast path are not noted, so another one must not stand for them.
    """
    if _WISH.is_set:
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
        for noter in list(_WISH.noters):
            noter.leave_fast_path()


def when_wanted(noter: KeyNoter) -> None:
    """Tells a serializer or deserializer, which is not kept alive, once keys are wanted."""
    if not _WISH.is_set:
        _WISH.noters.add(noter)
