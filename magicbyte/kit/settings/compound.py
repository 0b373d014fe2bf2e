"""The kinds of settings that hold other kinds: lists, mappings and alternatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from magicbyte.kit.settings.kinds import Kind, Reading, Scalar, join_path, text
from magicbyte.kit.settings.nodes import BROKEN, UNRESOLVED, ListNode, MapNode, Node, ScalarNode, value_node
from magicbyte.kit.settings.place import did_you_mean


class ListOf(Kind):
    """A list, as a tuple; with `or_one`, a single value means a list with this value."""

    item: Kind
    least: int = 0
    or_one: bool = False

    @property
    def words(self) -> str:
        return f"{self.item.words}, or a list" if self.or_one else f"a list, each {self.item.words}"

    def takes(self, node: Node) -> bool:
        return isinstance(node, ListNode) or (self.or_one and self.item.takes(node))

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        if not self.takes(node):
            return self.wrong(node, reading, path)
        if not isinstance(node, ListNode):
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

    def inner(self) -> Iterator[tuple[Kind, str]]:
        yield self.item, "[]"

    def written(self, value: Any) -> Any:
        return [self.item.written(item) for item in value]


class MapOf(Kind):
    """A mapping with keys that the user chooses, such as field paths; `key` reads them, and `special` some values."""

    item: Kind
    key: Kind | None = None
    least: int = 0
    special: Mapping[str, Kind] = {}

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
                key = self.key.read(value_node(name, entry.key), reading, path)
            values[key] = self.special.get(name, self.item).read(entry.node, reading, f"{path}.{name}")
        return BROKEN if BROKEN in values or BROKEN in values.values() else values

    def json_schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.item.json_schema()}

    def inner(self) -> Iterator[tuple[Kind, str]]:
        yield self.item, ".NAME"

    def written(self, value: Any) -> Any:
        return {str(key): self.item.written(item) for key, item in value.items()}


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
        is_unresolved = False
        for kind in kinds:
            attempt = Reading()
            value = kind.read(node, attempt, path)
            if value is UNRESOLVED:
                # Another kind may take the text as it is.
                is_unresolved = True
            elif not attempt.findings:
                reading.unresolved += attempt.unresolved
                return value
        if is_unresolved:
            reading.unresolved += 1
            return UNRESOLVED
        return self.wrong(node, reading, path)

    def json_schema(self) -> dict[str, Any]:
        return {"anyOf": [kind.json_schema() for kind in self.kinds]}

    def inner(self) -> Iterator[tuple[Kind, str]]:
        yield from ((kind, "") for kind in self.kinds)


class OneKey(Kind):
    """A mapping with exactly one of several keys; the key says what the value is: `files: {..}` or `kafka: {..}`.

    Attributes:
        kinds: The kinds of the values, by key.
        synonyms: Other programs' names of the keys, for messages; see `did_you_mean`.
    """

    kinds: Mapping[str, Kind]
    synonyms: Mapping[str, str] = {}

    @property
    def words(self) -> str:
        return f"one of {', '.join(self.kinds)}, with its settings"

    def takes(self, node: Node) -> bool:
        return isinstance(node, MapNode) and any(key in self.kinds for key in node.entries)

    def read(self, node: Node, reading: Reading, path: str) -> Any:
        if not isinstance(node, MapNode):
            return self.wrong(node, reading, path)
        unknown = [key for key in node.entries if key not in self.kinds]
        for key in unknown:
            problem = f"{reading.unknown}{did_you_mean(key, self.kinds, self.synonyms)}"
            reading.report(node.entries[key].key, join_path(path, key), problem)
        chosen = [key for key in node.entries if key in self.kinds]
        values = [self.kinds[key].read(node.entries[key].node, reading, join_path(path, key)) for key in chosen]
        if len(chosen) > 1:
            second = node.entries[chosen[1]].key
            return reading.report(second, join_path(path, chosen[1]), f"stands beside {chosen[0]}; give one of them")
        if not chosen and not unknown:
            return reading.report(node.place, path, f"must be {self.words}")
        return BROKEN if unknown or not chosen else values[0]

    def json_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {name: kind.json_schema() for name, kind in self.kinds.items()},
            "additionalProperties": False,
            "minProperties": 1,
            "maxProperties": 1,
        }

    def inner(self) -> Iterator[tuple[Kind, str]]:
        yield from ((kind, f".{name}") for name, kind in self.kinds.items())


def either(*kinds: Kind) -> Either:
    """One of several kinds; see `Either`."""
    return Either(kinds)


def properties(special: Mapping[str, Kind] | None = None) -> MapOf:
    """Properties of another program under its own names, such as Kafka client properties.

    Args:
        special: What some of them take, by name.
    """
    boolean = Scalar("true or false", {"type": "boolean"}, lambda value: str(value).lower(), (bool,))
    return MapOf(either(text(), boolean), special=special or {})
