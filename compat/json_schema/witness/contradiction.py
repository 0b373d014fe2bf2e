"""Whether the bounds of a schema contradict each other, so that no document has to be searched for."""

from __future__ import annotations

from decimal import Decimal

from compat.json_schema.model import nodes as model
from compat.json_schema.model.nodes import Node, follow

_DEEPEST = 20


def accepts_nothing(schema: Node, depth: int = 0) -> bool:
    """Whether a schema's own bounds show that it accepts no document; False if only a closer look would.

    The model gives a type to keywords that imply one, although the schema accepts other types too. So this holds only
    for schemas that were seen to refuse a value of each type.
    """
    node = follow(schema)
    if depth > _DEEPEST:
        return False
    is_contradiction = False
    match node:
        case model.Never():
            is_contradiction = True
        case model.Number():
            is_contradiction = _crossed(node.minimum, node.maximum)
        case model.String():
            is_contradiction = _crossed(node.min_length, node.max_length)
        case model.Array():
            is_contradiction = _crossed(node.min_items, node.max_items)
        case model.Object():
            required = [node.properties[name] for name in node.required if name in node.properties]
            is_contradiction = _crossed(node.min_properties, node.max_properties) or any(
                accepts_nothing(member, depth + 1) for member in required
            )
        case model.Combined():
            nothing = [accepts_nothing(member, depth + 1) for member in node.members]
            is_contradiction = any(nothing) if node.criterion == "allOf" else bool(nothing) and all(nothing)
    return is_contradiction


def _crossed(least: Decimal | None, most: Decimal | None) -> bool:
    return least is not None and most is not None and least > most
