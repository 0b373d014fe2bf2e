"""Walks over JSON messages."""

from __future__ import annotations

import copy
import datetime as dt
from typing import Any

import pytest

from compat.contracts.walk.leaf import Leaf, LeafFailed
from compat.schema import JSON, Dependency, InvalidSchema
from tests.compat.contracts.walking import changed_by, differences, selecting, visited, walk_over


def tagged(tag: str, **schema: Any) -> dict[str, Any]:
    return {**schema, "confluent:tags": [tag]}


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": tagged("PII", type="string"),
        "home": {"type": "object", "properties": {"street": tagged("S", type="string")}},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"no": tagged("L", type="integer")}}},
        "nick": tagged("N", oneOf=[{"type": "null"}, {"type": "string", "maxLength": 3}]),
        "props": tagged("M", type="object", additionalProperties={"type": "string"}),
        "tags": tagged("T", type=["array", "null"], items={"type": "string"}),
        "ssn": {"$ref": "#/definitions/ssn"},
        "card": tagged("C", **{"$ref": "#/definitions/ssn"}),
        "other": {"$ref": "other.json"},
        "kind": tagged("E", enum=["a", "b"]),
        "merged": {
            "allOf": [
                {"properties": {"q": tagged("Q", type="string")}},
                {"properties": {"q": {"minLength": 1}, "r": {"type": "number"}}},
            ]
        },
        "pair": {"type": "array", "items": [tagged("P1", type="string"), tagged("P2", type="string")]},
        "child": {"$ref": "#"},
    },
    "definitions": {"ssn": tagged("SSN", type="string")},
}
OTHER = '{"properties": {"z": {"type": "string", "confluent:tags": ["Z"]}, "y": {"$ref": "#/properties/z"}}}'
DEPENDENCIES = (Dependency("other.json", OTHER),)
MESSAGE: dict[str, Any] = {
    "id": 1,
    "name": "ada",
    "home": {"street": "s"},
    "lines": [{"no": 1}, {"no": 2}],
    "nick": "longer than the schema allows",
    "props": {"k": "v"},
    "tags": ["x"],
    "ssn": "1",
    "card": "2",
    "other": {"z": "z", "y": "y"},
    "kind": "a",
    "merged": {"q": "q", "r": 1},
    "pair": ["1", "2", "3"],
    "child": {"name": "bob", "child": {"name": "eve"}},
}


@pytest.mark.parametrize(
    ("tag", "paths"),
    [
        ("PII", [".name", ".child.name", ".child.child.name"]),
        ("S", [".home.street"]),
        ("L", [".lines[0].no", ".lines[1].no"]),
        ("N", [".nick"]),
        ("M", [".props.k"]),
        ("T", [".tags[0]"]),
        ("SSN", [".ssn", ".card"]),
        ("C", [".card"]),
        ("Z", [".other.z", ".other.y"]),
        ("E", [".kind"]),
        ("Q", [".merged.q"]),
        ("R", [".merged.r"]),
        ("DEEP", [".child.child.name"]),
        ("P1", [".pair[0]"]),
        ("P2", [".pair[1]"]),
        ("NONE", []),
    ],
)
def test_a_walk_changes_the_selected_leaves_alone(tag: str, paths: list[str]) -> None:
    walk = walk_over(SCHEMA, JSON, DEPENDENCIES, {"$.**.r": ["R"], "$.child.child.name": ["DEEP"]})
    before = copy.deepcopy(MESSAGE)
    after = changed_by(walk, tag, MESSAGE)
    assert sorted(path for path, _, _ in differences(MESSAGE, after)) == sorted(paths)
    assert before == MESSAGE
    assert (after is MESSAGE) is not paths


def test_a_leaf_of_several_schemas_is_visited_once() -> None:
    walk = walk_over(SCHEMA, JSON, DEPENDENCIES)
    assert visited(walk, {"merged": {"q": "a"}}) == [("$.merged.q", "STRING", "a")]


@pytest.mark.parametrize(
    ("schema", "value", "type_name"),
    [
        ({"type": "string"}, "a", "STRING"),
        ({"type": "integer"}, 1, "INT"),
        ({"type": "number"}, 1, "DOUBLE"),
        ({"type": "number"}, 1.5, "DOUBLE"),
        ({"type": "integer"}, 1.0, "INT"),
        ({"type": ["integer", "number"]}, 1, "INT"),
        ({"type": ["integer", "number"]}, 1.5, "DOUBLE"),
        ({"type": ["string", "null"]}, None, "NULL"),
        ({"type": ["string", "null"]}, "a", "STRING"),
        ({"type": "boolean"}, True, "BOOLEAN"),
        ({"enum": ["a"]}, "a", "ENUM"),
        ({"const": 1}, 1, "ENUM"),
        ({}, "a", "STRING"),
        ({}, 1, "INT"),
        (True, 1.5, "DOUBLE"),
        ({"type": "string"}, dt.date(2026, 1, 2), "STRING"),
        ({"type": "array", "items": {"type": "integer"}}, [1], "INT"),
        ({"additionalProperties": {"type": "integer"}}, {"k": 1}, "INT"),
    ],
)
def test_the_type_of_a_leaf(schema: Any, value: Any, type_name: str) -> None:
    seen = visited(walk_over({"properties": {"a": schema}}, JSON), {"a": value})
    assert [(name, found) for name, found, _ in seen] == [("$.a", type_name)]


