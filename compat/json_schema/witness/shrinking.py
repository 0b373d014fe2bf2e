"""Shrinks instances that break, and lists the instances of schemas that have few."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from compat.budget import TooMuchWork
from compat.json import json_text
from compat.json_schema.model import nodes as model
from compat.json_schema.model.nodes import Node, follow

#: A schema with more values does not count as finite.
_MOST_VALUES = 200
#: Texts of at least this length are also tried shorter.
_SHORT = 2


def shrink(instance: Any, breaks: Callable[[Any], bool]) -> Any:
    """An instance that breaks and that no longer breaks without any one of its members or elements.

    Args:
        instance: An instance that breaks.
        breaks: Whether an instance breaks; it may raise TooMuchWork, which ends the search.
    """
    smallest = instance
    try:
        while (smaller := next((value for value in _smaller(smallest) if breaks(value)), _NOTHING)) is not _NOTHING:
            smallest = smaller
    except TooMuchWork:
        pass
    return smallest


_NOTHING = object()


def _smaller(value: Any) -> Iterator[Any]:
    """The value without one part, the outer parts first; then with one part made smaller."""
    if isinstance(value, dict):
        yield from ({key: member for key, member in value.items() if key != name} for name in value)
        for name, member in value.items():
            yield from ({**value, name: smaller} for smaller in _smaller(member))
    elif isinstance(value, list):
        yield from ([*value[:index], *value[index + 1 :]] for index in range(len(value)))
        for index, element in enumerate(value):
            yield from ([*value[:index], smaller, *value[index + 1 :]] for smaller in _smaller(element))
    elif isinstance(value, str) and len(value) >= _SHORT:
        yield value[: len(value) // 2]
        yield value[:-1]


def finite_values(node: Node) -> list[Any] | None:
    """All instances that a schema may accept; None if there may be many."""
    node = follow(node)
    if isinstance(node, model.Enum):
        is_short = len(node.values) <= _MOST_VALUES
        return [json_text.loads(value, decimals=True) for value in node.values] if is_short else None
    if isinstance(node, model.Const):
        return [json_text.loads(node.value, decimals=True)]
    if isinstance(node, model.Boolean):
        return [False, True]
    if isinstance(node, model.Null):
        return [None]
    if isinstance(node, model.Never):
        return []
    return None
