"""Random JSON Schemas with hostile names, and random data of them."""

from __future__ import annotations

from random import Random
from typing import Any
from urllib.parse import quote, unquote

from tests.generate.random_schemas import NAMES, TEXTS

_PRIMITIVES = ("string", "integer", "number", "boolean", "null")


class JsonSchemas:
    """Makes schemas with definitions that refer to each other."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._definitions = random.sample(NAMES, 3)

    def document(self) -> dict[str, Any]:
        """A document whose outermost schema is an object."""
        random = self._random
        made = self.object(3)
        made["definitions"] = {name: self._definition() for name in self._definitions}
        if random.random() < 0.7:
            made["title"] = random.choice(NAMES)
        return made

    def _definition(self) -> Any:
        random = self._random
        if random.random() < 0.3:
            return {"type": "string", "enum": random.sample(NAMES, random.randint(1, 4))}
        return self.object(1)

    def object(self, depth: int) -> dict[str, Any]:
        """An object with properties."""
        random = self._random
        names = random.sample(NAMES, random.randint(1, 5))
        made: dict[str, Any] = {"type": "object", "properties": {name: self.schema(depth - 1) for name in names}}
        made["required"] = random.sample(names, random.randint(0, len(names)))
        rest = random.choice((None, False, True, {"type": "integer"}))
        if rest is not None:
            made["additionalProperties"] = rest
        return made

    def schema(self, depth: int) -> Any:
        """A schema of any kind."""
        random = self._random
        kind = random.choice(("type", "types", "const", "enum", "ref", "array", "map", "object", "oneOf", "any"))
        made: dict[str, Any] = {"type": random.choice(_PRIMITIVES)}
        if kind == "types":
            made = {"type": random.sample(_PRIMITIVES, 2)}
        elif kind == "const":
            made = {"const": random.choice((*TEXTS, 1, True))}
        elif kind == "enum":
            made = {"enum": random.sample((*TEXTS, 1, 2, None), 3)}
        elif kind == "ref":
            name = random.choice(self._definitions).replace("~", "~0").replace("/", "~1")
            made = {"$ref": f"#/definitions/{quote(name, safe='')}"}
        elif kind == "any":
            made = {}
        elif depth > 0:
            made = self._nested(kind, depth)
        if random.random() < 0.4 and kind != "ref":
            made["description"] = "".join(random.choices(TEXTS, k=3))
        return made

    def _nested(self, kind: str, depth: int) -> dict[str, Any]:
        if kind == "array":
            return {"type": "array", "items": self.schema(depth - 1), **self._default([])}
        if kind == "map":
            return {"type": "object", "additionalProperties": self.schema(depth - 1), **self._default({})}
        if kind == "oneOf":
            members = [
                {
                    "type": "object",
                    "properties": {"kind": {"const": kind}, **self.object(depth - 1)["properties"]},
                    "required": ["kind"],
                }
                for kind in ("a", "b")
            ]
            return {"oneOf": members}
        return self.object(depth) if kind == "object" else {"type": "string", **self._default("x" * 90)}

    def _default(self, value: Any) -> dict[str, Any]:
        return {"default": value} if self._random.random() < 0.5 else {}


def datum_of(random: Random, schema: Any, definitions: dict[str, Any], depth: int = 6) -> Any:  # noqa: PLR0911  # one for each kind
    """A datum; objects that nest too deeply are cut, so it may lack what is required there."""
    if "$ref" in schema:
        name = unquote(schema["$ref"].removeprefix("#/definitions/")).replace("~1", "/").replace("~0", "~")
        return datum_of(random, definitions[name], definitions, depth - 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    if "oneOf" in schema:
        return datum_of(random, random.choice(schema["oneOf"]), definitions, depth)
    kind = schema.get("type", "null")
    kind = random.choice(kind) if isinstance(kind, list) else kind
    if kind == "array":
        return [
            datum_of(random, schema["items"], definitions, depth - 1)
            for _ in range(random.randint(0, 2) if depth > 0 else 0)
        ]
    if kind == "object":
        return _object(random, schema, definitions, depth)
    return {"string": "x", "integer": 1, "number": 0.5, "boolean": True, "null": None}[kind]


def _object(random: Random, schema: Any, definitions: dict[str, Any], depth: int) -> dict[str, Any]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    made = {
        name: datum_of(random, inner, definitions, depth - 1)
        for name, inner in properties.items()
        if depth > -3 and (name in required or (random.random() < 0.5 and depth > 0))
    }
    rest = schema.get("additionalProperties")
    if isinstance(rest, dict) and depth > 0:
        made["another property"] = datum_of(random, rest, definitions, depth - 1)
    return made
