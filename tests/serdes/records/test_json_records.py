"""Serializers and deserializers of generated JSON Schema classes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from serdes import JSONDeserializer, JSONSerializer, SerializationContext
from serdes.client.clients import RegistryClient
from serdes.error import DatumMismatch, DatumRefused, PayloadError
from serdes.records import UNSET
from tests.generate.packages import Package, files_of

VALUE = SerializationContext("people", "value")
NODE = {"type": "object", "properties": {"next": {"$ref": "#/definitions/Node"}, "value": {"type": "integer"}}}
PERSON: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Person",
    "type": "object",
    "required": ["id", "kind", "pet"],
    "definitions": {"Color": {"type": "string", "enum": ["red", "class"]}, "Node": NODE},
    "properties": {
        "id": {"type": "integer"},
        "kind": {"const": "person"},
        "2fast": {"type": "string"},
        "first-name": {"type": "string"},
        "class": {"type": ["string", "null"]},
        "age": {"type": "integer", "default": 3},
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["new"]},
        "color": {"$ref": "#/definitions/Color", "default": "class"},
        "node": {"$ref": "#/definitions/Node"},
        "any": {},
        "pet": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"type": {"const": "cat"}, "lives": {"type": "integer"}},
                    "required": ["type"],
                },
                {
                    "type": "object",
                    "properties": {"type": {"const": "dog"}, "barks": {"type": "boolean"}},
                    "required": ["type"],
                },
            ]
        },
        "shapes": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"type": "object", "properties": {"radius": {"type": "number"}}, "required": ["radius"]},
                    {
                        "type": "object",
                        "properties": {"w": {"type": "number"}, "h": {"type": "number"}},
                        "required": ["w", "h"],
                    },
                ]
            },
        },
        "both": {
            "allOf": [
                {"$ref": "#/definitions/Node"},
                {"type": "object", "properties": {"more": {"type": "string"}}, "required": ["value"]},
            ]
        },
        "map": {"type": "object", "additionalProperties": {"$ref": "#/definitions/Node"}},
        "mixed": {"enum": ["a", 1, None]},
    },
    "additionalProperties": {"type": "integer"},
}
FIELDS = {
    "id": "int",
    "kind": "Literal['person']",
    "_2fast": "str | None",
    "first_name": "str | None",
    "class_": "str | Unset | None",
    "age": "int",
    "tags": "list[str]",
    "color": "Color",
    "node": "Node | None",
    "any": "Any | Unset",
    "pet": "PersonPetCat | PersonPetDog",
    "shapes": "list[PersonShapesItem1 | PersonShapesItem2] | None",
    "both": "PersonBoth | None",
    "map": "dict[str, Node] | None",
    "mixed": "Literal['a', 1] | Unset | None",
    "extra": "dict[str, int]",
}


@pytest.fixture
def people(package: Package) -> Any:
    return package(files_of(PERSON, schema_type="JSON"))("main")


def whole(people: Any, **changes: Any) -> Any:
    values: dict[str, Any] = {
        "id": 1,
        "kind": "person",
        "pet": people.PersonPetDog(type="dog", barks=True),
        "class_": None,
        "first_name": "Ada",
        "node": people.Node(next=people.Node(value=3)),
        "shapes": [people.PersonShapesItem2(w=1, h=2), people.PersonShapesItem1(radius=0.5)],
        "both": people.PersonBoth(value=3, more="x"),
        "map": {"a": people.Node()},
        "any": {"x": [1]},
        "mixed": None,
        "extra": {"z": 5},
    }
    return people.Person(**(values | changes))


def test_the_fields_have_the_types_of_the_schema(people: Any) -> None:
    annotations = {name: kind for name, kind in people.Person.__annotations__.items() if not name.startswith("__")}
    assert {name: kind.replace('"', "'") for name, kind in annotations.items()} == FIELDS
    assert people.Person(id=1, kind="person", pet=None).class_ is UNSET


def test_a_record_comes_back_as_it_was_written(people: Any, client: RegistryClient) -> None:
    written = JSONSerializer(people.Person, client)(whole(people), VALUE)
    assert JSONDeserializer(people.Person, schema_registry_client=client)(written, VALUE) == whole(people)
    assert json.loads(written[5:]) == {
        "id": 1,
        "kind": "person",
        "first-name": "Ada",
        "class": None,
        "age": 3,
        "tags": ["new"],
        "color": "class",
        "node": {"next": {"value": 3}},
        "any": {"x": [1]},
        "pet": {"type": "dog", "barks": True},
        "shapes": [{"w": 1, "h": 2}, {"radius": 0.5}],
        "both": {"value": 3, "more": "x"},
        "map": {"a": {}},
        "mixed": None,
        "z": 5,
    }


def test_absent_is_not_null_and_defaults_fill_in(people: Any, client: RegistryClient) -> None:
    serialize = JSONSerializer(people.Person, client)
    deserialize = JSONDeserializer(people.Person, schema_registry_client=client)
    frame = serialize(whole(people), VALUE)[:5]
    pet = people.PersonPetCat(type="cat")
    read = deserialize(frame + b'{"id":1,"kind":"person","pet":{"type":"cat"}}', VALUE)
    assert read == people.Person(id=1, kind="person", pet=pet)
    assert (read.class_, read.mixed, read.first_name, read.age, read.tags) == (UNSET, UNSET, None, 3, ["new"])
    read.tags.append("x")
    assert people.Person(id=1, kind="person", pet=pet).tags == ["new"]
    null = deserialize(frame + b'{"id":1,"kind":"person","pet":{"type":"cat"},"class":null}', VALUE)
    assert null.class_ is None
    assert b"first-name" not in serialize(null, VALUE)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"id": "x"}, DatumRefused),
        ({"id": UNSET}, DatumMismatch),
        ({"extra": {"first-name": 1}}, DatumMismatch),
        ({"extra": {"z": "x"}}, DatumRefused),
        ({"kind": "cat"}, DatumRefused),
    ],
)
def test_a_record_that_is_no_such_json_is_refused(
    people: Any, client: RegistryClient, change: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        JSONSerializer(people.Person, client)(whole(people, **change), VALUE)
    with pytest.raises(DatumMismatch):
        JSONSerializer(people.Person, client)({"id": 1}, VALUE)


@pytest.mark.parametrize(
    "payload", [b"{}", b"[]", b'{"id":1,"kind":"person","pet":{"type":"cow"}}', b'{"id":1,"kind":"person","pet":5}']
)
def test_json_that_fits_no_class_is_refused_without_the_validation_too(
    people: Any, client: RegistryClient, payload: bytes
) -> None:
    frame = JSONSerializer(people.Person, client)(whole(people), VALUE)[:5]
    for settings in ({"validate": False}, {}):
        with pytest.raises(PayloadError):
            JSONDeserializer(people.Person, schema_registry_client=client, conf=settings)(frame + payload, VALUE)


def test_an_older_class_drops_newer_properties(package: Package, client: RegistryClient) -> None:
    old = {"title": "Item", "type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    new = {**old, "properties": {**old["properties"], "n": {"type": "string", "default": "x"}}}  # type: ignore[dict-item]
    first, second = (package(files_of(schema, schema_type="JSON"))("main").Item for schema in (old, new))
    written = JSONSerializer(second, client)(second(id=1, n="y"), VALUE)
    assert JSONDeserializer(first, schema_registry_client=client)(written, VALUE) == first(id=1)
    written = JSONSerializer(first, client)(first(id=2), SerializationContext("older", "value"))
    assert JSONDeserializer(second, schema_registry_client=client)(written, VALUE) == second(id=2, n="x")
