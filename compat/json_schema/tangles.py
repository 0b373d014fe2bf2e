"""Schemas that validators take too long for: one value has to be tried against very many alternatives."""

from __future__ import annotations

from functools import lru_cache

from compat.json_schema import model
from compat.json_schema.model import Node, follow

#: Alternatives that validators may have to try for one value.
_MOST_ALTERNATIVES = 10_000


@lru_cache(maxsize=4)
def is_tangled(root: Node) -> bool:
    """Whether one value may have to be tried against very many alternatives, or endlessly many.

    Validators then take too long. Counted are schemas that apply to the same value: members and what is negated.
    """
    costs: dict[int, int] = {}
    stack: list[tuple[Node, bool]] = [(node, False) for node in _schemas(root)]
    while stack:
        node, is_counted = stack.pop()
        parts = [follow(part) for part in _same_value(node)]
        if is_counted:
            costs[id(node)] = 1 + sum(costs[id(part)] for part in parts)
        elif id(node) not in costs:
            costs[id(node)] = _MOST_ALTERNATIVES  # for what refers back to it on the way
            stack.append((node, True))
            stack.extend((part, False) for part in parts if id(part) not in costs)
    return any(cost >= _MOST_ALTERNATIVES for cost in costs.values())


def _same_value(node: Node) -> tuple[Node, ...]:
    if isinstance(node, model.Combined):
        return node.members
    return (node.body,) if isinstance(node, model.Not) else ()


def _schemas(root: Node) -> list[Node]:
    """All combined schemas within reach."""
    seen: dict[int, Node] = {}
    todo = [root]
    while todo:
        node = follow(todo.pop())
        if id(node) not in seen:
            seen[id(node)] = node
            todo.extend(_same_value(node))
            if isinstance(node, model.Object):
                beside = (node.additional, node.unevaluated, *(schema for _, schema in node.patterns))
                todo.extend((*node.properties.values(), *node.dependent_schemas.values()))
                todo.extend(schema for schema in beside if isinstance(schema, Node))
            elif isinstance(node, model.Array):
                beside = (node.additional, node.unevaluated, node.all_items, *node.items)
                todo.extend(schema for schema in beside if isinstance(schema, Node))
    return list(seen.values())
