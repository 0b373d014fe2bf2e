"""The constraints of a JSON Schema on a value, with its references and the members of `allOf` merged into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from magicbyte.generate.json_schema.documents import Documents, SchemaLocation

_KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")
#: The keywords that say that a value is an object or an array, if there is no `type`.
_OF_OBJECTS = frozenset(
    {"properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"}
)
_OF_ARRAYS = frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"})
_OF_TEXTS = frozenset({"minLength", "maxLength", "pattern"})
_OF_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
#: The keywords whose schemas hold for some objects only: their properties are optional.
_SOMETIMES = ("then", "else")


@dataclass(slots=True)
class Shape:
    """The constraints of a schema and of those merged into it.

    Attributes:
        places: The merged schemas, the outermost first.
        kinds: The types that a value may have; None for any.
        values: The values of `enum` or `const`; None without them.
        properties: The schemas of each property: all of them hold.
        required: The names of the required properties.
        rest: The schemas of properties without a name, if one is given.
        has_rest: Whether `additionalProperties` or `patternProperties` allow other properties in so many words.
        items: The schemas of an array's items.
        alternatives: The members of each `oneOf` and `anyOf`.
    """

    places: list[SchemaLocation] = field(default_factory=list)
    kinds: frozenset[str] | None = None
    values: list[Any] | None = None
    properties: dict[str, list[SchemaLocation]] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    rest: list[SchemaLocation] = field(default_factory=list)
    has_rest: bool = False
    items: list[SchemaLocation] = field(default_factory=list)
    alternatives: list[list[SchemaLocation]] = field(default_factory=list)

    @property
    def is_object(self) -> bool:
        """Whether a value may be an object, and the schema says something about its properties."""
        return bool(self.properties or self.required) and (self.kinds is None or "object" in self.kinds)

    def keyword(self, name: str) -> Any:
        """The value of a keyword in the first schema that has it; None if none has."""
        return next((place.keywords[name] for place in self.places if name in place.keywords), None)


def shape_of(documents: Documents, *places: SchemaLocation) -> Shape:
    """The shape of a value for which some schemas hold at once."""
    shape = Shape()
    seen: set[tuple[str, Any]] = set()
    for place in places:
        _merge(documents, place, shape, seen)
    return shape


def _merge(documents: Documents, first: SchemaLocation, shape: Shape, seen: set[tuple[str, Any]]) -> None:
    # Chains of references and nested allOf may be long.
    todo = [first]
    while todo:
        place = todo.pop()
        if place.key in seen:
            continue
        seen.add(place.key)
        reference = place.keywords.get("$ref")
        target = documents.target(place, reference) if isinstance(reference, str) else None
        if target is None or place.resource.dialect.modern:
            _add(documents, place, shape)
        else:
            shape.places.append(place)
        todo += reversed([*([target] if target else []), *documents.members(place, "allOf")])


def _add(documents: Documents, place: SchemaLocation, shape: Shape) -> None:
    keywords = place.keywords
    shape.places.append(place)
    kinds = _kinds(place)
    if kinds is not None:
        shape.kinds = kinds if shape.kinds is None else shape.kinds & kinds or kinds
    values = [keywords["const"]] if "const" in keywords else keywords.get("enum")
    if isinstance(values, list):
        shape.values = values if shape.values is None else [value for value in shape.values if value in values]
    for name, inner in documents.named(place, "properties"):
        shape.properties.setdefault(name, []).append(inner)
    required = keywords.get("required")
    shape.required.update(
        dict.fromkeys(name for name in (required if isinstance(required, list) else ()) if isinstance(name, str))
    )
    for keyword in _SOMETIMES:
        if isinstance(keywords.get(keyword), dict):
            for name, inner in documents.named(documents.inside(place, keyword), "properties"):
                shape.properties.setdefault(name, []).append(inner)
    _add_rest(documents, place, shape)
    shape.items += _items(documents, place)
    shape.alternatives += [
        members for keyword in ("oneOf", "anyOf") if (members := list(documents.members(place, keyword)))
    ]


def _add_rest(documents: Documents, place: SchemaLocation, shape: Shape) -> None:
    additional = place.keywords.get("additionalProperties")
    if isinstance(additional, dict):
        shape.rest.append(documents.inside(place, "additionalProperties"))
    patterns = [inner for _, inner in documents.named(place, "patternProperties")]
    shape.rest += patterns
    shape.has_rest = shape.has_rest or additional is True or isinstance(additional, dict) or bool(patterns)


def _items(documents: Documents, place: SchemaLocation) -> Iterator[SchemaLocation]:
    for keyword in ("prefixItems", "items"):
        yield from documents.members(place, keyword)
    for keyword in ("items", "additionalItems"):
        if isinstance(place.keywords.get(keyword), dict):
            yield documents.inside(place, keyword)


def _kinds(place: SchemaLocation) -> frozenset[str] | None:
    given = place.keywords.get("type")
    listed = given if isinstance(given, list) else [given]
    kinds = frozenset(kind for kind in listed if isinstance(kind, str) and kind in _KINDS)
    if kinds:
        return kinds
    keywords = place.keywords.keys()
    if not _OF_OBJECTS.isdisjoint(keywords):
        return frozenset({"object"})
    if not _OF_ARRAYS.isdisjoint(keywords):
        return frozenset({"array"})
    if not _OF_TEXTS.isdisjoint(keywords):
        return frozenset({"string"})
    return None if _OF_NUMBERS.isdisjoint(keywords) else frozenset({"number"})
