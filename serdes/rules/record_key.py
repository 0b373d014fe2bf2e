"""The key of the record whose value is serialized or deserialized: dead letters are written with it.

Keys and values are serialized one by one, by serializers that do not know each other. A key belongs to a value if both
calls have the same context or list of headers. Calls that share neither belong together if each key comes just before
its value; where a value came first, nobody can tell, and the key is unknown.

Keys are remembered once a rule needs them; until then, they cost nothing.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from serdes.rules.context import Message


class _Key(NamedTuple):
    key: Any
    topic: str | None
    context: Any
    headers: Any


class _State(NamedTuple):
    """What a thread or task serialized last.

    Attributes:
        key: The key whose value has not come yet.
        value_first: The topics in which a value came without a key before it.
    """

    key: _Key | None = None
    value_first: frozenset[str | None] = frozenset()


_STATE: ContextVar[_State] = ContextVar("record_key", default=_State())  # noqa: B039  # it is immutable
#: The fast paths of serializers, which do not remember keys: dictionaries by topic and field, and by tuples of them.
_FAST_PATHS: WeakKeyDictionary[object, tuple[dict[str, dict[str, Any]], dict[Any, Any]]] = WeakKeyDictionary()
_WANTED: list[bool] = []


def are_wanted() -> bool:
    """Whether a rule needs the keys of records."""
    return bool(_WANTED)


def want() -> None:
    """Remember keys from now on."""
    if not _WANTED:
        _WANTED.append(True)
        for ready, ready_ruled in list(_FAST_PATHS.values()):
            for by_field in list(ready.values()):
                by_field.pop("key", None)
            for entry in [entry for entry in ready_ruled if entry[1] == "key"]:
                ready_ruled.pop(entry, None)


def listen(serializer: object, ready: dict[str, dict[str, Any]], ready_ruled: dict[Any, Any]) -> None:
    """Remove the keys from a serializer's fast paths once they are wanted."""
    _FAST_PATHS[serializer] = (ready, ready_ruled)


def remember(key: Any, context: Any) -> None:
    """Remember the key of a record.

    Args:
        key: The datum to serialize, or the bytes to deserialize.
        context: The context of the call.
    """
    remembered = _Key(key, getattr(context, "topic", None), context, getattr(context, "headers", None))
    _STATE.set(_STATE.get()._replace(key=remembered))


def of_value(message: Message) -> Message:
    """The message with the key of its record, if it is a value and keys are wanted."""
    if _WANTED and not message.is_key:
        message.key = _take(message.caller_context)
    return message


def _take(context: Any) -> Any:
    state = _STATE.get()
    topic, headers = getattr(context, "topic", None), getattr(context, "headers", None)
    remembered = state.key
    if remembered is None or remembered.topic != topic:
        _STATE.set(_State(None, state.value_first | {topic}))
        return None
    _STATE.set(_State(None, state.value_first))
    is_same = remembered.context is context or (headers is not None and remembered.headers is headers)
    return remembered.key if is_same or topic not in state.value_first else None
