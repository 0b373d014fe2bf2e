"""Fuzzing of JSON Schema: broken texts and wild schemas are read, compared and explained, or refused as invalid.

Nothing but InvalidSchema (and TooMuchWork, for pairs too large) may come out, within seconds and a bounded stack. Run
`python -P tests/fuzz/fuzz_json_schema.py --seconds 600 --seed 1`; a failure prints the seed of its round.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from random import Random
from typing import Any

from compat.budget import TooMuchWork
from compat.json_schema import FORMAT, JsonSchema, check_fields
from compat.json_schema.witness.search import witness
from compat.level import Policy
from compat.schema import JSON, Dependency, InvalidSchema, SchemaText

#: Longest that one round may take, in seconds: some of them compare hundreds of thousands of pairs.
SLOWEST = 20.0
URLS = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
    "http://example.com/unknown",
)
TYPES = ("string", "integer", "number", "boolean", "null", "array", "object", "text", 5)
WITH_SCHEMA = (
    "not", "items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties",
    "contains", "propertyNames", "if", "then", "else",
)  # fmt: skip
WITH_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
WITH_NAMED = ("properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependencies")
WITH_NUMBER = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
)  # fmt: skip
WITH_TEXT = ("title", "description", "pattern", "format", "$id", "id", "$anchor", "$dynamicAnchor", "connect.type")
NAMES = ("a", "b", "$ref", "type", "", "a/b", "ä", "$$x", "{path}", "^a", "(a+)+$", "[")
REFERENCES = (
    "#", "#/definitions/a", "#/$defs/b", "#a", "other.json", "./other.json", "other.json#/definitions/a", "http://[",
    "#/properties/a/items", "%zz", "#/%25", "//x", "urn:x:y", "http://json-schema.org/draft-07/schema#", "#/type", "?",
)  # fmt: skip


class Wild:
    """Draws schemas, most of them nearly right."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def value(self) -> Any:
        choices: tuple[Any, ...] = (
            None,
            True,
            False,
            0,
            -1,
            1.5,
            1e300,
            -1e-300,
            10**30,
            "",
            "a",
            "ä\u0000",
            [],
            {},
            [1],
            {"a": 1},
        )
        return self.random.choice(choices)

    def schema(self, depth: int) -> Any:
        roll = self.random.random()
        if depth <= 0 or roll < 0.05:
            return self.random.choice(({}, True, False, {"type": self.random.choice(TYPES)}, self.value()))
        schema: dict[str, Any] = {}
        for _ in range(self.random.randint(0, 4)):
            self.add_keyword(schema, depth - 1)
        if depth > 3 and roll < 0.5:
            schema["$schema"] = self.random.choice(URLS)
        return schema

    def add_keyword(self, schema: dict[str, Any], depth: int) -> None:
        pick = self.random.choice
        roll = self.random.randrange(11)
        if roll == 0:
            schema["type"] = pick(TYPES) if self.random.random() < 0.7 else [pick(TYPES), pick(TYPES)]
        elif roll == 1:
            schema[pick(WITH_SCHEMA)] = self.schema(depth)
        elif roll == 2:
            schema[pick(WITH_SCHEMAS)] = [self.schema(depth) for _ in range(self.random.randint(0, 3))]
        elif roll in (3, 4):
            schema[pick(WITH_NAMED)] = {pick(NAMES): self.schema(depth) for _ in range(self.random.randint(0, 3))}
        elif roll == 5:
            schema[pick(WITH_NUMBER)] = pick((0, 1, 2, 5, 0.5, 1e300, 1e-300, -1, 10**40, self.value()))
        elif roll == 6:
            schema[pick(WITH_TEXT)] = pick((*NAMES, "#a", "http://x.org/y", self.value()))
        elif roll == 7:
            schema["$ref" if self.random.random() < 0.8 else "$dynamicRef"] = pick(REFERENCES)
        elif roll == 8:
            schema["required"] = [pick(NAMES) for _ in range(self.random.randint(0, 3))]
        elif roll == 9:
            schema["enum"] = [self.value() for _ in range(self.random.randint(0, 3))]
            schema["const"] = self.value()
        else:
            schema[pick((*WITH_SCHEMA, *WITH_NUMBER, "dependentRequired", "enum", "required"))] = self.value()

    def changed(self, value: Any) -> Any:
        """The same with some places replaced."""
        if self.random.random() < 0.1:
            return self.schema(2)
        if isinstance(value, dict):
            return {key: self.changed(child) for key, child in value.items() if self.random.random() > 0.05}
        if isinstance(value, list):
            return [self.changed(child) for child in value if self.random.random() > 0.05]
        return value

    def text(self, value: Any) -> str:
        text = json.dumps(value, ensure_ascii=self.random.random() < 0.5)
        while self.random.random() < 0.15:
            at = self.random.randrange(len(text) + 1)
            text = text[:at] + self.random.choice(("", "{", "]", '"', "\\", "\ud800", "\x00", "1e999")) + text[at + 1 :]
        if self.random.random() < 0.02:
            text = '{"not":' * self.random.randint(100, 5000) + text
        return text

    def nested(self) -> tuple[str, str]:
        """Schemas that are deep, wide or tangled."""
        count = self.random.randint(2, 40)
        kind = self.random.choice(("allOf", "anyOf", "oneOf"))
        leaves = [self.schema(1) for _ in range(3)]

        def tangle(leaf: Any) -> str:
            targets = [[self.random.randrange(count) for _ in range(4)] for _ in range(count)]
            links = {
                f"d{at}": {kind: [{"$ref": f"#/definitions/d{to}"} for to in each] + [{"properties": {"p": leaf}}]}
                for at, each in enumerate(targets)
            }
            return json.dumps({"$ref": "#/definitions/d0", "definitions": links})

        return tangle(self.random.choice(leaves)), tangle(self.random.choice(leaves))


