"""The classes of JSON Schemas: what `tests/serdes/records/test_json_records.py` does not show."""

from __future__ import annotations

from typing import Any

import pytest

from compat.schema import Dependency
from magicbyte.generate.modules import record_files
from tests.generate.packages import files_of, source


def fields_of(schema: dict[str, Any], name: str = "Item") -> list[str]:
    """The lines of a class's fields."""
    text = files_of({"title": "Item", "type": "object", **schema}, schema_type="JSON")["main.py"]
    body = text[text.index(f"class {name}:") :].partition("\n\n\n")[0]
    fields = body.partition("__aliases__")[2].partition("\n")[2]
    return [line[4:] for line in fields.splitlines() if line]


@pytest.mark.parametrize(
    ("property_schema", "optional", "required"),
    [
        ({"type": "string"}, "str | None = None", "str"),
        ({"type": ["string", "null"]}, "str | Unset | None = UNSET", "str | None"),
        ({"type": "integer", "default": 3}, "int = 3", "int"),
        ({"type": ["integer", "null"], "default": None}, "int | None = None", "int | None"),
        # a default that does not fit its type is none
        ({"type": "integer", "default": "x"}, "int | None = None", "int"),
        ({"type": "number", "default": 1.50}, "float = 1.5", "float"),
        ({}, "Any | Unset = UNSET", "Any"),
        (True, "Any | Unset = UNSET", "Any"),
        ({"const": "a"}, 'Literal["a"] | None = None', 'Literal["a"]'),
        ({"enum": ["a", None]}, 'Literal["a"] | Unset | None = UNSET', 'Literal["a"] | None'),
        ({"enum": [1.5, "a"]}, 'Literal["a"] | float | None = None', 'Literal["a"] | float'),
        ({"type": "string", "format": "date"}, 'Annotated[str, "date"] | None = None', 'Annotated[str, "date"]'),
        ({"type": "array"}, "list[Any] | None = None", "list[Any]"),
        ({"type": "array", "items": {"type": "integer"}}, "list[int] | None = None", "list[int]"),
        ({"items": [{"type": "integer"}, {"type": "string"}]}, "list[int | str] | None = None", "list[int | str]"),
        ({"type": "object"}, "dict[str, Any] | None = None", "dict[str, Any]"),
        ({"additionalProperties": {"type": "integer"}}, "dict[str, int] | None = None", "dict[str, int]"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "str | int | None = None", "str | int"),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, "str | Unset | None = UNSET", "str | None"),
        # members that are only checks
        ({"type": "string", "anyOf": [{"pattern": "^a"}, {"maxLength": 2}]}, "str | None = None", "str"),
        ({"allOf": [{"type": "string"}, {"maxLength": 2}]}, "str | None = None", "str"),
        ({"$ref": "#/definitions/Color"}, "Color | None = None", "Color"),
        ({"allOf": [{"$ref": "#/definitions/Color"}], "description": "x"}, "Color | None = None", "Color"),
        ({"$ref": "#"}, "Item | None = None", "Item"),
    ],
)
def test_each_property_has_its_type(property_schema: Any, optional: str, required: str) -> None:
    schema = {"properties": {"x": property_schema}, "definitions": {"Color": {"enum": ["red", "green"]}}}
    assert fields_of(schema) == [f"x: {optional}"]
    assert fields_of({**schema, "required": ["x"]}) == [f"x: {required}"]


def test_properties_of_all_merged_schemas_are_in_one_class() -> None:
    schema = {
        "allOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"allOf": [{"properties": {"b": {"type": "integer"}}}]},
        ],
        "properties": {"a": {"maxLength": 5}},
        "if": {"properties": {"b": {"const": 1}}},
        "then": {"properties": {"c": {"type": "boolean"}}},
        "patternProperties": {"^x": {"type": "number"}},
    }
    assert fields_of(schema) == [
        "a: str",
        "c: bool | None = None",
        "b: int | None = None",
        "extra: dict[str, float] = field(default_factory=dict)",
    ]


def test_a_union_in_an_object_makes_a_class_of_each_member_with_the_common_properties() -> None:
    schema = {
        "properties": {
            "x": {
                "type": "object",
                "properties": {"id": {"type": "integer"}},
                "required": ["id"],
                "oneOf": [
                    {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"title": "Other", "properties": {"b": {}}},
                ],
            }
        }
    }
    assert fields_of(schema) == ["x: ItemX1 | ItemXOther | None = None"]
    assert fields_of(schema, "ItemX1") == ["id: int", "a: str"]
    assert fields_of(schema, "ItemXOther") == ["id: int", "b: Any | Unset = UNSET"]


def test_a_document_that_is_referred_to_is_a_module() -> None:
    place = {"title": "Place", "type": "object", "properties": {"city": {"type": "string"}}}
    person = {"title": "Person", "type": "object", "properties": {"home": {"$ref": "place.json"}}, "required": ["home"]}
    needed = (Dependency("place.json", source(place).text),)
    files = record_files([source(person, "JSON", stem="person", dependencies=needed)])
    assert sorted(files) == ["__init__.py", "person.py", "place.py"]
    assert "home: place.Place" in files["person.py"]


def test_a_metaschema_is_no_class_of_the_document() -> None:
    schema = {"properties": {"rule": {"$ref": "http://json-schema.org/draft-07/schema#"}}}
    files = files_of({"title": "Item", "type": "object", **schema}, schema_type="JSON")
    assert "metaschema.py" in files
    assert "rule: metaschema." in files["main.py"]
