"""The places of a JSON Schema: a field with the schemas that apply to it, and what is below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from compat.contracts.tags import NO_TAGS, TagPatterns
from compat.contracts.walk.json_nodes import BACKTRACKS, Flat, Node, Schemas
from compat.contracts.walk.leaf import Leaf
from compat.json_schema.validate.validators import Validator, compiled

_SCALARS = {"null": "NULL", "boolean": "BOOLEAN", "integer": "INT", "number": "DOUBLE", "string": "STRING"}
_TYPE_NAMES = ((str, "STRING"), (type(None), "NULL"), (bool, "BOOLEAN"))
#: The name of the outermost value, which is no field.
ROOT = "$"


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """A value's place in messages.

    Attributes:
        full_name: The full name of the field that holds it, such as `$.lines.no`; arrays and maps add nothing.
        name: The name of that field.
        tags: The tags of that field so far; those in the schemas that apply to the value come on top.
        nodes: The schemas of the value.
    """

    full_name: str
    name: str
    tags: frozenset[str]
    nodes: tuple[Node, ...]

    @property
    def key(self) -> tuple[str, frozenset[str], tuple[int, ...]]:
        """The identity of the place."""
        return self.full_name, self.tags, tuple(map(id, self.nodes))


class Shape:
    """The shape of a value at a place, once its choices are made.

    Args:
        place: The place.
        flat: The schemas that apply.
        schemas: All schemas.
        patterns: The tags of the metadata.
    """

    def __init__(self, place: ValuePlace, flat: Flat, schemas: Schemas, patterns: TagPatterns) -> None:
        self.place = place
        self.flat = flat
        self.tags = place.tags | flat.tags
        self._schemas = schemas
        self._patterns = patterns
        #: Whether the value is in a field: an outermost value is in none, unless it has tags itself.
        self.is_field = place.full_name != ROOT or bool(self.tags)

    @cached_property
    def properties(self) -> dict[str, ValuePlace]:
        """The declared properties, in the order of the schemas."""
        nodes: dict[str, list[Node]] = {}
        for node in self.flat.nodes:
            declared = node.get("properties")
            if isinstance(declared, dict):
                for name in declared:
                    nodes.setdefault(name, []).append(self._schemas.child(node, "properties", name))
        places = {}
        for name, members in nodes.items():
            full_name = f"{self.place.full_name}.{name}"
            members += [member for node in self.flat.nodes for member in self._by_pattern(node, name)]
            places[name] = ValuePlace(full_name, name, self._patterns.of(full_name), tuple(members))
        return places

    @cached_property
    def has_entries(self) -> bool:
        """Whether the schemas say something of properties that they do not name."""
        return any(
            isinstance(node.get(keyword), dict)
            for node in self.flat.nodes
            for keyword in ("patternProperties", "additionalProperties", "unevaluatedProperties")
        )

    def entry(self, key: str) -> ValuePlace | None:
        """The place of a property that the schemas do not name; None if they say nothing of it."""
        members: list[Node] = []
        for node in self.flat.nodes:
            matching = list(self._by_pattern(node, key))
            members += matching
            if not matching:
                members += self._rest(node)
        return self._entry(tuple(members))

    def entries(self) -> Iterator[ValuePlace]:
        """The places of all such properties."""
        for node in self.flat.nodes:
            patterns = node.get("patternProperties")
            names = patterns if isinstance(patterns, dict) else ()
            for member in (
                *(self._schemas.child(node, "patternProperties", name) for name in names),
                *self._rest(node),
            ):
                place = self._entry((member,))
                if place is not None:
                    yield place

    def _entry(self, members: tuple[Node, ...]) -> ValuePlace | None:
        """A map's value has the tags of the field that holds the map; a record's has none of them."""
        if not members:
            return None
        return ValuePlace(self.place.full_name, self.place.name, NO_TAGS if self.flat.is_record else self.tags, members)

    def _by_pattern(self, node: Node, key: str) -> Iterator[Node]:
        patterns = node.get("patternProperties")
        if isinstance(patterns, dict):
            for pattern in patterns:
                if _searches(pattern, key):
                    yield self._schemas.child(node, "patternProperties", pattern)

    def _rest(self, node: Node) -> list[Node]:
        keywords = ("additionalProperties", "unevaluatedProperties")
        return [self._schemas.child(node, keyword) for keyword in keywords if isinstance(node.get(keyword), dict)]

    def item(self, index: int) -> ValuePlace | None:
        """The place of an array's item; None if the schemas say nothing of it."""
        members = tuple(self._items(index))
        return ValuePlace(self.place.full_name, self.place.name, self.tags, members) if members else None

    def items(self) -> Iterator[ValuePlace]:
        """The places of all items: those of a tuple, and one for the others."""
        for index in range(self.tuple_length + 1):
            place = self.item(index)
            if place is not None:
                yield place

    @cached_property
    def tuple_length(self) -> int:
        """The number of items that have a schema of their own."""
        return max((len(_tuple(node)) for node in self.flat.nodes), default=0)

    def _items(self, index: int) -> Iterator[Node]:
        for node in self.flat.nodes:
            dialect = node.resource.dialect
            length = len(_tuple(node))
            rest = dialect.rest_keyword if length else "items"
            if index < length:
                yield self._schemas.child(node, dialect.tuple_keyword, index)
            elif isinstance(node.get(rest), dict):
                yield self._schemas.child(node, rest)
            if isinstance(node.get("unevaluatedItems"), dict):
                yield self._schemas.child(node, "unevaluatedItems")

    def leaf(self, type_name: str) -> Leaf:
        """The leaf of a value without parts."""
        return Leaf(self.place.full_name, self.place.name, type_name, self.tags)

    def leaves(self) -> Iterator[Leaf]:
        """The leaves that a value may be."""
        if not self.is_field:
            return
        if self.flat.is_enum:
            yield self.leaf("ENUM")
            return
        for name, type_name in _SCALARS.items():
            if name in self.flat.types:
                yield self.leaf(type_name)

    def type_name(self, value: Any) -> str:
        """The type of a value without parts."""
        if self.flat.is_enum:
            return "ENUM"
        types = self.flat.types
        if isinstance(value, int | float) and not isinstance(value, bool):
            is_declared = len(types & {"integer", "number"}) == 1
            is_integer = "integer" in types if is_declared else isinstance(value, int)
            return "INT" if is_integer else "DOUBLE"
        for python_type, type_name in _TYPE_NAMES:
            if isinstance(value, python_type):
                return type_name
        # A value that is no JSON, such as a datetime: the encoder writes it as its type.
        return next((_SCALARS[name] for name in ("string", "integer", "number", "boolean") if name in types), "STRING")

    @property
    def declared_type(self) -> str:
        """The type of the field as a schema declares it."""
        if self.flat.choices:
            return "COMBINED"
        if self.flat.is_enum:
            return "ENUM"
        if self.flat.is_record:
            return "RECORD"
        named = self.flat.types - {"null"} or self.flat.types
        if len(named) > 1:
            return "COMBINED"
        name = next(iter(named), "null")
        return {"object": "MAP", "array": "ARRAY"}.get(name) or _SCALARS.get(name, "COMBINED")


def _tuple(node: Node) -> list[Any]:
    """The schemas of an array's first items."""
    members = node.get(node.resource.dialect.tuple_keyword)
    return members if isinstance(members, list) else []


@lru_cache(maxsize=1000)
def _pattern(pattern: str) -> Validator | None:
    try:
        return compiled({"pattern": pattern}, backtracks=BACKTRACKS)
    except ValueError:
        return None


def _searches(pattern: str, key: str) -> bool:
    """Whether a pattern of `patternProperties` matches a key; one that the library lacks matches every key."""
    judge = _pattern(pattern)
    try:
        return judge is None or judge.is_valid(key)
    except ValueError:
        return True