@pytest.mark.parametrize(
    ("combined", "value", "tags"),
    [
        # oneOf: the first valid member; the tags of the members are those of the leaf.
        ({"oneOf": [tagged("A", type="string", maxLength=1), tagged("B", type="string")]}, "x", {"A"}),
        ({"oneOf": [tagged("A", type="string", maxLength=1), tagged("B", type="string")]}, "xx", {"B"}),
        # anyOf: every valid member.
        ({"anyOf": [tagged("A", type="string", maxLength=1), tagged("B", type="string")]}, "x", {"A", "B"}),
        ({"anyOf": [tagged("A", type="string", maxLength=1), tagged("B", type="string")]}, "xx", {"B"}),
        # No valid member: those of the value's type.
        ({"oneOf": [tagged("A", type="string", maxLength=1), tagged("B", type="integer")]}, "xx", {"A"}),
        (
            {"anyOf": [tagged("A", pattern="^a$", type="string"), tagged("B", pattern="^b$", type="string")]},
            "x",
            {"A", "B"},
        ),
        ({"allOf": [tagged("A"), tagged("B", type="string")]}, "x", {"A", "B"}),
        (
            {**tagged("S", type="string"), "oneOf": [tagged("A", minLength=1), tagged("B", maxLength=0)]},
            "x",
            {"S", "A"},
        ),
        ({"oneOf": [{"$ref": "#/definitions/d"}, {"type": "integer"}]}, "x", {"D"}),
        ({"oneOf": [{"oneOf": [tagged("A", type="string"), {"type": "null"}]}, {"type": "integer"}]}, "x", {"A"}),
    ],
)
def test_members_of_combined_schemas(combined: dict[str, Any], value: Any, tags: set[str]) -> None:
    schema = {"properties": {"a": combined}, "definitions": {"d": tagged("D", type="string")}}
    seen: list[Leaf] = []

    def select(leaf: Leaf) -> Any:
        def visit(value: Any, _: Any) -> Any:
            seen.append(leaf)
            return value

        return visit

    walk = walk_over(schema, JSON).compile(select)
    assert walk is not None
    walk({"a": value})
    assert [leaf.tags for leaf in seen] == [tags]


def test_properties_of_a_chosen_object_are_walked() -> None:
    variants = [
        {"properties": {"kind": {"const": "a"}, "x": tagged("X", type="string")}, "required": ["x"]},
        {"properties": {"kind": {"const": "b"}, "x": {"type": "string"}}},
    ]
    walk = walk_over({"properties": {"body": {"oneOf": variants}}}, JSON)
    assert changed_by(walk, "X", {"body": {"kind": "a", "x": "1"}}) == {"body": {"kind": "a", "x": "1!"}}
    assert changed_by(walk, "X", {"body": {"kind": "b", "x": "1"}}) == {"body": {"kind": "b", "x": "1"}}


@pytest.mark.parametrize(
    ("schema", "message", "expected"),
    [
        (
            {"properties": {"m": {"patternProperties": {"^x": tagged("P", type="string")}}}},
            {"m": {"xa": "1", "b": "2"}},
            {"m": {"xa": "1!", "b": "2"}},
        ),
        (
            {"properties": {"a": {}}, "additionalProperties": tagged("P", type="string")},
            {"a": "1", "b": "2"},
            {"a": "1", "b": "2!"},
        ),
        ({"items": tagged("P", type="string")}, ["a"], ["a!"]),
        (
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{}], "items": tagged("P")},
            ["a", "b", "c"],
            ["a", "b!", "c!"],
        ),
        (
            {"properties": {"a": {"items": [{}], "additionalItems": tagged("P", type="string")}}},
            {"a": ["1", "2"]},
            {"a": ["1", "2!"]},
        ),
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "properties": {"a": {"$ref": "#/$defs/d", "minLength": 1}},
                "$defs": {"d": tagged("P", type="string")},
            },
            {"a": "1"},
            {"a": "1!"},
        ),
    ],
)
def test_other_keywords_with_schemas(schema: Any, message: Any, expected: Any) -> None:
    assert changed_by(walk_over(schema, JSON), "P", message) == expected


