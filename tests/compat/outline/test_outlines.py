"""Outlines of schemas, for the three types: literal trees."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat.budget import Budget, TooMuchWork
from compat.formats import make_outline, parse
from compat.outline_tree import Limits, OutlineNode
from compat.schema import AVRO, JSON, PROTOBUF, Dependency, Reference, SchemaText
from tests.compat.outline.checks import outline_of


def lines(node: OutlineNode, depth: int = 0) -> list[str]:
    """The tree, a line for each node: path, kind, type, default and what else it says."""
    more = {
        "doc": node.doc,
        "tags": node.tags,
        "number": node.number,
        "aliases": node.aliases,
        "attributes": dict(node.attributes),
        "reference": node.reference
        and [one for one in (node.reference.path, node.reference.subject, node.reference.version) if one is not None],
    }
    said = [f"{name}={value}" for name, value in more.items() if value not in (None, (), {})]
    default = [] if node.default is None else [f"= {node.default}"]
    optional = ["optional"] if node.optional else []
    line = " ".join([node.path or "/", node.kind, f"<{node.type}>", *default, *optional, *said])
    return [f"{'  ' * depth}{line}", *[line for child in node.children for line in lines(child, depth + 1)]]


def tree(schema_type: str, text: str, references: tuple[Reference, ...] = (), **dependencies: str) -> list[str]:
    texts = tuple(Dependency(reference.name, dependencies[reference.subject]) for reference in references)
    schema = parse(SchemaText(schema_type, text, references), texts, strict=True)
    return lines(make_outline(schema, references, Limits()).root)


FLIGHT = {
    "type": "record",
    "name": "Flight",
    "namespace": "nyc",
    "doc": "A departure",
    "aliases": ["Departure"],
    "fields": [
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}, "confluent:tags": ["PII"]},
        {"name": "left", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
        {"name": "fare", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "carrier", "type": {"type": "enum", "name": "Carrier", "symbols": ["UA", "AA"], "default": "UA"}},
        {"name": "legs", "type": {"type": "array", "items": {
            "type": "record", "name": "Leg", "fields": [
                {"name": "to", "type": "string", "aliases": ["dest"], "doc": "Where to"},
                {"name": "next", "type": ["null", "Leg"]},
                {"name": "by", "type": ["Carrier", "Leg", "other.Money"]},
            ]}}},
        {"name": "counts", "type": {"type": "map", "values": ["int", "null"]}, "order": "ignore"},
        {"name": "hash", "type": {"type": "fixed", "name": "MD5", "namespace": "x", "size": 16}},
        {"name": "paid", "type": "other.Money"},
        {"name": "big", "type": {"type": "long", "java": 1}, "default": 9223372036854775807},
    ],
}  # fmt: skip
MONEY = '{"type":"record","name":"Money","namespace":"other","fields":[{"name":"amount","type":"double"}]}'


def test_an_avro_schema() -> None:
    assert tree(AVRO, json.dumps(FLIGHT), (Reference("other.Money", "money", 2),), money=MONEY) == [
        "nyc.Flight record <record Flight> doc=A departure aliases=('nyc.Departure',)"
        " attributes={'namespace': '\"nyc\"'}",
        "  nyc.Flight.id field <uuid> tags=('PII',)",
        "  nyc.Flight.left field <null | timestamp-millis> = null optional",
        "  nyc.Flight.fare field <decimal(12, 2)>",
        "  nyc.Flight.carrier field <enum Carrier>",
        '    nyc.Carrier enum <enum Carrier> = "UA"',
        "      nyc.Carrier.UA symbol <>",
        "      nyc.Carrier.AA symbol <>",
        "  nyc.Flight.legs field <array of record Leg>",
        "    nyc.Leg record <record Leg>",
        "      nyc.Leg.to field <string> doc=Where to aliases=('dest',)",
        "      nyc.Leg.next field <null | record Leg> optional reference=['nyc.Leg']",
        "      nyc.Leg.by field <enum Carrier | record Leg | record other.Money>",
        "        nyc.Leg.by#nyc.Carrier reference <enum Carrier> reference=['nyc.Carrier']",
        "        nyc.Leg.by#nyc.Leg reference <record Leg> reference=['nyc.Leg']",
        "        nyc.Leg.by#other.Money reference <record other.Money> reference=['money', 2]",
        "  nyc.Flight.counts field <map<string, int | null>> attributes={'order': '\"ignore\"'}",
        "  nyc.Flight.hash field <fixed x.MD5(16)>",
        "    x.MD5 fixed <fixed x.MD5(16)> attributes={'namespace': '\"x\"', 'size': '16'}",
        "  nyc.Flight.paid field <record other.Money> reference=['money', 2]",
        "  nyc.Flight.big field <long> = 9223372036854775807 attributes={'type.java': '1'}",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"string"', ["/ type <string>"]),
        ('["null","int"]', ["/ type <null | int> optional"]),
        ('["int"]', ["/ type <union of int>"]),
        ("[]", ["/ type <union of nothing>"]),
        ('{"type":"array","items":["int","null"]}', ["/ type <array of (int | null)>"]),
        ('{"type":"int","logicalType":"uuid"}', ["/ type <int> attributes={'type.logicalType': '\"uuid\"'}"]),
    ],
)
def test_an_avro_schema_without_a_record(text: str, expected: list[str]) -> None:
    assert tree(AVRO, text) == expected


ORDER = """syntax = "proto3";
package acme;

