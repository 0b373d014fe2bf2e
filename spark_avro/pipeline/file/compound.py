"""The kinds of settings that hold other kinds: lists, mappings and alternatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spark_avro.pipeline.file.kinds import BROKEN, Kind, Reading, Scalar, text
from spark_avro.pipeline.file.nodes import ListNode, MapNode, Node, ScalarNode


@dataclass(frozen=True)
class ListOf(Kind):
    """A list, as a tuple; with `or_one`, a single value means a list with this value."""

    item: Kind
    least: int = 0
    or_one: bool = False

    @property
    def words(self) -> str:
        plural = f"a list, each {self.item.words}"
        return f"{self.item.words}, or a list" if self.or_one else plural

    def takes(self, node: Node) -> bool:
        return isinstance(node, ListNode) or (self.or_one and self.item.takes(node))

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        if not isinstance(node, ListNode):
            if not self.or_one:
                return self.wrong(node, reading, path)
            value = self.item.read(node, reading, path)
            return value if value is BROKEN else (value,)
        if len(node.items) < self.least:
            return reading.report(node.place, path, f"must have at least {self.least} entries")
        values = [self.item.read(item, reading, f"{path}[{number}]") for number, item in enumerate(node.items)]
        return BROKEN if BROKEN in values else tuple(values)

    def json_schema(self) -> dict[str, Any]:
        item = self.item.json_schema()
        many = {"type": "array", "items": item} | ({"minItems": self.least} if self.least else {})
        return {"anyOf": [item, many]} if self.or_one else many


@dataclass(frozen=True)
class MapOf(Kind):
    """A mapping with keys that the user chooses, such as field paths; `key` reads them."""

    item: Kind
    key: Kind | None = None
    least: int = 0

    @property
    def words(self) -> str:
        key = "name" if self.key is None else self.key.words
        return f"a mapping from {key} to {self.item.words}"

    def takes(self, node: Node) -> bool:
        return isinstance(node, MapNode)

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        if not isinstance(node, MapNode):
            return self.wrong(node, reading, path)
        if len(node.entries) < self.least:
            return reading.report(node.place, path, "must not be empty")
        values: dict[Any, Any] = {}
        for name, entry in node.entries.items():
            key: Any = name
            if self.key is not None:
                key = self.key.read(ScalarNode(entry.key, name, name, lambda _: node.place), reading, path)
            values[key] = self.item.read(entry.node, reading, f"{path}.{name}")
        return BROKEN if BROKEN in values or BROKEN in values.values() else values

    def json_schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.item.json_schema()}


@dataclass(frozen=True)
class Either(Kind):
    """One of several kinds: the first that takes the node's shape; of several kinds of texts, the first that fits."""

    kinds: tuple[Kind, ...]

    @property
    def words(self) -> str:
        return " or ".join(kind.words for kind in self.kinds)

    def takes(self, node: Node) -> bool:
        return any(kind.takes(node) for kind in self.kinds)

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        kinds = [kind for kind in self.kinds if kind.takes(node)]
        if len(kinds) == 1 or (kinds and not isinstance(node, ScalarNode)):
            return kinds[0].read(node, reading, path)
        for kind in kinds:
            attempt = Reading()
            value = kind.read(node, attempt, path)
            if not attempt.findings:
                return value
        return self.wrong(node, reading, path)

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [kind.json_schema() for kind in self.kinds]}


def either(*kinds: Kind) -> Either:
    """One of several kinds; see `Either`."""
    return Either(kinds)


def properties() -> MapOf:
    """Properties of another program under its own names, such as Kafka client properties."""
    boolean = Scalar("true or false", lambda value: str(value).lower(), {"type": "boolean"}, (bool,))
    return MapOf(either(text(), boolean))
