"""Anonymous texts of Avro schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compat.avro import AvroSchema
from compat.avro.nodes import COMPLEX_TYPES, PRIMITIVE_TYPES, Array, Enum, Fixed, Map, Node, Primitive, Record, Union
from compat.json import json_text
from magicbyte.operations.anonymize.tokens import Tokens

_TYPES = PRIMITIVE_TYPES | COMPLEX_TYPES | {"error"}
_LOGICAL_TYPES = frozenset(
    (
        "big-decimal",
        "date",
        "decimal",
        "duration",
        "local-timestamp-micros",
        "local-timestamp-millis",
        "local-timestamp-nanos",
        "time-micros",
        "time-millis",
        "timestamp-micros",
        "timestamp-millis",
        "timestamp-nanos",
        "uuid",
    )
)
#: Attributes whose names and values stay.
_KEPT = frozenset({"avro.java.string", "order", "precision", "scale", "size"})
#: Attributes whose names stay; their values are replaced as JSON values.
_NAMED = frozenset({"confluent:tags", "doc", "logicalType", "symbols"})
_FLOATS = ("float", "double")
#: What a float's default may be as a text.
_NUMBERS_AS_TEXT = ("NaN", "INF", "-INF", "Infinity", "-Infinity")


def anonymous_avro(schema: AvroSchema, tokens: Tokens) -> str:
    """The text of a schema with names, docs, defaults, symbols and other attributes replaced.

    Names of types are replaced part by part, so that a name means the same type with and without its namespace, in
    every schema.
    """
    return json_text.dumps(_Walk(tokens).type(json_text.loads(schema.source, comments=True), schema.root))


class _Walk:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def type(self, value: Any, node: Node | None) -> Any:
        """A type as it is written, and its node; None if they do not fit each other."""
        if isinstance(value, str):
            return value if value in _TYPES else self._tokens.dotted(value)
        if isinstance(value, list):
            branches = node.branches if isinstance(node, Union) and len(node.branches) == len(value) else None
            return [self.type(one, branches[index] if branches else None) for index, one in enumerate(value)]
        if not isinstance(value, dict):
            return value
        return dict(self._attribute(name, part, value, node) for name, part in value.items())

    def _attribute(self, name: str, value: Any, around: Mapping[str, Any], node: Node | None) -> tuple[str, Any]:
        inner = self._inner(name, around, node)
        if inner is not None:
            return name, self.type(value, inner[0])
        if name == "fields" and isinstance(value, list):
            return name, self._fields(value, node)
        if name in ("name", "namespace") and isinstance(value, str):
            return name, self._tokens.dotted(value)
        if name == "aliases" and isinstance(value, list):
            return name, [self._tokens.dotted(one) if isinstance(one, str) else one for one in value]
        return self._property(name, value, node)

    @staticmethod
    def _inner(name: str, around: Mapping[str, Any], node: Node | None) -> tuple[Node | None] | None:
        """The node of an attribute that is a type, if it is known; None for another attribute."""
        if name == "type":
            return (node,)
        if name == "items" and around.get("type") == "array":
            return (node.items if isinstance(node, Array) else None,)
        if name == "values" and around.get("type") == "map":
            return (node.values if isinstance(node, Map) else None,)
        return None

    def _fields(self, fields: list[Any], node: Node | None) -> list[Any]:
        members = node.fields if isinstance(node, Record) and len(node.fields) == len(fields) else None
        return [self._field(one, members[index].type if members else None) for index, one in enumerate(fields)]

    def _field(self, field: Any, node: Node | None) -> Any:
        if not isinstance(field, dict):
            return field
        return dict(
            (name, self._default(value, node)) if name == "default" else self._attribute(name, value, field, node)
            for name, value in field.items()
        )

    def _property(self, name: str, value: Any, node: Node | None) -> tuple[str, Any]:
        if name in _KEPT or (name == "logicalType" and value in _LOGICAL_TYPES):
            return name, value
        stays = name in _NAMED or (name == "default" and isinstance(node, Enum))
        kept = name if stays else self._tokens.of(name)
        return kept, self._tokens.value(value)

    def _default(self, value: Any, node: Node | None) -> Any:
        """A default that is valid for a type."""
        while isinstance(node, Union):
            node = next((one for one in node.branches if _fits(value, one)), None)
        if isinstance(node, Array) and isinstance(value, list):
            return [self._default(one, node.items) for one in value]
        if isinstance(node, Map | Record) and isinstance(value, dict):
            return {self._tokens.of(key): self._default(part, _member(node, key)) for key, part in value.items()}
        if isinstance(node, Fixed) and isinstance(value, str):
            return self._tokens.sized(value, node.size)
        is_number = isinstance(node, Primitive) and node.type in _FLOATS and value in _NUMBERS_AS_TEXT
        return value if is_number else self._tokens.value(value)


def _member(node: Map | Record, key: str) -> Node | None:
    if isinstance(node, Map):
        return node.values
    return node.by_name[key].type if key in node.by_name else None


_JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (int, float, str),
    "double": (int, float, str),
    "bytes": (str,),
    "string": (str,),
    "array": (list,),
    "map": (dict,),
    "record": (dict,),
}


def _fits(value: Any, node: Node) -> bool:
    """Whether a default can be of a union's branch."""
    if isinstance(node, Enum):
        return value in node.symbols
    if isinstance(node, Fixed):
        return isinstance(value, str) and len(value) == node.size
    if isinstance(value, bool):
        return node.type == "boolean"
    if node.type in _FLOATS and isinstance(value, str):
        return value in _NUMBERS_AS_TEXT
    return isinstance(value, _JSON_TYPES.get(node.type, ()))
