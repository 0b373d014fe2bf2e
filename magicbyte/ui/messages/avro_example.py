"""Example data of Avro schemas, as Avro JSON: one item in each array and map, the first branch that is not null."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson

from compat.schema import Dependencies, SchemaText
from magicbyte.ui.messages.request import Target
from serdes.codec.schema import Node, parse

#: The deepest nesting, and the most values; both end the example of a recursive type.
_DEEPEST = 12
_MOST_VALUES = 20_000
_PLAIN: dict[str, Any] = {
    "null": None, "boolean": True, "int": 1, "long": 1, "float": 1.5, "double": 1.5, "bytes": "", "string": "text",
}  # fmt: skip
#: Logical type -> the example as a text that people read, and as it is stored.
_LOGICAL: dict[str, tuple[Any, Any]] = {
    "date": ("2024-02-29", 19_782),
    "time-millis": ("12:30:00.000", 45_000_000),
    "time-micros": ("12:30:00.000000", 45_000_000_000),
    "timestamp-millis": ("2024-02-29T12:30:00.000Z", 1_709_209_800_000),
    "timestamp-micros": ("2024-02-29T12:30:00.000000Z", 1_709_209_800_000_000),
    "local-timestamp-millis": ("2024-02-29T12:30:00.000", 1_709_209_800_000),
    "local-timestamp-micros": ("2024-02-29T12:30:00.000000", 1_709_209_800_000_000),
    "uuid": ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
}


class _Endless(LookupError):
    """The type has no finite datum within the limits."""


def candidates(schema: SchemaText, dependencies: Dependencies, request: Target, unions: str) -> Iterator[str]:
    """Texts that the schema is likely to accept, the fullest first."""
    node = parse(schema.text, [dependency.text for dependency in dependencies])
    for is_full in (True, False):
        maker = _Maker(is_tagged=unions == "tagged", is_logical=request.logical, is_full=is_full)
        try:
            yield orjson.dumps(maker.value(node, ())).decode()
        except _Endless:
            continue


class _Maker:
    """Makes one datum; with `is_full` its optional parts are present."""

    def __init__(self, *, is_tagged: bool, is_logical: bool, is_full: bool) -> None:
        self._is_tagged = is_tagged
        self._is_logical = is_logical
        self._is_full = is_full
        self._left = _MOST_VALUES
        self._of_kind: dict[str, Callable[[Node, tuple[Node, ...]], Any]] = {
            "record": self._record,
            "array": self._items,
            "map": self._map,
            "union": self._branch,
            "enum": lambda node, _: node.symbols[0],
            "fixed": lambda node, _: "\0" * node.size,
        }

    def value(self, node: Node, above: tuple[Node, ...]) -> Any:
        """A value of a type below others; raises _Endless if there is none within the limits."""
        self._left -= 1
        if len(above) > _DEEPEST or self._left < 0 or (node.kind == "record" and node in above):
            raise _Endless
        if node.logical:
            return self._logical(node)
        return self._of_kind.get(node.kind, self._primitive)(node, (*above, node))

    def _primitive(self, node: Node, _below: tuple[Node, ...]) -> Any:
        return _PLAIN[node.kind]

    def _record(self, node: Node, below: tuple[Node, ...]) -> dict[str, Any]:
        return {field.name: self.value(field.node, below) for field in node.fields}

    def _map(self, node: Node, below: tuple[Node, ...]) -> dict[str, Any]:
        return dict(zip(("key",), self._items(node, below), strict=False))

    def _logical(self, node: Node) -> Any:
        if node.logical == "decimal":
            if self._is_logical:
                return f"0.{'0' * node.scale}" if node.scale else "0"
            return "\0" * (node.size if node.kind == "fixed" else 1)
        return _LOGICAL[str(node.logical)][0 if self._is_logical else 1]

    def _items(self, node: Node, below: tuple[Node, ...]) -> list[Any]:
        if not self._is_full:
            return []
        try:
            return [self.value(node.item, below)]
        except _Endless:
            return []

    def _branch(self, node: Node, below: tuple[Node, ...]) -> Any:
        branches = sorted(node.branches, key=lambda branch: (branch.kind == "null") == self._is_full)
        for branch in branches:
            try:
                value = self.value(branch, below)
            except _Endless:
                continue
            return {branch.branch: value} if self._is_tagged and branch.kind != "null" else value
        raise _Endless