def test_tags_of_an_object_do_not_reach_its_properties_but_those_of_a_map_do() -> None:
    schema = {
        "properties": {
            "o": tagged("P", properties={"a": {"type": "string"}}),
            "m": tagged("P", type="object", additionalProperties={"type": "string"}),
        }
    }
    message = {"o": {"a": "1"}, "m": {"a": "1"}}
    walk = walk_over(schema, JSON)
    assert changed_by(walk, "P", message) == {"o": {"a": "1"}, "m": {"a": "1!"}}
    assert [(field.name, field.type_name, field.holds_records) for field in walk.fields][:2] == [
        ("o", "RECORD", True),
        ("m", "MAP", False),
    ]


@pytest.mark.parametrize(
    ("schema", "message", "expected"),
    [
        (
            {
                "if": {"required": ["x"]},
                "then": {"properties": {"a": tagged("P")}},
                "else": {"properties": {"b": tagged("P")}},
            },
            {"x": 1, "a": "1", "b": "2"},
            {"x": 1, "a": "1!", "b": "2"},
        ),
        (
            {
                "if": {"required": ["x"]},
                "then": {"properties": {"a": tagged("P")}},
                "else": {"properties": {"b": tagged("P")}},
            },
            {"a": "1", "b": "2"},
            {"a": "1", "b": "2!"},
        ),
        ({"if": True, "then": {"properties": {"a": tagged("P")}}}, {"a": "1"}, {"a": "1!"}),
        ({"then": {"properties": {"a": tagged("P")}}}, {"a": "1"}, {"a": "1"}),
        ({"dependencies": {"x": {"properties": {"a": tagged("P")}}, "y": ["a"]}}, {"a": "1"}, {"a": "1!"}),
    ],
)
def test_conditional_schemas(schema: Any, message: Any, expected: Any) -> None:
    assert changed_by(walk_over(schema, JSON), "P", message) == expected


def test_an_object_that_is_no_mapping_stops_the_walk() -> None:
    walk = walk_over(SCHEMA, JSON, DEPENDENCIES)
    for message in ({"home": object()}, object()):
        with pytest.raises(LeafFailed, match="an object or an array is expected, not object"):
            changed_by(walk, "S", message)
    with pytest.raises(LeafFailed, match=r"^tags: an object or an array is expected, not set"):
        changed_by(walk, "T", {"tags": {"x"}})


def test_items_add_nothing_to_the_full_name() -> None:
    walk = walk_over(SCHEMA, JSON, DEPENDENCIES, {"$.lines.no": ["EXACT"]})
    assert changed_by(walk, "EXACT", {"lines": [{"no": 1}]}) == {"lines": [{"no": 2}]}


def test_a_failure_tells_the_path() -> None:
    def fail(_: Any) -> Any:
        raise LeafFailed("bad")

    paths = []
    for tag in ("PII", "T", "M", "L", "S"):
        with pytest.raises(LeafFailed) as failure:
            walk_over(SCHEMA, JSON, DEPENDENCIES).compile(selecting(tag, fail))(MESSAGE)  # type: ignore[misc]
        paths.append(failure.value.path)
    assert paths == ["name", "tags[0]", 'props["k"]', "lines[0].no", "home.street"]


def test_no_selected_leaf_is_no_walk() -> None:
    assert walk_over({"properties": {"a": {"type": "string"}}}, JSON).compile(lambda _: None) is None
    assert walk_over(SCHEMA, JSON, DEPENDENCIES).compile(lambda _: None) is None
    # A pattern may match deeper in a recursive type.
    assert (
        walk_over(SCHEMA, JSON, DEPENDENCIES, {"$.child.child.child.name": ["X"]}).compile(selecting("X")) is not None
    )


def test_definitions_that_refer_to_each_other_end() -> None:
    count = 40
    definitions: dict[str, Any] = {
        f"d{index}": {
            "properties": {"l": {"$ref": f"#/definitions/d{index + 1}"}, "r": {"$ref": f"#/definitions/d{index + 1}"}}
        }
        for index in range(count)
    }
    schema = {"$ref": "#/definitions/d0", "definitions": {**definitions, f"d{count}": tagged("P", type="string")}}
    message: Any = "x"
    for _ in range(count):
        message = {"l": message}
    after = changed_by(walk_over(schema, JSON), "P", message)
    for _ in range(count):
        after = after["l"]
    assert after == "x!"


def test_a_reference_without_a_target_is_refused() -> None:
    with pytest.raises(InvalidSchema, match="unresolved reference"):
        walk_over({"properties": {"a": {"$ref": "#/nowhere"}}}, JSON)


def test_the_schema_is_not_changed() -> None:
    before = copy.deepcopy(SCHEMA)
    changed_by(walk_over(SCHEMA, JSON, DEPENDENCIES), "N", MESSAGE)
    assert before == SCHEMA
