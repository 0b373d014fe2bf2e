"""The outline of a JSON Schema: its properties, items, definitions and the members of its combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from compat.json.json_text import dumps, positions_in
from compat.json_schema.model.dialects import DRAFT_7, DRAFT_2019_09, DRAFT_2020_12
from compat.json_schema.model.reading import json_key
from compat.json_schema.model.resources import Resource, Resources, Unresolved
from compat.json_schema.schema import JsonSchema
from compat.outline_tree import Limits, OutlineNode, ReferencedTargets, Target
from compat.schema import ParsedSchema, Pointer

_TAGS = "confluent:tags"
#: The keywords whose value is a schema by each name, with the kind of the nodes.
_NAMED_SCHEMAS = {
    "properties": "property",
    "patternProperties": "pattern",
    "dependentSchemas": "dependent",
    "dependencies": "dependent",
    "$defs": "definition",
    "definitions": "definition",
}
#: The keywords whose value is a list of schemas; `items` is one in older drafts.
_LISTED_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
#: The keywords whose value is a schema.
_SINGLE_SCHEMAS = (
    *("items", "additionalItems", "unevaluatedItems", "contains"),
    *("additionalProperties", "unevaluatedProperties", "propertyNames", "not", "if", "then", "else"),
)
#: Keywords with the same meaning in different drafts, by the name under which their schemas are paired.
_SAME = {"$defs": "definitions", "prefixItems": "tuple"}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
#: The keywords whose content is in the other members of a node.
_SAID = frozenset({"type", "format", "enum", "const", "default", "description", _TAGS, *_REFERENCES})
_HIDDEN = "*"
#: The most characters of a child's words that the words for the schema around it repeat.
_LONGEST_HEAD = 60


def outline(schema: ParsedSchema, targets: ReferencedTargets, limits: Limits) -> OutlineNode:
    """The root of the outline of a JsonSchema; see `OutlineMaker`.

    A schema inside another one is a node, unless the words for the schema around it say all that it says: the `items`
    of `array of string` are none.
    """
    assert isinstance(schema, JsonSchema)
    return _Maker(schema, targets, limits).root()


class _Subschema(NamedTuple):
    """A schema inside another one: the keyword, the steps to it, and what its node is to be."""

    keyword: str
    steps: Pointer
    raw: Any
    kind: str
    name: str
    optional: bool | None = None


class _Part(NamedTuple):
    """A schema inside another one, and its node; `is_node` means that the node is listed as a child."""

    keyword: str
    node: OutlineNode
    is_node: bool

    @property
    def words(self) -> str:
        """The words for it in those for the schema around it."""
        return self.node.type if not self.is_node else _head(self.node.type)

    @property
    def shape(self) -> str:
        """The same for comparisons: a change of a child is no change of the schema around it."""
        return _HIDDEN if self.is_node else self.node.type


class _Maker:
    def __init__(self, schema: JsonSchema, targets: ReferencedTargets, limits: Limits) -> None:
        self._schema, self._targets, self._limits = schema, targets, limits
        self._resources = Resources(schema.raw, schema.dependencies)
        self._positions = positions_in(schema.source)

    def root(self) -> OutlineNode:
        self._limits.admit()
        return self._node(_Subschema("", (), self._schema.raw, "schema", ""), (), self._resources.root)

    def _node(self, place: _Subschema, outer: Pointer, enclosing: Resource) -> OutlineNode:
        raw, pointer = place.raw, (*outer, *place.steps)
        resource = self._resources.at(raw, enclosing)
        keywords: dict[str, Any] = raw if isinstance(raw, dict) else {}
        worded = _worded(keywords)
        nodes = [
            (inner.keyword, self._node(inner, pointer, resource)) for inner in _places(keywords) if self._limits.admit()
        ]
        parts = [_Part(keyword, node, keyword not in worded or _says_more(node)) for keyword, node in nodes]
        reference = self._reference(keywords, resource)
        if reference is None:
            parts, reference = _hoisted(parts)
        children = [part.node for part in parts if part.is_node]
        self._limits.nodes -= len(parts) - len(children)
        description = keywords.get("description")
        tags = keywords.get(_TAGS)
        return OutlineNode(
            path=_path(pointer),
            name=place.name,
            kind=place.kind,
            type=_words(raw, parts, lambda part: part.words),
            shape=_words(raw, parts, lambda part: part.shape),
            default=dumps(keywords["default"]) if "default" in keywords else None,
            doc=description if isinstance(description, str) else None,
            tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
            optional=place.optional,
            attributes=_attributes(keywords),
            at=self._positions.get(pointer),
            reference=reference,
            children=(*children, *self._values(keywords, pointer)),
            pointer=pointer,
            keys=((_SAME.get(place.keyword, place.keyword), place.steps[1:]),),
        )

    def _values(self, keywords: Mapping[str, Any], pointer: Pointer) -> Iterator[OutlineNode]:
        values = keywords.get("enum")
        for index, value in enumerate(values if isinstance(values, list) else ()):
            if not self._limits.admit():
                return
            at = (*pointer, "enum", index)
            yield OutlineNode(
                path=_path(at),
                name=dumps(value),
                kind="value",
                at=self._positions.get(at),
                pointer=at,
                keys=(("value", json_key(value)),),
            )

    def _reference(self, keywords: Mapping[str, Any], resource: Resource) -> Target | None:
        name = next((keywords[keyword] for keyword in _REFERENCES if isinstance(keywords.get(keyword), str)), None)
        if name is None:
            return None
        try:
            target = self._resources.resolve(name, resource)
            dependency = self._resources.dependency_name(name.partition("#")[0], resource)
        except Unresolved:
            return Target(name)
        if not target.resource.foreign:
            return Target(name, _path(target.pointer))
        return self._targets.target(name, dependency)


def _path(pointer: Pointer) -> str:
    """A pointer as RFC 6901 writes it; empty for the whole schema."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in pointer)


