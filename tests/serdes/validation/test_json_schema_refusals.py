"""Errors for a value that a JSON Schema refuses: the field, the reason, and the branch that came nearest."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from compat.schema import Dependency
from serdes.validation.refusal import Refusal, ValueRefused
from serdes.validation.validator import JsonValidator

CIRCLE = {
    "title": "Circle",
    "type": "object",
    "properties": {"kind": {"const": "circle"}, "radius": {"type": "number", "exclusiveMinimum": 0}},
    "required": ["kind", "radius"],
}
BOX = {
    "type": "object",
    "properties": {
        "kind": {"const": "box"},
        "size": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3},
        "label": {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 5}]},
    },
    "required": ["kind", "size"],
    "additionalProperties": False,
}
GROUP = {
    "type": "object",
    "properties": {"kind": {"const": "group"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/shape"}}},
    "required": ["kind", "parts"],
}
DRAWING = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {"circle": CIRCLE, "shape": {"oneOf": [{"$ref": "#/$defs/circle"}, BOX, GROUP]}},
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "shapes": {"type": "array", "items": {"$ref": "#/$defs/shape"}, "uniqueItems": True},
        "layers": {
            "type": "object",
            "patternProperties": {"^l": {"enum": ["on", "off"]}},
            "unevaluatedProperties": False,
        },
        "owner": {
            "if": {"properties": {"person": {"const": True}}, "required": ["person"]},
            "then": {"required": ["born"]},
            "else": {"not": {"required": ["born"]}},
        },
    },
    "required": ["name"],
}


def refusal(schema: Any, value: Any, **named: Any) -> Refusal:
    dependencies = tuple(Dependency(name, json.dumps(text)) for name, text in named.items())
    with pytest.raises(ValueRefused) as raised:
        JsonValidator(json.dumps(schema), dependencies).check(value)
    return raised.value.refusal


@pytest.mark.parametrize(
    ("value", "path", "keyword", "reason"),
    [
        ({"shapes": []}, (), "required", '"name" is a required property'),
        ({"name": "A"}, ("name",), "pattern", '"A" does not match "^[a-z]+$"'),
        (
            {"name": "a", "shapes": [{"kind": "circle", "radius": 0}]},
            ("shapes", 0, "radius"),
            "exclusiveMinimum",
            "0 is less than or equal to the minimum of 0; nearest branch: oneOf/0 (#/$defs/circle) at $.shapes[0]",
        ),
        (
            {"name": "a", "shapes": [{"kind": "box", "size": [1, "2"]}]},
            ("shapes", 0, "size", 1),
            "type",
            '"2" is not of type "integer"; nearest branch: oneOf/1 at $.shapes[0]',
        ),
        (
            {"name": "a", "shapes": [{"kind": "box", "size": [1], "label": "x"}]},
            ("shapes", 0, "size"),
            "minItems",
            "the array is too short (minItems 2); nearest branch: oneOf/1 at $.shapes[0]",
        ),
        (
            {"name": "a", "shapes": [{"kind": "box", "size": [1, 2], "label": "too long"}]},
            ("shapes", 0, "label"),
            "maxLength",
            '"too long" is longer than 5 characters; nearest branch: oneOf/1 at $.shapes[0], then anyOf/1 at '
            "$.shapes[0].label",
        ),
        (
            {"name": "a", "shapes": [{"kind": "group", "parts": [{"kind": "circle", "radius": "1"}]}]},
            ("shapes", 0, "parts", 0, "radius"),
            "type",
            '"1" is not of type "number"; nearest branch: oneOf/2 at $.shapes[0], then oneOf/0 (#/$defs/circle) at '
            "$.shapes[0].parts[0]",
        ),
        (
            {"name": "a", "shapes": [{"kind": "box", "size": [1, 2], "colour": 1}]},
            ("shapes", 0),
            "additionalProperties",
            'Additional properties are not allowed ("colour" was unexpected); nearest branch: oneOf/1 at $.shapes[0]',
        ),
        (
            {"name": "a", "shapes": [{"kind": "star"}]},
            ("shapes", 0),
            "oneOf",
            "matches none of the 3 schemas of oneOf",
        ),
        (
            {"name": "a", "layers": {"l1": "dim"}},
            ("layers", "l1"),
            "enum",
            '"dim" is not one of "on" or "off"',
        ),
        ({"name": "a", "owner": {"person": True}}, ("owner",), "required", '"born" is a required property'),
        ({"name": "a", "owner": {"born": 1}}, ("owner",), "not", "matches the schema of not"),
        ({"name": "a", "shapes": 5}, ("shapes",), "type", '5 is not of type "array"'),
        ({"name": "a", "shapes": [1, 1]}, ("shapes",), "uniqueItems", "the items are not unique"),
    ],
)
def test_nested_cases(value: Any, path: tuple[str | int, ...], keyword: str, reason: str) -> None:
    assert refusal(DRAWING, value) == Refusal(path, keyword, reason)


def test_more_than_one_branch() -> None:
    reason = "matches 2 schemas of oneOf instead of one: oneOf/0 and oneOf/2"
    schema = {"oneOf": [{"type": "integer"}, {"type": "string"}, {"minimum": 0}]}
    assert refusal(schema, 1) == Refusal((), "oneOf", reason)


def test_a_branch_has_its_title_as_its_name() -> None:
    schema = {"anyOf": [{"type": "string"}, CIRCLE]}
    reason = '"radius" is a required property; nearest branch: anyOf/1 (Circle) at $'
    assert refusal(schema, {"kind": "circle"}) == Refusal((), "required", reason)


def test_a_refusal_in_a_referenced_schema() -> None:
    item = {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"n": {"type": "integer"}}}
    schema = {"items": {"$ref": "item.json"}}
    assert refusal(schema, [{"n": "x"}], **{"item.json": item}) == Refusal(
        (0, "n"), "type", '"x" is not of type "integer"'
    )


@pytest.mark.parametrize(
    ("schema", "value", "accepted"),
    [
        # The registry finds definitions of newer drafts under either word, and so does the validator.
        ({"definitions": {"n": {"type": "integer"}}, "$ref": "#/$defs/n"}, 1, True),
        ({"definitions": {"n": {"type": "integer"}}, "$ref": "#/$defs/n"}, "a", False),
        ({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/definitions/n"}}, [1], True),
        ({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/definitions/n"}}, ["a"], False),
        # Formats are annotations in newer drafts.
        ({"format": "date"}, "no date", True),
    ],
)
def test_draft_2020_12(schema: Any, value: Any, *, accepted: bool) -> None:
    validator = JsonValidator(json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}))
    assert validator.accepts(value) == accepted
    if not accepted:
        with pytest.raises(ValueRefused, match='"a" is not of type "integer"'):
            validator.check(value)


def test_formats_are_asserted_by_draft_7() -> None:
    assert refusal({"properties": {"at": {"format": "date"}}}, {"at": "x"}) == Refusal(
        ("at",), "format", '"x" is not a "date"'
    )


def tangled(depth: int) -> dict[str, Any]:
    links = {f"d{level}": {"oneOf": [{"$ref": f"#/definitions/d{level + 1}"}] * 2} for level in range(depth)}
    return {"definitions": {**links, f"d{depth}": {"type": "integer"}}}


def test_a_search_that_takes_too_much_work_names_keyword_and_path() -> None:
    schema = {**tangled(12), "properties": {"amount": {"$ref": "#/definitions/d0"}}}
    started = time.process_time()
    found = refusal(schema, {"amount": "x"})
    assert found == Refusal(("amount",), "oneOf", "refused by oneOf; to find the reason takes too much work")
    assert time.process_time() - started < 2


def test_the_search_continues_after_a_combination_that_costs_too_much() -> None:
    schema = {
        **tangled(12),
        "properties": {"amount": {"anyOf": [{"$ref": "#/definitions/d0"}, {}]}, "name": {"type": "string"}},
    }
    assert refusal(schema, {"amount": "x", "name": 1}) == Refusal(("name",), "type", '1 is not of type "string"')


def test_schemas_that_all_must_accept_are_given_up_as_one() -> None:
    links = {f"d{level}": {"allOf": [{"$ref": f"#/definitions/d{level + 1}"}] * 2} for level in range(16)}
    schema = {
        "definitions": {**links, "d16": {"type": "integer"}},
        "allOf": [{"properties": {"amount": {"$ref": "#/definitions/d0"}, "name": {"type": "string"}}}],
    }
    assert refusal(schema, {"amount": 1, "name": 1}) == Refusal(("name",), "type", '1 is not of type "string"')
    assert refusal(schema, {"amount": "x"}) == Refusal(("amount",), "type", '"x" is not of type "integer"')


def test_the_fault_is_found_far_inside_a_large_value() -> None:
    schema = {"items": {"type": "integer"}}
    assert refusal(schema, [*range(50_000), "x"]) == Refusal((50_000,), "type", 'the value is not of type "integer"')


@pytest.mark.parametrize(
    ("schema", "value", "path", "keyword"),
    [
        ({"oneOf": [{"type": "integer"}, {"maxItems": 3}]}, list(range(300_000)), (), "maxItems"),
        ({"oneOf": [{"type": "integer"}, {"maxLength": 3}]}, "x" * 3_000_000, (), "maxLength"),
        ({"required": ["a"]}, {str(number): number for number in range(100_000)}, (), "required"),
        ({"items": {"items": {"type": "string"}}}, [["x"] * 100_000, [["y" * 100_000]]], ("*", "*"), "type"),
    ],
)
def test_large_values_are_not_copied_into_reasons(schema: Any, value: Any, path: Any, keyword: str) -> None:
    found = refusal(schema, value)
    assert (found.path, found.keyword) == (path, keyword)
    assert len(found.reason) < 1_000


def test_a_regular_expression_that_backtracks_is_given_up() -> None:
    schema = {"items": {"pattern": "^(?=(a|aa)+$)b"}}
    assert refusal(schema, ["a" * 40 + "!"]).path == (0,)


@pytest.mark.parametrize(
    ("schema", "value", "reason"),
    [
        ('{"minimum":0.10}', 0.05, "0.05 is less than the minimum of 0.1"),
        ('{"multipleOf":0.50}', 0.75, "0.75 is not a multiple of 0.5"),
        ('{"enum":[1.50]}', 1.25, "1.25 is not one of 1.5"),
        ('{"maximum":1e400,"items":{"maximum":1e-1}}', [0.25], "0.25 is greater than the maximum of 0.1"),
        ('{"minimum":1e400}', 1, "1 is less than the minimum of 1" + "0" * 400),
    ],
)
def test_exact_numbers_of_a_schema_are_explained(schema: str, value: Any, reason: str) -> None:
    with pytest.raises(ValueRefused) as raised:
        JsonValidator(schema).check(value)
    assert raised.value.refusal.reason == reason


@pytest.mark.parametrize(
    ("schema", "value"), [('{"minimum":0.10}', 0.1), ('{"enum":[0.10]}', 0.1), ('{"maximum":1e400}', 1e308)]
)
def test_exact_numbers_of_a_schema_accept_doubles(schema: str, value: Any) -> None:
    JsonValidator(schema).check(value)
