"""Remarks of decoders to JSON on a message that its JSON does not show."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from compat.schema import SchemaText
from serdes.client.clients import RegistryClient
from serdes.text import TextOptions, text_form
from serdes.text.field_reader import FieldReader
from serdes.text.remark import Remark, Remarks


def examined(
    schema_type: str, schema: Any, payload: bytes, reader: Any = None, conf: Mapping[str, Any] | None = None
) -> list[tuple[str, str, str]]:
    """The remarks on a payload that can be decoded, as tuples."""
    texts = [text if isinstance(text, str) else json.dumps(text) for text in (schema, reader)]
    writer, target = [(SchemaText(schema_type, text), ()) for text in texts]
    form = text_form(schema_type)
    config = form.reading.load(conf or {})
    remarks = form.examiner(writer, target if reader else None, config, TextOptions(plain_unions=True))(payload, 0)
    return [(remark.path, remark.kind, remark.text) for remark in remarks.listed]


PART = """syntax = "proto3"; package acme;
import "google/protobuf/any.proto"; import "google/protobuf/timestamp.proto";
message Part { int32 count = 1; int64 total = 2; string name = 3; bytes raw = 4; Kind kind = 5; optional int32 door = 6;
  repeated Part parts = 7; map<string, Part> by_name = 8; google.protobuf.Timestamp at = 9;
  google.protobuf.Any any = 10; enum Kind { NONE = 0; SOME = 1; } }
"""
OLD = """syntax = "proto2"; package acme;
message Old { optional Kind kind = 1; optional int32 size = 2 [default = 7]; repeated Kind kinds = 3;
  map<string, Kind> by_name = 4; extensions 100 to 200; enum Kind { ZERO = 0; ONE = 1; } }
