"""The position of a part of a YAML document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def position_in(node: Any, pointer: Sequence[str | int]) -> tuple[int, int] | None:
    """The line and the column, from 1, at which a part begins; None if the text itself has no such part.

    Args:
        node: The document's node, as `yaml.compose` returns it; None for an empty one. Merged mappings (`<<`) are no
            part of it.
        pointer: The names and the places in lists that lead to the part; a name is the position of a member.
    """
    place = node
    for step in pointer:
        if isinstance(step, int):
            items = node.value if node is not None and node.id == "sequence" else []
            if step >= len(items):
                return None
            place = node = items[step]
            continue
        pairs = node.value if node is not None and node.id == "mapping" else []
        found = next(((key, value) for key, value in pairs if key.value == step), None)
        if found is None:
            return None
        place, node = found
    return place.start_mark.line + 1, place.start_mark.column + 1