def _places(keywords: Mapping[str, Any]) -> Iterator[_Subschema]:
    """The schemas inside a schema, in the order of the text."""
    required = keywords.get("required")
    names = frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()
    for keyword, value in keywords.items():
        if keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            for name, raw in value.items():
                if isinstance(raw, dict | bool):
                    optional = name not in names if keyword == "properties" else None
                    yield _Subschema(keyword, (keyword, name), raw, _NAMED_SCHEMAS[keyword], name, optional)
        elif keyword in _LISTED_SCHEMAS and isinstance(value, list):
            listed = "prefixItems" if keyword == "items" else keyword
            for index, raw in enumerate(value):
                if isinstance(raw, dict | bool):
                    yield _Subschema(listed, (keyword, index), raw, "schema", f"{keyword}/{index}")
        elif keyword in _SINGLE_SCHEMAS and isinstance(value, dict):
            yield _Subschema(keyword, (keyword,), value, "schema", keyword)


def _says_more(node: OutlineNode) -> bool:
    """Whether a node says more than its type and reference."""
    return bool(node.children or node.doc or node.default or node.tags or node.attributes)


def _hoisted(parts: list[_Part]) -> tuple[list[_Part], Target | None]:
    """The parts, and the only reference of those that are not nodes; of several, each gets a node."""
    referring = [part for part in parts if not part.is_node and part.node.reference is not None]
    if len(referring) == 1:
        return parts, referring[0].node.reference
    return [part._replace(is_node=True) if part in referring else part for part in parts], None


#: The keywords that imply a type in any draft, by type.
_IMPLIED = {
    kind: frozenset().union(*(dialect.kinds[kind] for dialect in (DRAFT_7, DRAFT_2019_09, DRAFT_2020_12)))
    for kind in DRAFT_7.kinds
}


def _words(raw: Any, parts: Sequence[_Part], words_of: Callable[[_Part], str]) -> str:
    """The type of a schema in words."""
    if not isinstance(raw, dict):
        return "never" if raw is False else "any"
    inside: dict[str, list[str]] = {}
    for part in parts:
        inside.setdefault(part.keyword, []).append(words_of(part))
    said = [_reference_words(raw[keyword]) for keyword in _REFERENCES if isinstance(raw.get(keyword), str)]
    types = " | ".join(_type_words(name, raw, inside) for name in _types(raw))
    if isinstance(raw.get("type"), list) and len(raw["type"]) == 1:
        types = f"any of {types}"
    if "enum" in raw:
        types = f"enum of {types}" if types else "enum"
    said += [types] if types else []
    said += _combined_words(raw, inside)
    return " and ".join(said) or "any"