"""
#: All fields without presence, set.
SET = b"\x08\1\x10\1\x1a\1x\x22\1x\x28\1"
NOT_SET = [
    ("count", "0"),
    ("total", '"0"'),
    ("name", '""'),
    ("raw", '""'),
    ("kind", '"NONE"'),
]


def field(number: int, content: bytes) -> bytes:
    """A field with a length."""
    return bytes([number << 3 | 2, len(content)]) + content


def defaults(path: str, *names: str) -> list[tuple[str, str, str]]:
    """The remarks on fields of a Part that are not set; by default on all."""
    return [
        (f"{path}.{name}", "default", f"the message has no value other than the default, {default}")
        for name, default in NOT_SET
        if not names or name in names
    ]


def unknown(path: str, text: str) -> tuple[str, str, str]:
    return path, "unknown-field", text


@pytest.mark.parametrize(
    ("payload", "remarks"),
    [
        (SET, []),
        (b"", defaults("$")),
        (SET[2:], defaults("$", "count")),
        # A field with presence and a Timestamp are not shown unless the message has them.
        (SET + b"\x30\0" + field(9, b""), []),
        (SET + field(9, b"\x18\1"), [unknown("$.at.3", "the schema has no field 3 (varint: 1)")]),
        (
            SET + b"\x88\1\5\x88\1\6\x92\1\2hi",
            [
                unknown("$.17", "the schema has no field 17 (varint: 5, 2 times)"),
                unknown("$.18", "the schema has no field 18 (bytes with a length: 2 bytes, 68 69)"),
            ],
        ),
        (
            SET[2:] + field(1, b"x"),
            [
                unknown("$.count", "field 1 has another type than in the schema (bytes with a length: 1 bytes, 78)"),
                *defaults("$", "count"),
            ],
        ),
        (
            SET + field(7, b"") + field(7, SET + b"\x58\7"),
            [unknown("$.parts[1].11", "the schema has no field 11 (varint: 7)"), *defaults("$.parts[0]")],
        ),
        (SET + field(8, field(1, b"k") + field(2, b"")), defaults("$.byName.k")),
        (
            SET + field(10, field(1, b"type.googleapis.com/acme.Part") + field(2, SET + b"\x58\1")),
            [unknown("$.any.11", "the schema has no field 11 (varint: 1)")],
        ),
    ],
)
def test_protobuf(payload: bytes, remarks: list[tuple[str, str, str]]) -> None:
    assert examined("PROTOBUF", PART, b"\0" + payload) == remarks


@pytest.mark.parametrize(
    ("payload", "remarks"),
    [
        (b"", []),
        (b"\x08\7", [unknown("$.kind", "field 1 has a value that its enum does not have (varint: 7)")]),
        (b"\x18\1\x18\7", [unknown("$.kinds", "field 3 has a value that its enum does not have (varint: 7)")]),
        (
            field(4, field(1, b"k") + b"\x10\7"),
            [
                unknown(
                    "$.byName",
                    "field 4 has an entry whose value its enum does not have "
                    "(bytes with a length: 5 bytes, 0a 01 6b 10 07)",
                )
            ],
        ),
        (b"\xa0\6\1", [unknown("$.100", "the schema has no field 100 (varint: 1)")]),
    ],
)
def test_protobuf_of_proto2(payload: bytes, remarks: list[tuple[str, str, str]]) -> None:
    assert examined("PROTOBUF", OLD, b"\0" + payload) == remarks


def not_examined(reason: str) -> tuple[str, str, str]:
    return "$", "not-examined", f"the value was not validated: {reason}"


def double(path: str, count: int) -> tuple[str, str, str]:
    return path, "double-key", f"the object has this key {count} times; most readers use the last of its values"


@pytest.mark.parametrize(
    ("schema", "text", "remarks"),
    [
        (True, '{"a":1,"b":[{"a":1}]}', []),
        (True, "", []),
        (True, '{"a":1,"b":2,"\\u0061":3,"a":null}', [double("$.a", 3)]),
        (
            True,
            '[{"c":{"a":1,"a":2}},{"c":0,"c":{"b":1,"b":2}}]',
            [double("$[0].c.a", 2), double("$[1].c", 2), double("$[1].c.b", 2)],
        ),
        (
            True,
            '{"a":' + "9" * 5000 + ',"a":1e999}',
            [
                double("$.a", 2),
                not_examined("a number of more than 4300 digits: line 1 column 6 (char 5)"),
            ],
        ),
        ({"type": "object"}, "[1]", [("$", "violation", 'the array is not of type "object"')]),
        (
            {"properties": {"n": {"maximum": 3}}},
            '{"n":4,"n":5}',
            [("$.n", "violation", "5 is greater than the maximum of 3"), double("$.n", 2)],
        ),
        (
            {"$ref": "elsewhere.json"},
            "1",
            [
                not_examined(
                    "JSON schema cannot be compiled: unresolved reference 'elsewhere.json': "
                    "no reference is named 'elsewhere.json', and schemas are never fetched from the network"
                )
            ],
        ),
    ],
)
def test_json(schema: Any, text: str, remarks: list[tuple[str, str, str]]) -> None:
    assert examined("JSON", schema, text.encode()) == remarks


WRITER = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "string"}]}
READER = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "a", "type": "int"}, {"name": "c", "type": "int", "default": 5}],
}


def of(schema: Any) -> Any:
    return {"type": "array", "items": ["null", schema]}


@pytest.mark.parametrize(
    ("writer", "reader", "payload", "remarks"),
    [
        (WRITER, None, b"\2\2x", []),
        (
            WRITER,
            READER,
            b"\2\2x",
            [
                ("$.b", "skipped-field", "the reader's schema has no such field"),
                ("$.c", "default", "the writer's schema has no such field; this is the default of the reader's"),
            ],
        ),
        (
            of(WRITER),
            of(READER),
            b"\4\0\2\2\2x\0",
            [
                ("$[1].b", "skipped-field", "the reader's schema has no such field"),
                ("$[1].c", "default", "the writer's schema has no such field; this is the default of the reader's"),
            ],
        ),
        (
            {"type": "map", "values": "int"},
            None,
            b"\6\2k\2\2l\4\2k\6\0",
            [("$['k']", "double-key", "the map has this key more than once; the last of its values is shown")],
        ),
        ('"bytes"', None, b"abc", []),
    ],
)
def test_avro(writer: Any, reader: Any, payload: bytes, remarks: list[tuple[str, str, str]]) -> None:
    assert examined("AVRO", writer, payload, reader) == remarks


def test_remarks_have_limits() -> None:
    remarks = Remarks()
    for index in range(150):
        remarks.add(f"$[{index}]", "default", "d")
    remarks.add("$." + "p" * 400, "violation", "t" * 600)
    assert remarks.listed[0] == Remark("$." + "p" * 297 + "…", "violation", "t" * 499 + "…")
    assert [remark.path for remark in remarks.listed[1:]] == [f"$[{index}]" for index in range(99)]
    assert remarks.left_out == 51


def test_the_consumer_prints_remarks_on_request() -> None:
    client = RegistryClient("mock://remarks")
    first, _ = [client.register("t-value", SchemaText("AVRO", json.dumps(text))) for text in (WRITER, READER)]
    message = b"\0" + first.id.to_bytes(4, "big") + b"\2\2x"
    lines = {
        with_remarks: FieldReader(
            client, "value", "AVRO", {"use.latest.version": True}, with_remarks=with_remarks
        ).text(message, "t", None)
        for with_remarks in (False, True)
    }
    assert lines[False] == b'{"a":1,"c":5}'
    text, remarks = lines[True].split(b"\t")
    assert text == lines[False]
    assert json.loads(remarks) == [
        {"path": "$.b", "kind": "skipped-field", "text": "the reader's schema has no such field"},
        {
            "path": "$.c",
            "kind": "default",
            "text": "the writer's schema has no such field; this is the default of the reader's",
        },
    ]
