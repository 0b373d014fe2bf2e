"""Values with their places, as the reader of settings takes them; each format of files makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from magicbyte.kit.settings.place import NOWHERE, Place


class Unresolved:
    """The value of a scalar whose placeholder has no value here; a lenient reading accepts it for every setting."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "unresolved"


UNRESOLVED = Unresolved()


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A scalar: its value, the text as it is in the file, and a function from an offset in the text to a place."""

    place: Place
    value: Any
    raw: Any
    within: Callable[[int], Place] = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list."""

    place: Place
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A key's place, and its value."""

    key: Place
    node: Node


@dataclass(frozen=True, slots=True)
class MapNode:
    """A mapping; keys are texts."""

    place: Place
    entries: Mapping[str, Entry]


Node = ScalarNode | ListNode | MapNode


def node_of(value: Any, place_of: Callable[[Any], Place] = lambda _: NOWHERE, place: Place = NOWHERE) -> Node:
    """The node of a value of Python: mappings, lists and tuples, and single values of any type.

    Args:
        value: The value.
        place_of: Called with each key and single value, in their order; returns its place.
        place: The place of a mapping or list.
    """
    if isinstance(value, Mapping):
        entries = {}
        for key, inner in value.items():
            key_place = place_of(key)
            entries[str(key)] = Entry(key_place, node_of(inner, place_of, key_place))
        return MapNode(place, entries)
    if isinstance(value, list | tuple):
        return ListNode(place, tuple(node_of(item, place_of, place) for item in value))
    place = place_of(value)
    return ScalarNode(place, value, value, lambda _: place)