def _combined_words(raw: Mapping[str, Any], inside: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if "const" in raw:
        yield f"const {dumps(raw['const'])}"
    for keyword, words in _COMBINING.items():
        members = list(map(_bracketed, inside.get(keyword, ())))
        if keyword == "anyOf" and len(members) > 1:
            yield " | ".join(members)
        elif members:
            yield f"{words} {', '.join(members)}"
    if "if" in raw:
        yield "conditional"


#: The keywords that combine schemas, in words.
_COMBINING = {"anyOf": "any of", "oneOf": "one of", "allOf": "all of", "not": "not"}


def _worded(raw: Mapping[str, Any]) -> frozenset[str]:
    """The keywords whose schemas are in the words for a schema."""
    types = _types(raw)
    rest = "items" if "items" in raw and not isinstance(raw["items"], list) else "additionalItems"
    worded = {"array": ("prefixItems", rest), "object": () if "properties" in raw else ("additionalProperties",)}
    return frozenset(_COMBINING).union(*(worded.get(name, ()) for name in types))


def _types(raw: Mapping[str, Any]) -> list[str]:
    """The names of a schema's types; if it gives none, those that its keywords imply."""
    types = raw.get("type")
    if types is not None:
        return [str(name) for name in (types if isinstance(types, list) else [types])]
    if "enum" in raw or "const" in raw:
        return []
    return [kind for kind, keywords in _IMPLIED.items() if not keywords.isdisjoint(raw)]


def _type_words(name: str, raw: Mapping[str, Any], inside: Mapping[str, Sequence[str]]) -> str:
    if name == "array":
        return _array_words(inside)
    if name == "object" and "additionalProperties" in inside and "properties" not in raw:
        return f"map<string, {inside['additionalProperties'][0]}>"
    return f"string ({raw['format']})" if name == "string" and _is_text(raw.get("format")) else name


def _array_words(inside: Mapping[str, Sequence[str]]) -> str:
    rest = inside.get("items") or inside.get("additionalItems", ())
    if "prefixItems" in inside:
        return f"tuple of {', '.join(inside['prefixItems'])}{f', then {rest[0]}' if rest else ''}"
    return f"array of {_bracketed(rest[0])}" if rest else "array"


def _bracketed(words: str) -> str:
    return f"({words})" if " | " in words or ", " in words or " and " in words else words


def _reference_words(name: str) -> str:
    """The last part of a reference, such as `Address` for `#/$defs/Address`."""
    return name.rstrip("#/").rpartition("/")[2].removeprefix("#") or name


def _head(words: str) -> str:
    return words if len(words) <= _LONGEST_HEAD else f"{words[:_LONGEST_HEAD]}..."


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _attributes(keywords: Mapping[str, Any]) -> dict[str, str]:
    """The keywords that appear neither in other members of the node nor in nodes inside it."""
    attributes: dict[str, str] = {}
    properties = keywords.get("properties")
    for keyword, value in keywords.items():
        if keyword == "format" and "string" not in _types(keywords):
            attributes[keyword] = dumps(value)
        elif keyword == "required" and isinstance(value, list) and isinstance(properties, dict):
            undeclared = [name for name in value if name not in properties]
            attributes |= {"required": dumps(undeclared)} if undeclared else {}
        elif keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            others = {name: inner for name, inner in value.items() if not isinstance(inner, dict | bool)}
            attributes |= {f"{keyword}.{name}": dumps(inner) for name, inner in others.items()}
        elif not (keyword in _SAID or _holds_schemas(keyword, value)):
            attributes[keyword] = dumps(value)
    return attributes


def _holds_schemas(keyword: str, value: Any) -> bool:
    return (keyword in _LISTED_SCHEMAS and isinstance(value, list)) or (
        keyword in _SINGLE_SCHEMAS and isinstance(value, dict)
    )