def parsed(wild: Wild, text: str) -> JsonSchema | None:
    """The schema, or None if it is refused."""
    dependencies = (Dependency("other.json", wild.text(wild.schema(3))),)
    try:
        found = FORMAT.parse(SchemaText(JSON, text), dependencies, wild.random.random() < 0.3)
    except InvalidSchema:
        return None
    assert isinstance(found, JsonSchema)
    assert FORMAT.parse(SchemaText(JSON, found.canonical), dependencies, False).canonical == found.canonical
    assert FORMAT.parse(SchemaText(JSON, found.normalized()), dependencies, False).normalized() == found.normalized()
    return found


def compare(reader: JsonSchema, writer: JsonSchema) -> int:
    """Compares and explains; gives the number of differences."""
    try:
        found = FORMAT.differences(reader, writer)
    except TooMuchWork:
        return 0
    for difference in found[:20]:
        assert FORMAT.message(difference, "new", "old").endswith("'}")
        difference.fill(
            difference.rule.harm + difference.rule.change + difference.rule.remedy + difference.rule.writer_remedy,
            "new",
            "old",
        )
        for schema, pointer in ((reader, difference.reader_at), (writer, difference.writer_at)):
            assert pointer is None or FORMAT.locate(schema, pointer) is not None, (difference, pointer)
    for difference in [difference for difference in found if Policy.STRICT not in difference.rule.allowed][:3]:
        witness(difference, reader, writer)
    return len(found)


def one_round(seed: int) -> tuple[int, int]:
    """Reads and compares one pair of schemas; gives how many were read, and how many differences were found."""
    wild = Wild(seed)
    if wild.random.random() < 0.1:
        old_text, new_text = wild.nested()
    else:
        old = wild.schema(5)
        old_text, new_text = wild.text(old), wild.text(wild.changed(old))
    schemas = [schema for text in (old_text, new_text) if (schema := parsed(wild, text)) is not None]
    for schema in schemas:
        try:
            check_fields(schema)
        except InvalidSchema:
            continue
    differences = sum(compare(reader, writer) for reader in schemas for writer in schemas)
    return len(schemas), differences


def main() -> int:
    """Runs rounds until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    seed, read, differences, slowest = options.seed, 0, 0, 0.0
    while time.monotonic() < end:
        start = time.monotonic()
        try:
            counts = one_round(seed)
        except BaseException:
            print(f"round {seed} failed", file=sys.stderr)
            raise
        took = time.monotonic() - start
        assert took < SLOWEST, f"round {seed} took {took:.1f} s"
        read, differences, slowest, seed = read + counts[0], differences + counts[1], max(slowest, took), seed + 1
    rounds = seed - options.seed
    print(f"{rounds} rounds, {read} schemas read, {differences} differences, slowest {slowest:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
