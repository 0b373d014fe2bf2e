"""Values with their places, as the reader of settings takes them; each format of files makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from magicbyte.kit.settings.place import Place


class Unresolved:
    """The value of a scalar whose placeholder has no value here; a lenient reading accepts it for every setting."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "unresolved"


UNRESOLVED = Unresolved()


class ScalarNode(Struct, frozen=True):
    """A scalar: its value, the text as it is in the file, and a function from an offset in the text to a place."""

    place: Place
    value: Any
    raw: Any
    within: Callable[[int], Place]


class ListNode(Struct, frozen=True):
    """A list."""

    place: Place
    items: tuple[Node, ...]


class Entry(Struct, frozen=True):
    """A key's place, and its value."""

    key: Place
    node: Node


class MapNode(Struct, frozen=True):
    """A mapping; keys are texts."""

    place: Place
    entries: Mapping[str, Entry]


Node = ScalarNode | ListNode | MapNode


class Places(Protocol):
    """Finds the places of a document's keys and single values, which it is asked for in their order."""

    def key(self, name: str) -> Place:
        """The place of the next key of this name."""
        ...

    def value(self, value: Any) -> Place:
        """The place of the next single value like this."""
        ...


def node_of(value: Any, places: Places, place: Place) -> Node:
    """The node of a value of Python: a mapping, a list, or a single value of any type.

    Args:
        value: The value.
        places: Finds places.
        place: The place of the value, if it is a mapping or list.
    """
    if isinstance(value, Mapping):
        entries = {}
        for name, inner in value.items():
            key = places.key(name)
            entries[name] = Entry(key, node_of(inner, places, key))
        return MapNode(place, entries)
    if isinstance(value, list):
        items = [node_of(item, places, place) for item in value]
        return ListNode(place, tuple(map(_at_first_key, items)))
    place = places.value(value)
    return ScalarNode(place, value, value, lambda _: place)


def _at_first_key(item: Node) -> Node:
    """A mapping in a list begins with its first key."""
    if isinstance(item, MapNode) and item.entries:
        return MapNode(next(iter(item.entries.values())).key, item.entries)
    return item
