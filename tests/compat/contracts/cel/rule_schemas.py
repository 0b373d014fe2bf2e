"""A schema of each format with all kinds of fields, and its types in CEL."""

from __future__ import annotations

import json
from typing import Any

from compat.contracts.cel.schema_types.types import schema_types
from compat.schema import AVRO, JSON, PROTOBUF, SchemaText

LINE = {
    "type": "record",
    "name": "Line",
    "fields": [{"name": "no", "type": "int"}, {"name": "price", "type": "double"}],
}
PERSON: dict[str, Any] = {
    "type": "record",
    "name": "Person",
    "namespace": "a.b",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": "string"},
        {"name": "nick", "type": ["null", "string"], "default": None},
        {"name": "pay", "type": "double"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "hour", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "tick", "type": {"type": "long", "logicalType": "time-micros"}},
        {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        {"name": "boss", "type": ["null", "Person"], "default": None},
        {"name": "lines", "type": {"type": "array", "items": LINE}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {"name": "grid", "type": {"type": "array", "items": {"type": "array", "items": "int"}}},
        {"name": "notes", "type": ["null", {"type": "array", "items": "string"}], "default": None},
        {"name": "any", "type": ["null", "string", "int", "Line"], "default": None},
        {"name": "first-name", "type": "string", "default": "Ada"},
        {"name": "raw", "type": "bytes", "default": "\u00ff"},
        {"name": "in", "type": "int", "default": 5},
    ],
}
ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "pay": {"type": "number"},
        "kind": {"enum": ["A", "B"]},
        "mixed": {"enum": ["A", 1]},
        "one": {"const": 1},
        "nick": {"type": ["string", "null"]},
        "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "maybe": {"anyOf": [{"type": "null"}, {"$ref": "#/definitions/Address"}]},
        "address": {"$ref": "#/definitions/Address"},
        "both": {"allOf": [{"$ref": "#/definitions/Address"}, {"properties": {"street": {"type": "string"}}}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]},
        "open": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "sub": {"$ref": "#"},
    },
    "required": ["id"],
    "definitions": {"Address": {"type": "object", "title": "Address", "properties": {"zip": {"type": "string"}}}},
}
NOTE = """
syntax = "proto3";
package a.b;
import "google/protobuf/timestamp.proto";
import "confluent/type/decimal.proto";
message Note {
  int64 id = 1;
  string name = 2;
  optional string nick = 3;
  uint32 count = 4;
  Kind kind = 5;
  Note next = 6;
  repeated Line lines = 7;
  map<string, int32> counts = 8;
  google.protobuf.Timestamp at = 9;
  confluent.type.Decimal price = 10;
  oneof either { string text = 11; int32 number = 12; }
  bytes raw = 13;
  enum Kind { A = 0; B = 1; }
  message Line { int32 no = 1; }
}
message Other { bool flag = 1; }
"""
SCHEMAS = {
    AVRO: SchemaText(AVRO, json.dumps(PERSON)),
    JSON: SchemaText(JSON, json.dumps(ORDER)),
    PROTOBUF: SchemaText(PROTOBUF, NOTE),
}
TYPES = {kind: schema_types(schema) for kind, schema in SCHEMAS.items()}
