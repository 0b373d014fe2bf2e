"""The key of the record whose value comes next, for actions that send records to a topic of dead letters.

Serializers and deserializers of keys note the key. They do so for each message only after a plan has such an action:
until then their fast paths stay as they are.

A key belongs to a value if both calls have the same context or list of headers. Calls that share neither belong
together if each key comes just before its value. Once a value of the topic came without a key before it, nobody can
tell whether the next key is that of the value before or after it, so such a key counts for none.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol
from weakref import WeakSet

from serdes.rules.context import Message
from serdes.serialization import Context


class _Noted(NamedTuple):
    """A key, and the call that it comes from.

    `is_current` says that all keys are noted since then, so that it is not an old one.
    """

    key: Any
    is_current: bool
    topic: str | None
    headers: Any
    context: Any


class _State(NamedTuple):
    """The data that a thread or task serialized last.

    Attributes:
        noted: The key whose value has not come yet.
        unpaired: The topics in which a value came without a key before it.
    """

    noted: _Noted | None = None
    unpaired: frozenset[str | None] = frozenset()


_STATE: ContextVar[_State] = ContextVar("magicbyte_record_key", default=_State())  # noqa: B039  # it is immutable


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


def note(context: Context, key: Any) -> None:
    """Notes the key of a record: the datum, or the bytes on reading."""
    noted = _Noted(key, _WISH.is_set, context.topic, context.headers, context)
    _STATE.set(_STATE.get()._replace(noted=noted))


def taken(context: Context) -> Any:
    """The key of the record whose value comes now, and forgets it; None if it is not known."""
    if not _WISH.is_set:
        return None
    noted, unpaired = _STATE.get()
    if noted is None or noted.topic != context.topic:
        _STATE.set(_State(None, unpaired | {context.topic}))
        return None
    _STATE.set(_State(None, unpaired))
    is_same = noted.context is context or (noted.headers is not None and noted.headers is context.headers)
    return noted.key if is_same or (noted.is_current and context.topic not in unpaired) else None


def are_needed() -> bool:
    """Whether a plan has an action that needs keys."""
    return _WISH.is_set


def want() -> None:
    """Asks all serializers and deserializers to note the keys of all messages."""
    if not _WISH.is_set:
        _WISH.is_set = True
        for noter in list(_WISH.noters):
            noter.leave_fast_path()


def notify_when_needed(noter: KeyNoter) -> None:
    """Tells a serializer or deserializer, which is not kept alive, once keys are wanted."""
    if not _WISH.is_set:
        _WISH.noters.add(noter)


def noted_message(subject: str, original: Any, ctx: Context | None) -> Message:
    """The message that rules are carried out on; a key is noted for its value.

    Args:
        subject: The subject of its schema.
        original: The datum before all rules, or the bytes as they came.
        ctx: The context of the caller; None if there is none.
    """
    if ctx is None:
        return Message(subject, None, False, None, original)
    if ctx.field == "key":
        note(ctx, original)
        return Message(subject, ctx.topic, True, ctx.headers, original, ctx)
    return Message(subject, ctx.topic, False, ctx.headers, original, ctx, taken(ctx))
