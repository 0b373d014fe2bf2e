"""How few bytes a value of a schema can take: what bounds the items that a buffer can hold."""

from __future__ import annotations

from serdes.codec.schema import Node

#: How many array items that take no bytes one datum may hold in all: nothing in a buffer bounds their number.
ZERO_BYTE_ITEMS = 1 << 16

_LEAST = {"null": 0, "float": 4, "double": 8}


def least_size(node: Node, known: dict[int, int] | None = None) -> int:
    """The least bytes that a value of the node takes; a record inside itself counts as none."""
    if node.kind == "fixed":
        return node.size
    if node.kind != "record":
        return _LEAST.get(node.kind, 1)
    known = {} if known is None else known
    if id(node) not in known:
        known[id(node)] = 0
        known[id(node)] = sum(least_size(field.node, known) for field in node.fields)
    return known[id(node)]
