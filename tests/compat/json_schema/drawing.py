"""Random JSON Schemas, changes to them, and instances."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import jsonschema

from compat.json_schema import FORMAT, JsonSchema
from compat.level import Policy
from compat.schema import JSON, SchemaText

DRAFTS = {
    "draft-04": ("http://json-schema.org/draft-04/schema#", jsonschema.Draft4Validator),
    "draft-06": ("http://json-schema.org/draft-06/schema#", jsonschema.Draft6Validator),
    "draft-07": ("http://json-schema.org/draft-07/schema#", jsonschema.Draft7Validator),
    "2019-09": ("https://json-schema.org/draft/2019-09/schema", jsonschema.Draft201909Validator),
    "2020-12": ("https://json-schema.org/draft/2020-12/schema", jsonschema.Draft202012Validator),
}
NAMES = ("a", "b", "c")
LEAVES = ("string", "integer", "number", "boolean", "null")
VALUES: tuple[Any, ...] = (None, True, 0, 1, 2, 3, 0.5, "", "x", "xx", "xxxx", [], [0, 0], {}, {"a": 0})
LOWER = ("minLength", "minimum", "minItems", "minProperties")
UPPER = ("maxLength", "maximum", "maxItems", "maxProperties")
WITH_SCHEMAS = ("anyOf", "allOf", "items", "prefixItems", "additionalProperties", "additionalItems")
MAY_GO = ("maxLength", "minLength", "minimum", "multipleOf", "required", "uniqueItems", "additionalProperties")


def parsed(schema: Any, draft: str) -> JsonSchema:
    text = json.dumps({"$schema": DRAFTS[draft][0], **schema})
    found = FORMAT.parse(SchemaText(JSON, text), (), True)
    assert isinstance(found, JsonSchema)
    return found


def is_compatible(old: Any, new: Any, draft: str) -> bool:
    found = FORMAT.differences(parsed(new, draft), parsed(old, draft))
    return all(Policy.STRICT in difference.rule.allowed for difference in found)


class Drawing:
    """Draws schemas of a draft, changes of them, and instances."""

    def __init__(self, draft: str, seed: int) -> None:
        self.draft = draft
        self.random = Random(seed)
        self.shapes: dict[str, Callable[[int], Any]] = {
            "leaf": lambda _: self.leaf(self.random.choice(LEAVES)),
            "enum": lambda _: {"enum": self.some((0, 1, "", "xx", None, True)) or [0]},
            "empty": lambda _: {},
            "types": lambda _: {"type": self.some(("string", "integer", "null", "boolean")) or ["null"]},
            "ref": lambda _: {"$ref": "#/definitions/node"},
            "not": lambda _: {"not": self.leaf(self.random.choice(LEAVES))},
            "oneOf": self.one_of,
            "anyOf": lambda depth: {"anyOf": self.schemas(depth)},
            "allOf": lambda depth: {"allOf": self.schemas(depth)},
            "object": self.an_object,
            "array": self.an_array,
            "tuple": self.a_tuple,
        }

    def chance(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == 0

    def some(self, values: tuple[Any, ...]) -> list[Any]:
        return self.random.sample(values, self.random.randint(0, min(3, len(values))))

    def schema(self, depth: int) -> dict[str, Any]:
        shapes = [*self.shapes, "leaf", "object", "object", "leaf"] if depth > 0 else ["leaf", "enum", "empty", "types"]
        drawn: dict[str, Any] = self.shapes[self.random.choice(shapes)](depth - 1)
        return drawn

    def schemas(self, depth: int) -> list[Any]:
        return [self.schema(depth) for _ in range(self.random.randint(1, 3))]

    def leaf(self, kind: str) -> dict[str, Any]:
        keywords = {
            "string": ("minLength", "maxLength"),
            "integer": ("minimum", "maximum", "multipleOf"),
            "number": ("minimum", "maximum", "multipleOf"),
        }
        bounds = {word: self.random.randint(1, 4) for word in keywords.get(kind, ()) if self.chance(4)}
        return {"type": kind, **bounds}

    def one_of(self, depth: int) -> dict[str, Any]:
        """Alternatives of different types: if several may match, adding one breaks what only one matched."""
        kinds = self.some(("string", "integer", "null", "object")) or ["null"]
        return {"oneOf": [self.an_object(depth) if kind == "object" else self.leaf(kind) for kind in kinds]}

    def beside(self, keyword: str, depth: int) -> dict[str, Any]:
        if self.chance(2):
            return {}
        return {keyword: self.schema(depth) if self.chance(3) else self.chance(2)}

    def an_object(self, depth: int) -> dict[str, Any]:
        properties = {name: self.schema(depth) for name in self.some(NAMES)}
        schema = {"type": "object", "properties": properties, **self.beside("additionalProperties", depth)}
        required = [name for name in properties if properties[name] != {} and self.chance(2)]
        if required:
            schema["required"] = required
        if self.chance(5):
            schema[self.random.choice(("minProperties", "maxProperties"))] = self.random.randint(0, 3)
        if self.chance(5):
            keyword = "dependencies" if self.draft.startswith("draft") else "dependentRequired"
            schema[keyword] = {self.random.choice(NAMES): [self.random.choice(NAMES)]}
        return schema

    def sized(self) -> dict[str, Any]:
        schema = {keyword: self.random.randint(0, 4) for keyword in ("minItems", "maxItems") if self.chance(5)}
        return {"type": "array", **schema, **({"uniqueItems": self.chance(2)} if self.chance(5) else {})}

    def an_array(self, depth: int) -> dict[str, Any]:
        return {**self.sized(), **({"items": self.schema(depth)} if self.chance(2) else {})}

    def a_tuple(self, depth: int) -> dict[str, Any]:
        first, rest = ("prefixItems", "items") if self.draft == "2020-12" else ("items", "additionalItems")
        return {**self.sized(), first: self.schemas(depth), **self.beside(rest, depth)}

    def changed(self, schema: Any, depth: int) -> Any:
        """The schema with some changes, so that the pair is often compatible."""
        if isinstance(schema, list):
            return [self.changed(branch, depth) for branch in schema]
        if not isinstance(schema, dict) or self.chance(3):
            return schema
        if self.chance(12):
            return self.schema(depth - 1)
        result = {word: self.changed_keyword(word, value, depth) for word, value in schema.items()}
        required = [name for name in result.pop("required", ()) if result["properties"].get(name, {}) != {}]
        if required:
            result["required"] = required
        return {word: value for word, value in result.items() if word not in MAY_GO or not self.chance(6)}

    def changed_keyword(self, word: str, value: Any, depth: int) -> Any:
        if word in LOWER:
            return max(0, value - self.random.choice((0, 0, 1, -1)))
        if word in UPPER:
            return max(0, value + self.random.choice((0, 0, 1, -1)))
        if word in WITH_SCHEMAS:
            return self.changed(value, depth - 1)
        if word == "type" and value == "integer" and self.chance(3):
            return "number"
        if word == "properties":
            kept = {name: self.changed(each, depth - 1) for name, each in value.items() if not self.chance(8)}
            return {**kept, **({self.random.choice(NAMES): self.schema(depth - 1)} if self.chance(4) else {})}
        return value

    def pair(self) -> tuple[Any, Any]:
        node = self.an_object(1)
        schema = self.schema(3)
        if "$ref" in schema:
            schema = {"type": "array", "items": schema}
        changed_node = self.changed(node, 2)
        if changed_node.get("type") != "object":
            changed_node = node  # else it might refer to nothing but itself, which no validator can follow
        return (
            {**schema, "definitions": {"node": node}},
            {**self.without_reference(self.changed(schema, 3)), "definitions": {"node": changed_node}},
        )

    @staticmethod
    def without_reference(schema: dict[str, Any]) -> dict[str, Any]:
        """At the top `$ref` would hide the definitions from older drafts."""
        return {"anyOf": [schema]} if "$ref" in schema else schema

    def instance(self, schema: Any, root: Any, depth: int) -> Any:
        """A value that the schema may accept."""
        if depth <= 0 or not isinstance(schema, dict) or self.chance(10):
            return self.random.choice(VALUES)
        if "$ref" in schema:
            return self.instance(root["definitions"]["node"], root, depth - 1)
        for combinator in ("oneOf", "anyOf", "allOf", "enum"):
            if combinator in schema:
                chosen = self.random.choice(schema[combinator])
                return chosen if combinator == "enum" else self.instance(chosen, root, depth)
        kind = schema.get("type")
        make = {"string": self.text, "integer": self.amount, "number": self.amount}.get(
            self.random.choice(kind) if isinstance(kind, list) else kind or ""
        )
        if make is not None:
            return make(schema)
        if kind == "object":
            return self.object_of(schema, root, depth - 1)
        return self.array_of(schema, root, depth - 1) if kind == "array" else self.random.choice(VALUES)

    def text(self, schema: Any) -> str:
        return "x" * self.random.choice((schema.get("minLength", 0), schema.get("maxLength", 5), 1, 2))

    def amount(self, schema: Any) -> float:
        bounds = (schema.get("minimum", -1), schema.get("maximum", 6), self.random.randint(-2, 8))
        whole: float = self.random.choice(bounds)
        step: float = schema.get("multipleOf", 1)
        return whole // step * step + (0.5 if schema.get("type") == "number" and self.chance(2) else 0)

    def object_of(self, schema: Any, root: Any, depth: int) -> dict[str, Any]:
        names = [*schema.get("required", ()), *self.some((*NAMES, "d"))]
        other = schema.get("additionalProperties", {})
        return {name: self.instance(schema["properties"].get(name, other), root, depth) for name in names}

    def array_of(self, schema: Any, root: Any, depth: int) -> list[Any]:
        items = schema.get("items", {})
        first = schema.get("prefixItems") or (items if isinstance(items, list) else [])
        rest = schema.get("additionalItems", {}) if isinstance(items, list) else items
        length = self.random.choice((schema.get("minItems", 0), len(first), len(first) + 1, 2))
        return [self.instance(first[at] if at < len(first) else rest, root, depth) for at in range(length)]
