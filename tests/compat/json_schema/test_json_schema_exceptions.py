"""Changes that the reference calls compatible although they are not: its verdict is kept, and each is shown.

Every row holds an instance that the old schema accepts and the new one refuses, as the `jsonschema` library judges.
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from compat.json_schema import FORMAT
from compat.level import Policy
from compat.schema import JSON, SchemaText

STRING: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}

#: Name, old schema, new schema, instance; drafts 7 and 2020-12, unless the name says otherwise.
EXCEPTIONS: list[tuple[str, Any, Any, Any]] = [
    (
        "a required property with a default: readers that do not fill in defaults miss it",
        {"type": "object", "properties": {"a": STRING}},
        {"type": "object", "properties": {"a": {**STRING, "default": ""}}, "required": ["a"]},
        {},
    ),
    (
        "a required name that `properties` does not have",
        {"type": "object", "properties": {"a": STRING}},
        {"type": "object", "properties": {"a": STRING}, "required": ["b"]},
        {},
    ),
    (
        "a required property that accepts everything",
        {"type": "object"},
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        {},
    ),
    (
        "a type beside keywords that imply it",
        {"minLength": 1},
        {"type": "string", "minLength": 1},
        5,
    ),
    (
        "a oneOf whose new alternative accepts what another one accepts",
        {"oneOf": [STRING]},
        {"oneOf": [STRING, {"type": ["string", "null"]}]},
        "both",
    ),
    (
        "a schema that becomes one of several alternatives which overlap",
        INTEGER,
        {"oneOf": [INTEGER, {"type": "number"}]},
        1,
    ),
    ("a oneOf with an alternative twice", {"oneOf": [STRING]}, {"oneOf": [STRING, STRING]}, "twice"),
    (
        "patternProperties are not compared with each other",
        {"type": "object", "patternProperties": {"^a": STRING}},
        {"type": "object", "patternProperties": {"^a": INTEGER}},
        {"ab": "text"},
    ),
    (
        "patternProperties removed from a closed object",
        {"type": "object", "patternProperties": {"^a": STRING}, "additionalProperties": False},
        {"type": "object", "additionalProperties": False},
        {"ab": "text"},
    ),
    (
        "propertyNames",
        {"type": "object"},
        {"type": "object", "propertyNames": {"maxLength": 1}},
        {"ab": 0},
    ),
    (
        "the schema of contains",
        {"type": "array", "contains": STRING},
        {"type": "array", "contains": INTEGER},
        ["text"],
    ),
    (
        "if, then and else",
        {"if": STRING, "then": {"minLength": 1}},
        {"if": STRING, "then": {"minLength": 2}},
        "a",
    ),
    (
        "Connect's bytes",
        {"type": "string", "connect.type": "bytes"},
        {"type": "integer", "connect.type": "bytes"},
        "text",
    ),
]

#: The same with the draft that it is about.
OF_ONE_DRAFT: list[tuple[str, str, Any, Any, Any]] = [
    ("draft-07", "a new contains", {"type": "array"}, {"type": "array", "contains": STRING}, []),
    (
        "draft-07",
        "additionalItems without a tuple means nothing, and counts as closed",
        {"type": "array", "items": STRING, "additionalItems": False},
        {"type": "array", "items": [INTEGER], "additionalItems": False},
        ["text"],
    ),
    (
        "2020-12",
        "what alternatives evaluate changes what is left for unevaluatedProperties",
        {"anyOf": [{"properties": {"a": STRING, "b": STRING}}], "unevaluatedProperties": False},
        {"anyOf": [{"properties": {"a": STRING}}], "unevaluatedProperties": False},
        {"b": "text"},
    ),
]

DRAFTS = {
    "draft-07": ("http://json-schema.org/draft-07/schema#", jsonschema.Draft7Validator),
    "2020-12": ("https://json-schema.org/draft/2020-12/schema", jsonschema.Draft202012Validator),
}
ROWS = [(draft, *row) for row in EXCEPTIONS for draft in DRAFTS] + OF_ONE_DRAFT


@pytest.mark.parametrize(("draft", "name", "old", "new", "instance"), ROWS, ids=[f"{row[0]}: {row[1]}" for row in ROWS])
def test_the_references_verdict_is_kept(draft: str, name: str, old: Any, new: Any, instance: Any):
    url, judge = DRAFTS[draft]
    writer, reader = (
        FORMAT.parse(SchemaText(JSON, json.dumps({"$schema": url, **schema})), (), True) for schema in (old, new)
    )
    assert all(Policy.STRICT in found.rule.allowed for found in FORMAT.differences(reader, writer))
    assert judge(old).is_valid(instance)
    assert not judge(new).is_valid(instance)
