"""The changes between two schemas, row by row, and the rows of the rules' findings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat.budget import Budget
from compat.formats import parse
from compat.level import Policy
from compat.outline.compare import MOST_CHANGES, SchemaComparison, Side, compare
from compat.schema import AVRO, JSON, PROTOBUF, Dependency, Reference, SchemaText


def compared(schema_type: str, old: str, new: str, policy: Policy = Policy.STRICT) -> SchemaComparison:
    sides = [Side(parse(SchemaText(schema_type, text))) for text in (old, new)]
    return compare(*sides, policy)


def rows(comparison: SchemaComparison) -> list[str]:
    """A line for each row: kind, path, what differs, old -> new, and the findings."""
    said: list[str] = []
    for row in comparison.to_json()["changes"]:
        old, new = (side and f"{side['type']}{_default(side)}" for side in (row["old"], row["new"]))
        what = f" {','.join(row['what'])}:" if row["what"] else ""
        findings = "".join(f" [{one['rule']} {one['direction']}]" for one in row["findings"])
        said.append(f"{row['kind']} {row['path']}{what} {old} -> {new}{findings}")
    return said


def _default(side: Any) -> str:
    return "" if side["default"] is None else f" = {side['default']}"


def record(*fields: dict[str, Any], **more: Any) -> str:
    return json.dumps({"type": "record", "name": "Flight", "namespace": "nyc", "fields": fields, **more})


def field(name: str, kind: Any = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


YEAR, DISTANCE, DEST = field("year", "int"), field("distance", "int"), field("dest")
SOURCE = field("source", default="first")
WHEELS_UP = field("wheels_up", ["null", {"type": "long", "logicalType": "timestamp-millis"}], default=None)
ADDRESS = {"type": "record", "name": "Address", "fields": [field("street"), field("city")]}


ADDRESS_2 = ADDRESS | {"fields": [field("street"), field("city", "bytes")]}


def enum(*symbols: str, **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "Carrier", "symbols": symbols, **more}


AVRO_CASES = {
    "nycflights": (
        record(YEAR, DISTANCE, DEST),
        record(YEAR, field("distance", "long"), DEST, SOURCE, WHEELS_UP),
        [
            "changed nyc.Flight.distance type: int -> long [TYPE_MISMATCH FORWARD]",
            'added nyc.Flight.source None -> string = "first"',
            "added nyc.Flight.wheels_up None -> null | timestamp-millis = null",
        ],
        2,
    ),
    "and back": (
        record(YEAR, field("distance", "long"), SOURCE),
        record(YEAR, DISTANCE),
        [
            "changed nyc.Flight.distance type: long -> int [TYPE_MISMATCH BACKWARD]",
            'removed nyc.Flight.source string = "first" -> None',
        ],
        1,
    ),
    "renamed by an alias": (
        record(YEAR, DEST),
        record(YEAR, field("destination", aliases=["dest"])),
        ["renamed nyc.Flight.destination name,aliases: string -> string [READER_FIELD_MISSING_DEFAULT_VALUE FORWARD]"],
        1,
    ),
    "renamed without one": (
        record(DEST),
        record(field("destination")),
        [
            "removed nyc.Flight.dest string -> None [READER_FIELD_MISSING_DEFAULT_VALUE FORWARD]",
            "added nyc.Flight.destination None -> string [READER_FIELD_MISSING_DEFAULT_VALUE BACKWARD]",
        ],
        0,
    ),
    "renamed, and the old readers have the alias": (
        record(field("dest", aliases=["destination"])),
        record(field("destination")),
        ["renamed nyc.Flight.destination name,aliases: string -> string [READER_FIELD_MISSING_DEFAULT_VALUE BACKWARD]"],
        0,
    ),
    "a symbol goes": (
        record(field("carrier", enum("UA", "AA"))),
        record(field("carrier", enum("UA"))),
        ["removed nyc.Carrier.AA  -> None [MISSING_ENUM_SYMBOLS BACKWARD]"],
        1,
    ),
    "symbols come and go": (
        record(field("carrier", enum("UA", "AA", "B6"))),
        record(field("carrier", enum("UA", "WN", "DL"))),
        [
            "changed nyc.Carrier enum Carrier -> enum Carrier"
            " [MISSING_ENUM_SYMBOLS FORWARD] [MISSING_ENUM_SYMBOLS BACKWARD]",
            "removed nyc.Carrier.AA  -> None",
            "removed nyc.Carrier.B6  -> None",
            "added nyc.Carrier.WN None -> ",
            "added nyc.Carrier.DL None -> ",
        ],
        1,
    ),
    "one field of five moves": (
        record(*[field(name) for name in "abcde"]),
        record(*[field(name) for name in "acdeb"]),
        ["moved nyc.Flight.b place: string -> string"],
        4,
    ),
    "a default, a doc, a tag and an order": (
        record(field("a"), field("b"), field("c"), field("d")),
        record(
            field("a", default=""),
            field("b", doc="B"),
            field("c", **{"confluent:tags": ["PII"]}),
            field("d", order="ignore"),
        ),
        [
            'changed nyc.Flight.a default: string -> string = ""',
            "changed nyc.Flight.b doc: string -> string",
            "changed nyc.Flight.c tags: string -> string",
            "changed nyc.Flight.d attributes.order: string -> string",
        ],
        0,
    ),
    "a record moves to another use, and its change is told once": (
        record(field("home", ADDRESS), field("work", "Address")),
        record(
            field("also", ADDRESS_2, default={"street": "s", "city": ""}),
            field("home", "Address"),
            field("work", "Address"),
        ),
        [
            'added nyc.Flight.also None -> record Address = {"street":"s","city":""}',
            "changed nyc.Address.city type: string -> bytes [BYTES_TO_STRING FORWARD]",
        ],
        3,
    ),
    "a record comes with its fields": (
        record(YEAR),
        record(YEAR, field("home", ["null", ADDRESS], default=None)),
        ["added nyc.Flight.home None -> null | record Address = null"],
        1,
    ),
    "another name": (
        record(YEAR),
        record(YEAR, name="Departure"),
        [
            "renamed nyc.Departure name,type: record Flight -> record Departure"
            " [NAME_MISMATCH FORWARD] [NAME_MISMATCH BACKWARD]"
        ],
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", AVRO_CASES)
def test_avro(name: str) -> None:
    old, new, expected, unchanged = AVRO_CASES[name]
    comparison = compared(AVRO, old, new)
    assert (rows(comparison), comparison.unchanged) == (expected, unchanged)


def message(*lines: str, more: str = "") -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return f'syntax = "proto3";\npackage acme;\nmessage Order {{\n{body}}}\n{more}'


PROTOBUF_CASES = {
    "another number": (
        message("int32 id = 1;", "string name = 2;"),
        message("int32 id = 1;", "string name = 3;"),
        ["renumbered acme.Order.name number: string -> string [NUMBER_NOT_RESERVED FORWARD]"],
        1,
    ),
    "another name": (
        message("int32 id = 1;"),
        message("int32 key = 1;"),
        ["renamed acme.Order.key name: int32 -> int32 [NUMBER_REUSED FORWARD]"],
        0,
    ),
    "numbers that are swapped": (
        message("int32 a = 1;", "int32 b = 2;"),
        message("int32 a = 2;", "int32 b = 1;"),
        [
            "renamed acme.Order.a name: int32 -> int32 [NUMBER_REUSED FORWARD]",
            "renamed acme.Order.b name: int32 -> int32 [NUMBER_REUSED FORWARD]",
        ],
        0,
    ),
    "another type": (
        message("int32 id = 1;"),
        message("string id = 1;"),
        [
            "changed acme.Order.id type: int32 -> string"
            " [FIELD_SCALAR_KIND_CHANGED FORWARD] [FIELD_SCALAR_KIND_CHANGED BACKWARD]"
        ],
        0,
    ),
    "out of a oneof": (
        message("oneof pay { string card = 1; int64 cash = 2; }"),
        message("oneof pay { string card = 1; }", "int64 cash = 2;"),
        ["moved acme.Order.cash place: int64 -> int64 [FIELD_MOVED_TO_EXISTING_ONEOF FORWARD]"],
        1,
    ),
    "a constant comes, one gets another name": (
        message("Status s = 1;", more="enum Status { UNKNOWN = 0; OPEN = 1; }\n"),
        message("Status s = 1;", more="enum Status { UNKNOWN = 0; STARTED = 1; DONE = 2; }\n"),
        ["renamed acme.Status.STARTED name:  ->  [ENUM_NUMBER_REUSED FORWARD]", "added acme.Status.DONE None -> "],
        2,
    ),
    "another package": (
        message("int32 id = 1;"),
        message("int32 id = 1;").replace("acme", "shop"),
        ["renamed  name:  ->  [PACKAGE_CHANGED FORWARD] [PACKAGE_CHANGED BACKWARD]"],
        1,
    ),
    "a label": (
        message("int32 id = 1;"),
        message("repeated int32 id = 1 [packed = false];"),
        ["changed acme.Order.id type,attributes.packed: int32 -> repeated int32 [REPEATED_NUMBER_TO_SINGLE FORWARD]"],
        0,
    ),
}


@pytest.mark.parametrize("name", PROTOBUF_CASES)
def test_protobuf(name: str) -> None:
    old, new, expected, unchanged = PROTOBUF_CASES[name]
    comparison = compared(PROTOBUF, old, new)
    assert (rows(comparison), comparison.unchanged) == (expected, unchanged)


def test_another_name_of_an_enum_constant_is_a_caution() -> None:
    old, new, *_ = PROTOBUF_CASES["a constant comes, one gets another name"]
    [finding] = compared(PROTOBUF, old, new).findings
    assert (finding.difference.rule.name, finding.difference.rule.allowed) == ("ENUM_NUMBER_REUSED", frozenset(Policy))


def schema(properties: dict[str, Any], *required: str, **more: Any) -> str:
    drafted = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": properties}
    return json.dumps({**drafted, **({"required": required} if required else {}), **more})


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
PAIR = {"type": "array", "prefixItems": [TEXT, {"type": "integer", "minimum": 1}]}
WITH_HOME = {"home": {"$ref": "#/$defs/Address"}}

JSON_CASES = {
    "email is required, tags go": (
        schema({"id": TEXT, "email": TEXT, "tags": {"type": "array", "items": TEXT}}, "id", additionalProperties=False),
        schema({"id": TEXT, "email": TEXT}, "id", "email", additionalProperties=False),
        [
            "changed /properties/email optional: string -> string [REQUIRED_ATTRIBUTE_ADDED BACKWARD]",
            "removed /properties/tags array of string -> None [PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL BACKWARD]",
        ],
        1,
    ),
    "an item of a tuple": (
        schema({"pair": PAIR}),
        schema({"pair": {**PAIR, "prefixItems": [NUMBER, {"type": "integer", "minimum": 2}]}}),
        [
            "changed /properties/pair type: tuple of string, integer -> tuple of integer, integer"
            " [TYPE_CHANGED FORWARD] [TYPE_CHANGED BACKWARD]",
            "changed /properties/pair/prefixItems/1 attributes.minimum: integer -> integer"
            " [MINIMUM_INCREASED BACKWARD]",
        ],
        0,
    ),
    "a definition, told once for all its uses": (
        schema({**WITH_HOME, "work": WITH_HOME["home"]}, **{"$defs": {"Address": {"properties": {"zip": TEXT}}}}),
        schema({**WITH_HOME, "work": WITH_HOME["home"]}, **{"$defs": {"Address": {"properties": {"zip": NUMBER}}}}),
        [
            "changed /$defs/Address/properties/zip type: string -> integer"
            " [TYPE_CHANGED FORWARD] [TYPE_CHANGED FORWARD] [TYPE_CHANGED BACKWARD] [TYPE_CHANGED BACKWARD]"
        ],
        2,
    ),
    "a value of an enum": (
        schema({"color": {"enum": ["red", "green"]}}),
        schema({"color": {"enum": ["green", "red", "blue"]}}),
        ["added /properties/color/enum/2 None ->  [ENUM_ARRAY_NARROWED FORWARD]"],
        2,
    ),
    "the order of properties": (schema({"a": TEXT, "b": NUMBER}), schema({"b": NUMBER, "a": TEXT}), [], 2),
}


@pytest.mark.parametrize("name", JSON_CASES)
def test_json(name: str) -> None:
    old, new, expected, unchanged = JSON_CASES[name]
    comparison = compared(JSON, old, new)
    assert (rows(comparison), comparison.unchanged) == (expected, unchanged)


def field_paths(schema_type: str, old: str, new: str) -> list[str]:
    return [row["fieldPath"] for row in compared(schema_type, old, new).to_json()["changes"]]


def test_changes_have_paths_by_the_names_of_fields() -> None:
    def flight(*more: dict[str, Any], **root: Any) -> str:
        leg = {"type": "record", "name": "Leg", "fields": [field("from"), *more]}
        carrier = enum("AA", *(["UA"] if more else []))
        return record(
            field("route", {"type": "record", "name": "Route", "fields": [field("via", carrier), *more]}),
            field("legs", {"type": "array", "items": leg}),
            *more,
            **root,
        )

    added = field("min", "int", default=0)
    # Symbols of an enum are named by the field that has it, and the root has no path.
    expected = ["", "route.via.UA", "route.min", "legs[].min", "min"]
    assert field_paths(AVRO, flight(), flight(added, doc="new")) == expected
    assert field_paths(PROTOBUF, message("int32 id = 1;"), message("int64 id = 1;", "int32 min = 2;")) == [
        "Order.id",
        "Order.min",
    ]
    inner = {"type": "object", "properties": {"min": {"type": "integer", "minimum": 1}}}
    old = schema({"route": {"type": "object", "properties": {}}, "list": {"type": "array"}})
    new = schema({"route": inner, "list": {"type": "array", "items": inner}}, **{"$defs": {"Part": inner}})
    assert field_paths(JSON, old, new) == ["route.min", "list", "list[]", "Part"]


def test_the_policy_decides_which_changes_break() -> None:
    old, new = schema({"a": TEXT}), schema({"a": TEXT, "b": TEXT})
    strict, lenient = (compared(JSON, old, new, policy).to_json() for policy in (Policy.STRICT, Policy.LENIENT))
    assert (strict["policy"], strict["levels"]["BACKWARD"]) == ("STRICT", False)
    assert (lenient["policy"], lenient["levels"]["BACKWARD"]) == ("LENIENT", True)


def test_a_finding_without_a_place_has_a_row_of_its_own() -> None:
    texts = (
        f'{{"type":"record","name":"Far","fields":[{{"name":"a","type":"{kind}"}}]}}' for kind in ("int", "string")
    )
    reference = Reference("Far", "far", 1)
    sides = [
        Side(
            parse(SchemaText(AVRO, record(field("far", "Far"), namespace=""), (reference,)), (Dependency("Far", text),))
        )
        for text in texts
    ]
    answer = compare(*sides).to_json()
    assert [(row["kind"], row["path"], row["old"], row["new"], row["what"]) for row in answer["changes"]] == [
        ("changed", "/fields/0/type/fields/0/type", None, None, ()),
        ("changed", "/fields/0/type/fields/0/type", None, None, ()),
    ]
    assert [one["rule"] for row in answer["changes"] for one in row["findings"]] == ["TYPE_MISMATCH"] * 2
    assert answer["unchanged"] == 1


def test_another_version_of_a_reference_is_a_change() -> None:
    text, far = record(field("far", "Far"), namespace=""), '{"type":"fixed","name":"Far","size":1}'
    sides = [
        Side(parse(SchemaText(AVRO, text, (reference,)), (Dependency("Far", far),)), (reference,))
        for reference in (Reference("Far", "far", 1), Reference("Far", "far", 2))
    ]
    assert rows(compare(*sides)) == ["changed Flight.far reference: fixed Far(1) -> fixed Far(1)"]


def test_a_list_has_no_searches() -> None:
    old, new, *_ = AVRO_CASES["nycflights"]
    comparison = compared(AVRO, old, new)
    (searched,), (light,) = (
        comparison.to_json(searches=searches)["changes"][0]["findings"] for searches in (True, False)
    )
    assert searched["fixes"]
    assert json.loads(searched["example"]) == {"year": 0, "distance": 0, "dest": "", "source": "", "wheels_up": None}
    assert light == searched | {"fixes": [], "example": None, "exampleBytes": None, "effect": None}


def test_a_large_comparison_is_cut_and_says_so() -> None:
    count = MOST_CHANGES + 10
    names = [f"f{index}" for index in range(count)]
    old = record(*[field(name, doc="old") for name in names], field("last", "int"))
    new = record(*[field(name, doc="new") for name in names], field("last", "long"))
    sides = [Side(parse(SchemaText(AVRO, text))) for text in (old, new)]
    comparison = compare(*sides, budget=Budget(100_000_000))
    assert (comparison.is_cut, len(comparison.changes)) == (True, MOST_CHANGES)
    # Rows with findings are kept.
    assert rows(comparison)[-2:] == [
        "changed nyc.Flight.last type: int -> long [TYPE_MISMATCH FORWARD]",
        "changed / None -> None [NOT_EXAMINED BACKWARD]",
    ]
