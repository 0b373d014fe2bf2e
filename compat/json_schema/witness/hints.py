"""The names and plain values in a part of a schema, which are likely to show a break."""

from __future__ import annotations

from typing import Any

from compat.json import json_text
from compat.schema import Pointer

#: The deepest nesting below the container of the place.
_DEEPEST = 5
#: Keywords whose values are not data.
_NOT_DATA = frozenset({"$schema", "$id", "$ref", "$comment"})


def hints_at(pointer: Pointer | None, raw: Any) -> set[str]:
    """Canonical texts of the names and plain values at and next to a place in a schema, e.g. bounds and constants."""
    if pointer is None:
        return set()
    container = raw
    for step in pointer[:-1]:
        try:
            container = container[step]
        except (LookupError, TypeError):
            break
    hints: set[str] = set()
    todo = [(container, 0)]
    while todo:
        value, depth = todo.pop()
        if isinstance(value, dict | list):
            if depth < _DEEPEST:
                members = {} if isinstance(value, list) else value
                hints.update(json_text.quote(name) for name in members if name not in _NOT_DATA)
                kept = (member for name, member in members.items() if name not in _NOT_DATA)
                children = value if isinstance(value, list) else kept
                todo.extend((child, depth + 1) for child in children)
        else:
            hints.add(json_text.dumps(value))
    return hints