import "acme/common/address.proto";
import "google/protobuf/timestamp.proto";

message Order {
  reserved 9, 20 to 22;
  reserved "old";
  int32 id = 1 [deprecated = true];
  optional string name = 2;
  repeated Line lines = 3;
  map<string, Line> by_sku = 4;
  acme.common.Address to = 5;
  google.protobuf.Timestamp at = 6;
  Status status = 7;
  oneof pay {
    string card = 10;
    int64 cash = 11;
  }
  message Line {
    Order parent = 1;
  }
  enum Status {
    UNKNOWN = 0;
    OPEN = 1;
  }
}
service Orders {
  rpc Get (Order) returns (stream Order.Line);
}
"""
ADDRESS = 'syntax = "proto3";\npackage acme.common;\nmessage Address { string street = 1; }\n'
TO_ADDRESS = (Reference("acme/common/address.proto", "address", 1),)


def test_a_protobuf_schema() -> None:
    assert tree(PROTOBUF, ORDER, TO_ADDRESS, address=ADDRESS) == [
        "/ file <> attributes={'syntax': '\"proto3\"'}",
        "  acme/common/address.proto import <> reference=['address', 1]",
        "  google/protobuf/timestamp.proto import <> reference=[]",
        "  acme.Order message <> attributes={'reserved': '9, 20 to 22, \"old\"'}",
        "    acme.Order.id field <int32> optional number=1 attributes={'deprecated': 'true'}",
        "    acme.Order.name field <optional string> optional number=2",
        "    acme.Order.lines field <repeated message Order.Line> optional number=3 reference=['acme.Order.Line']",
        "    acme.Order.by_sku field <map<string, message Order.Line>> optional number=4 reference=['acme.Order.Line']",
        "    acme.Order.to field <message acme.common.Address> optional number=5 reference=['address', 1]",
        "    acme.Order.at field <message google.protobuf.Timestamp> optional number=6 reference=[]",
        "    acme.Order.status field <enum Order.Status> optional number=7 reference=['acme.Order.Status']",
        "    acme.Order.pay oneof <>",
        "      acme.Order.card field <string> optional number=10",
        "      acme.Order.cash field <int64> optional number=11",
        "    acme.Order.Line message <>",
        "      acme.Order.Line.parent field <message Order> optional number=1 reference=['acme.Order']",
        "    acme.Order.Status enum <>",
        "      acme.Order.Status.UNKNOWN constant <> number=0",
        "      acme.Order.Status.OPEN constant <> number=1",
        "  acme.Orders service <>",
        "    acme.Orders.Get method <(message Order) returns (stream message Order.Line)>",
    ]


PROTO_2 = """syntax = "proto2";
import "confluent/meta.proto";
message M {
  option (confluent.message_meta).doc = "All of it";
  required int32 a = 1 [default = 7, (confluent.field_meta) = { tags: ["PII"], doc: "A number" }];
  optional group G = 2 {
    optional bool b = 1;
  }
  extensions 100 to 199;
}
extend M {
  optional string c = 100;
}
"""


def test_a_protobuf_schema_of_syntax_2() -> None:
    assert tree(PROTOBUF, PROTO_2) == [
        "/ file <> attributes={'syntax': '\"proto2\"'}",
        "  confluent/meta.proto import <> reference=[]",
        "  M message <> doc=All of it attributes={'extensions': '100 to 199'}",
        "    M.a field <required int32> = 7 doc=A number tags=('PII',) number=1",
        "    M.g field <optional group G> optional number=2",
        "      M.G.b field <optional bool> optional number=1",
        "  extend M c extend <message M> reference=['M']",
        "    c field <optional string> optional number=100",
    ]


CUSTOMER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Customer",
    "type": "object",
    "required": ["id", "nick"],
    "properties": {
        "id": {"type": "string", "format": "uuid", "description": "The id", "confluent:tags": ["PII"]},
        "email": {"type": ["string", "null"], "default": None, "maxLength": 99},
        "tags": {"type": "array", "items": {"type": "string"}},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer", "minimum": 1}]},
        "home": {"$ref": "#/$defs/Address"},
        "homes": {"type": "array", "items": {"$ref": "#/$defs/Address"}},
        "paid": {"anyOf": [{"type": "null"}, {"$ref": "money.json"}]},
        "color": {"enum": ["red", None]},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "either": {"oneOf": [{"$ref": "#/$defs/Address"}, {"$ref": "money.json#/definitions/Cents"}]},
        "any/thing": True,
    },
    "$defs": {"Address": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Address"}}}},
    "additionalProperties": False,
}


def test_a_json_schema() -> None:
    money = '{"type":"object","definitions":{"Cents":{"type":"integer"}}}'
    assert tree(JSON, json.dumps(CUSTOMER), (Reference("money.json", "money", 3),), money=money) == [
        "/ schema <object> attributes={'$schema': '\"https://json-schema.org/draft/2020-12/schema\"',"
        " 'title': '\"Customer\"', 'required': '[\"nick\"]', 'additionalProperties': 'false'}",
        "  /properties/id property <string (uuid)> doc=The id tags=('PII',)",
        "  /properties/email property <string | null> = null optional attributes={'maxLength': '99'}",
        "  /properties/tags property <array of string> optional",
        "  /properties/pair property <tuple of string, integer> optional",
        "    /properties/pair/prefixItems/1 schema <integer> attributes={'minimum': '1'}",
        "  /properties/home property <Address> optional reference=['/$defs/Address']",
        "  /properties/homes property <array of Address> optional reference=['/$defs/Address']",
        "  /properties/paid property <null | money.json> optional reference=['money', 3]",
        "  /properties/color property <enum> optional",
        "    /properties/color/enum/0 value <>",
        "    /properties/color/enum/1 value <>",
        "  /properties/counts property <map<string, integer>> optional",
        "  /properties/either property <one of Address, Cents> optional",
        "    /properties/either/oneOf/0 schema <Address> reference=['/$defs/Address']",
        "    /properties/either/oneOf/1 schema <Cents> reference=['money', 3]",
        "  /properties/any~1thing property <any> optional",
        "  /$defs/Address definition <object>",
        "    /$defs/Address/properties/next property <Address> optional reference=['/$defs/Address']",
    ]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (True, "any"),
        (False, "never"),
        ({}, "any"),
        ({"minLength": 2}, "string"),
        ({"type": ["integer"]}, "any of integer"),
        ({"const": 7}, "const 7"),
        ({"type": "string", "enum": ["a"]}, "enum of string"),
        ({"not": {"type": "null"}}, "not null"),
        ({"allOf": [{"type": "integer"}, {"type": ["integer", "string"]}]}, "all of integer, (integer | string)"),
        ({"if": {"type": "null"}}, "conditional"),
        ({"type": "array", "items": [{"type": "null"}], "additionalItems": {}}, "tuple of null, then any"),
    ],
)
def test_a_json_schema_in_words(schema: Any, words: str) -> None:
    assert outline_of(parse(SchemaText(JSON, json.dumps(schema)))).root.type == words


def test_positions_are_those_of_the_text() -> None:
    schema = parse(SchemaText(PROTOBUF, ORDER, TO_ADDRESS), (Dependency("acme/common/address.proto", ADDRESS),))
    places = {node.path: node.at and (node.at.line, node.at.column) for node in outline_of(schema).root.walk()}
    assert places[""] == (2, 1)
    assert places["acme.Order.name"] == (11, 3)
    assert places["acme.Order.cash"] == (19, 5)
    assert places["acme.Orders.Get"] == (30, 3)
    # A descriptor has no lines.
    described = parse(SchemaText(PROTOBUF, schema.rendered("serialized")), ())
    assert {node.at for node in outline_of(described).root.walk()} == {None}


def test_a_large_outline_is_cut_and_says_so() -> None:
    fields = [{"name": f"f{index}", "type": "int"} for index in range(30)]
    schema = parse(SchemaText(AVRO, json.dumps({"type": "record", "name": "R", "fields": fields})))
    whole, cut = outline_of(schema, Limits(31)), outline_of(schema, Limits(30))
    assert (whole.nodes, whole.is_cut) == (31, False)
    assert (cut.nodes, cut.is_cut, len(cut.root.children)) == (30, True, 29)
    with pytest.raises(TooMuchWork):
        outline_of(schema, Limits(31, Budget(200)))


def nested(depth: int) -> list[tuple[str, str]]:
    avro, schema, array = '"int"', '{"type":"string","minLength":1}', '"int"'
    for level in range(depth):
        avro = f'{{"type":"record","name":"R{level}","fields":[{{"name":"a","type":{avro}}}]}}'
        schema = f'{{"not":{schema}}}'
        array = f'{{"type":"array","items":{array}}}'
    return [(AVRO, avro), (JSON, schema), (AVRO, array)]


@pytest.mark.parametrize(("schema_type", "text"), [nested(60)[0], nested(190)[1], nested(190)[2]])
def test_a_deep_schema_has_an_outline(schema_type: str, text: str) -> None:
    outline = outline_of(parse(SchemaText(schema_type, text)))
    assert not outline.is_cut
    assert json.dumps(outline.tree_json()).count('"path"') == outline.nodes
