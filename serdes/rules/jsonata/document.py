"""The JSON document that a JSONATA expression sees of an Avro or JSON datum, and the datum of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from serdes.codec.schema import Node
from serdes.rules.jsonata.traced_values import HeldBranch, HeldText, held_branch, leaf_document


def document(value: Any, node: Node | None = None, *, pairs: bool = False) -> Any:
    """The document of a datum: a copy, in which untouched values remember the ones that they stand for.

    Args:
        value: The datum.
        node: The Avro schema, which tells a union's `(branch, datum)` pairs from arrays; None for none.
        pairs: Without a schema, whether tuples of a text and a datum are such pairs.

    Raises:
        TypeError: A part has no form in JSON.
    """
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and _has_pairs(node, pairs=pairs):
        return held_branch(value[0], document(value[1], _branch(node, value[0]), pairs=pairs))
    if isinstance(value, Mapping):
        part_of = _parts(node, value)
        parts = {str(key): document(item, part_of(key), pairs=pairs) for key, item in value.items()}
        return held_branch(value.branch, parts) if isinstance(value, HeldBranch) else parts
    if isinstance(value, list | tuple):
        items = [document(item, _item(node), pairs=pairs) for item in value]
        return held_branch(value.branch, items) if isinstance(value, HeldBranch) else items
    return leaf_document(value)


def datum(result: Any) -> Any:
    """The datum of a result: what the expression did not touch is as it was; a union's pairs are pairs again.

    Raises:
        TypeError: The result has a function, or a value that data of this form cannot have.
    """
    if isinstance(result, dict):
        plain: Any = {key: datum(item) for key, item in result.items()}
    elif isinstance(result, list | range):
        plain = [datum(item) for item in result]
    elif isinstance(result, HeldText):
        plain = result.original
    elif result is None or isinstance(result, bool):
        return result
    elif isinstance(result, HeldBranch) and isinstance(result, int | float):
        plain = int(result) if isinstance(result, int) else float(result)
    elif isinstance(result, str | int | float):
        return result
    else:
        kind = type(result)
        is_function = callable(result) or kind.__module__.startswith("jsonata")
        raise TypeError(f"the result has a {'function' if is_function else f'value of type {kind.__name__}'}")
    return (result.branch, plain) if isinstance(result, HeldBranch) else plain


def _has_pairs(node: Node | None, *, pairs: bool) -> bool:
    return pairs if node is None else node.kind == "union"


def _branch(node: Node | None, name: str) -> Node | None:
    return None if node is None else next((branch for branch in node.branches if branch.branch == name), None)


def _parts(node: Node | None, value: Mapping[Any, Any]) -> Callable[[Any], Node | None]:
    """The schemas of a record's fields or of a map's values; in a union, of the branch with the most of the keys."""
    if node is not None and node.kind == "union":
        node = _container(node, value)
    if node is None:
        return lambda _: None
    if node.kind == "map":
        return lambda _: node.item
    return {field.name: field.node for field in node.fields}.get


def _container(union: Node, value: Mapping[Any, Any]) -> Node | None:
    candidates = [branch for branch in union.branches if branch.kind in ("record", "map")]
    return max(candidates, key=lambda branch: sum(field.name in value for field in branch.fields), default=None)


def _item(node: Node | None) -> Node | None:
    if node is not None and node.kind == "union":
        node = next((branch for branch in node.branches if branch.kind == "array"), None)
    return node.item if node is not None and node.kind == "array" else None
