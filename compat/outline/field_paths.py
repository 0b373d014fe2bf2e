"""Paths of nodes by the names of fields, for people: `address.min`, `lines[].sku`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from compat.outline_tree import OutlineNode

#: The kinds of nodes whose names are parts of a path wherever they are.
_MEMBERS = frozenset(("field", "property", "symbol", "value", "constant", "method", "oneof", "extend"))
_LIST = re.compile(r"(array|repeated|list)\b")


def parents(root: OutlineNode) -> dict[int, OutlineNode]:
    """The parent of each node below a root, by the node's id."""
    return {id(child): node for node in root.walk() for child in node.children}


def field_path(node: OutlineNode, parent_of: Mapping[int, OutlineNode]) -> str:
    """The names of the fields around a node and its own, separated by dots; a list's name ends with `[]`.

    A type counts only where no field is around it, such as a message of a file. So a named type inside a field has its
    own name alone, an unnamed one the path of the field, and the root has none.

    Args:
        node: The node.
        parent_of: The parent of each node of the outline.
    """
    around: list[str] = []
    outer = parent_of.get(id(node))
    while outer is not None:
        if outer.kind in _MEMBERS and outer.name:
            around.append(f"{outer.name}[]" if _LIST.match(outer.type) else outer.name)
        elif outer.name and id(outer) in parent_of and not _has_field_around(outer, parent_of):
            around.append(outer.name)
        outer = parent_of.get(id(outer))
    if node.kind not in _MEMBERS and _has_field_around(node, parent_of):
        # The name of a JSON Schema's part is its keyword, such as `items`.
        return ".".join(reversed(around)) if node.kind == "schema" or not node.name else node.name
    own = [node.name] if node.name and id(node) in parent_of else []
    return ".".join([*reversed(around), *own])


def _has_field_around(node: OutlineNode, parent_of: Mapping[int, OutlineNode]) -> bool:
    outer = parent_of.get(id(node))
    while outer is not None and outer.kind not in _MEMBERS:
        outer = parent_of.get(id(outer))
    return outer is not None
