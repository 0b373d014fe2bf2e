"""Walks as tests use them: over schemas given as JSON, with visits that mark or record what they see."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from compat.contracts.model import Metadata
from compat.contracts.walk import field_walk
from compat.contracts.walk.leaf import FieldWalk, Leaf, Visit
from compat.schema import AVRO, Dependencies, SchemaText


def walk_over(
    schema: Any, schema_type: str = AVRO, dependencies: Dependencies = (), tags: dict[str, Iterable[str]] | None = None
) -> FieldWalk:
    """The walk over a schema: JSON data, or the text of a Protobuf file."""
    text = schema if isinstance(schema, str) and schema_type == "PROTOBUF" else json.dumps(schema)
    metadata = None if tags is None else Metadata({pattern: tuple(names) for pattern, names in tags.items()})
    return field_walk(SchemaText(schema_type, text), dependencies, metadata)


def marked(value: Any) -> Any:
    """Another value of the same type; null stays."""
    if value is None:
        return None
    if isinstance(value, bool):
        return not value
    marks: dict[Any, Any] = {str: "!", bytes: b"!"}
    return value + marks.get(type(value), 1)


def selecting(tag: str, visit: Callable[[Any], Any] = marked) -> Callable[[Leaf], Visit | None]:
    """Selects the leaves with a tag."""
    return lambda leaf: (lambda value, _: visit(value)) if tag in leaf.tags else None


def changed_by(walk: FieldWalk, tag: str, message: Any) -> Any:
    """The message after a walk that marks the leaves with a tag; the same object if no leaf has it."""
    compiled = walk.compile(selecting(tag))
    return message if compiled is None else compiled(message)


def visited(walk: FieldWalk, message: Any) -> list[tuple[str, str, Any]]:
    """The full names, types and values of all leaves of a message, in the order of the visits."""
    seen: list[tuple[str, str, Any]] = []

    def select(leaf: Leaf) -> Visit:
        def visit(value: Any, _: Any) -> Any:
            seen.append((leaf.full_name, leaf.type_name, value))
            return value

        return visit

    compiled = walk.compile(select)
    assert compiled is None or compiled(message) is message
    return seen


def differences(before: Any, after: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """The differences between two values: paths with the values."""
    if isinstance(before, dict) and isinstance(after, dict):
        pairs = [(f"{path}.{key}", before.get(key), after.get(key)) for key in {**before, **after}]
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple) and len(before) == len(after):
        pairs = [(f"{path}[{index}]", *pair) for index, pair in enumerate(zip(before, after, strict=True))]
    else:
        return [] if before is after or (type(before) is type(after) and before == after) else [(path, before, after)]
    return [difference for where, old, new in pairs for difference in differences(old, new, where)]
