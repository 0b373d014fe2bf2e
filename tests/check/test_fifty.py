"""A repository of 50 schemas of three types with references, and ten breaks in it."""

from __future__ import annotations

import json
from typing import Any

AVRO_EVENT = """{{
  "type": "record",
  "name": "Event{n}",
  "namespace": "shop.events",
  "fields": [
    {{"name": "id", "type": "long"}},
    {{"name": "state", "type": {{"type": "enum", "name": "State{n}", "symbols": ["OPEN", "CLOSED"]}}}},
    {{"name": "address", "type": ["null", "shop.common.Address"], "default": null}},
    {{"name": "note", "type": "string", "default": ""}}
  ]
}}
"""
AVRO_ADDRESS = """{
  "type": "record",
  "name": "Address",
  "namespace": "shop.common",
  "fields": [
    {"name": "street", "type": "string"},
    {"name": "zip", "type": "int"}
  ]
}
"""
JSON_FORM = """{{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "title": "Form{n}",
  "type": "object",
  "properties": {{
    "id": {{"type": "integer"}},
    "amount": {{"type": "number", "maximum": 100}},
    "phone": {{"$ref": "../common/phone.schema.json"}},
    "kind": {{"enum": ["a", "b", "c"]}}
  }},
  "required": ["id"],
  "additionalProperties": false
}}
"""
JSON_PHONE = '{\n  "type": "string",\n  "maxLength": 20\n}\n'
PROTO_ORDER = """syntax = "proto3";
package shop.orders{n};

import "common/money.proto";

message Order {{
  int64 id = 1;
  shop.common.Money total = 2;
  repeated Line lines = 3;
  oneof paid {{
    string card = 4;
    string transfer = 5;
  }}

  message Line {{
    string article = 1;
    uint32 pieces = 2;
  }}
}}
"""
PROTO_MONEY = """syntax = "proto3";
package shop.common;

message Money {
  int64 units = 1;
  string currency = 2;
}
"""

#: File, old text, new text, and the finding. A break of a type that many refer to is reported once, at the type.
BREAKS = [
    ("avro/event-3.avsc", '"name": "id", "type": "long"', '"name": "id", "type": "int"', "6:20 TYPE_MISMATCH"),
    ("avro/event-7.avsc", '"OPEN", "CLOSED"', '"OPEN"', "7:66 MISSING_ENUM_SYMBOLS"),
    (
        "avro/event-9.avsc",
        '"type": "string", "default": ""}\n',
        '"type": "string", "default": ""},\n    {"name": "by", "type": "string"}\n',
        "10:5 READER_FIELD_MISSING_DEFAULT_VALUE",
    ),
    ("avro/address.avsc", '"zip", "type": "int"', '"zip", "type": "string"', "7:21 TYPE_MISMATCH"),
    ("json/form-2.schema.json", '"maximum": 100', '"maximum": 50', "7:34 MAXIMUM_DECREASED"),
    ("json/form-5.schema.json", '"required": ["id"]', '"required": ["id", "kind"]', "11:3 REQUIRED_ATTRIBUTE_ADDED"),
    ("json/form-8.schema.json", '["a", "b", "c"]', '["a", "b"]', "9:14 ENUM_ARRAY_NARROWED"),
    ("proto/order-1.proto", "int64 id = 1;", "string id = 1;", "7:3 FIELD_SCALAR_KIND_CHANGED"),
    ("proto/order-4.proto", "    string transfer = 5;\n", "", "6:1 ONEOF_FIELD_REMOVED"),
    ("common/money.proto", "int64 units", "fixed64 units", "5:3 FIELD_SCALAR_KIND_CHANGED"),
]


def fill(project: Any) -> None:
    project.write("avro/address.avsc", AVRO_ADDRESS)
    project.write("common/phone.schema.json", JSON_PHONE)
    project.write("common/money.proto", PROTO_MONEY)
    for n in range(16):
        project.write(f"avro/event-{n}.avsc", AVRO_EVENT.format(n=n))
        project.write(f"json/form-{n}.schema.json", JSON_FORM.format(n=n))
    for n in range(15):
        project.write(f"proto/order-{n}.proto", PROTO_ORDER.format(n=n))


def test_check_finds_exactly_the_ten_breaks_among_fifty_schemas_at_their_lines(project: Any):
    fill(project)
    project.commit()
    assert project.places("--against", "git:main") == (0, [])
    project.git("checkout", "-q", "-b", "work")
    for file, old, new, _ in BREAKS:
        project.edit(file, old, new)
    # Harmless changes beside them.
    project.edit("avro/event-0.avsc", '"name": "note", "type": "string"', '"name": "note", "type": ["string", "int"]')
    project.edit("json/form-0.schema.json", '"maximum": 100', '"maximum": 200')
    project.edit("proto/order-0.proto", "int64 id = 1;", "int64 id = 1;\n  string note = 9;")
    project.commit()
    code, places = project.places("--against", "git:main")
    assert places == sorted(f"{file}:{place}" for file, _, _, place in BREAKS)
    assert code == 100
    out = project.run("check", "--against", "git:main", "--format", "json")[1]
    assert len(json.loads(out)["checked"]) == 50


def test_a_break_in_a_shared_reference_names_all_referrers(project: Any):
    fill(project)
    project.commit()
    project.edit("avro/address.avsc", '"zip", "type": "int"', '"zip", "type": "string"')
    _, (finding,) = project.check()
    assert sorted(finding["also"]) == sorted(f"event-{n}" for n in range(16))
