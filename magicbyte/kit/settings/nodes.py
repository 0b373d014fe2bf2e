"""Values with their places, as the reader of settings takes them; each format of files makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from magicbyte.kit.settings.place import NOWHERE, Place


class NoValue(Enum):
    """Stands for a value that is not known; later checks skip it."""

    #: Of a placeholder that has no value here; a lenient reading accepts it for every setting.
    UNRESOLVED = "unresolved"
    #: Of a setting with a finding.
    BROKEN = "broken"


class KeptText(str):
    """A text with placeholders that others resolve; it is UNRESOLVED for a setting that does not take it as it is."""

    __slots__ = ()


UNRESOLVED, BROKEN = NoValue.UNRESOLVED, NoValue.BROKEN


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


def value_node(value: Any, place: Place = NOWHERE) -> ScalarNode:
    """The node of a single value at a place; by default, it is in no file."""
    return ScalarNode(place, value, value, lambda _: place)
