"""Example data of Avro schemas, as Avro JSON: one item in each array and map, the first branch that is not null."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson

from compat.schema import Dependencies, SchemaText
from magicbyte.ui.messages.limits import ExampleTooLarge, Room
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
    """Texts that the schema is likely to accept, the fullest first.

    Raises:
        ExampleTooLarge: Even the one with only the required parts exceeds a limit.
    """
    node = parse(schema.text, [dependency.text for dependency in dependencies])
    for is_full in (True, False):
        maker = _DatumMaker(is_tagged=unions == "tagged", is_logical=request.logical, is_full=is_full)
        try:
            yield orjson.dumps(maker.value(node, ())).decode()
        except _Endless:
            continue
        except ExampleTooLarge:
            if not is_full:
                raise


class _DatumMaker:
    """Makes one datum; with `is_full` its optional parts are present."""

    def __init__(self, *, is_tagged: bool, is_logical: bool, is_full: bool) -> None:
        self._is_tagged = is_tagged
        self._is_logical = is_logical
        self._is_full = is_full
        self._room = Room(_MOST_VALUES)
        self._of_kind: dict[str, Callable[[Node, tuple[Node, ...]], Any]] = {
            "record": self._record,
            "array": self._items,
            "map": self._map,
            "union": self._branch,
            "enum": lambda node, _: self._text(node.symbols[0]),
            "fixed": lambda node, _: self._repeated("\0", node.size),
        }

    def value(self, node: Node, above: tuple[Node, ...]) -> Any:
        """A value of a type below others.

        Raises:
            _Endless: The type has none that is finite and not too deep.
            ExampleTooLarge: The value has too many parts or characters.
        """
        if len(above) > _DEEPEST or (node.kind == "record" and node in above):
            raise _Endless
        self._room.take()
        if node.logical:
            return self._logical(node)
        return self._of_kind.get(node.kind, self._primitive)(node, (*above, node))

    def _primitive(self, node: Node, _below: tuple[Node, ...]) -> Any:
        return _PLAIN[node.kind]

    def _text(self, text: str) -> str:
        self._room.take(len(text))
        return text

    def _repeated(self, character: str, count: int) -> str:
        self._room.take(count)
        return character * count

    def _record(self, node: Node, below: tuple[Node, ...]) -> dict[str, Any]:
        # A long name may be repeated in thousands of records.
        return {self._text(field.name): self.value(field.node, below) for field in node.fields}

    def _map(self, node: Node, below: tuple[Node, ...]) -> dict[str, Any]:
        return dict(zip(("key",), self._items(node, below), strict=False))

    def _logical(self, node: Node) -> Any:
        if node.logical == "decimal":
            if self._is_logical:
                return f"0.{self._repeated('0', node.scale)}" if node.scale else "0"
            return self._repeated("\0", node.size if node.kind == "fixed" else 1)
        return _LOGICAL[str(node.logical)][0 if self._is_logical else 1]

    def _items(self, node: Node, below: tuple[Node, ...]) -> list[Any]:
        if not self._is_full:
            return []
        try:
            return [self.value(node.item, below)]
        except (_Endless, ExampleTooLarge):
            return []

    def _branch(self, node: Node, below: tuple[Node, ...]) -> Any:
        branches = sorted(node.branches, key=lambda branch: (branch.kind == "null") == self._is_full)
        failure: Exception = _Endless()
        for branch in branches:
            try:
                value = self.value(branch, below)
            except _Endless:
                continue
            except ExampleTooLarge as error:
                failure = error
                continue
            if self._is_tagged and branch.kind != "null":
                return {self._text(str(branch.branch)): value}
            return value
        raise failure
