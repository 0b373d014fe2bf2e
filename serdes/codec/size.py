"""The minimum size of a schema's values in bytes, which limits the number of items in a buffer."""

from __future__ import annotations

from serdes.codec.schema import Node

#: The most array items of no bytes that one datum may hold in all: the size of the buffer does not limit them.
ZERO_BYTE_ITEMS = 1 << 16

_LEAST = {"null": 0, "float": 4, "double": 8}


def least_size(node: Node, sizes: dict[int, int] | None = None) -> int:
    """The minimum number of bytes of a node's value; a record inside itself counts as 0."""
    if node.kind == "fixed":
        return node.size
    if node.kind != "record":
        return _LEAST.get(node.kind, 1)
    sizes = {} if sizes is None else sizes
    if id(node) not in sizes:
        sizes[id(node)] = 0
        sizes[id(node)] = sum(least_size(field.node, sizes) for field in node.fields)
    return sizes[id(node)]
