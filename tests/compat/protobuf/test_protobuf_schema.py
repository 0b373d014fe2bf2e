"""A Protobuf schema as the registry and the serdes use it."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.timestamp_pb2 import Timestamp

from compat.engine import Previous, check
from compat.formats import FORMATS
from compat.level import LEVELS
from compat.protobuf import FORMAT, ProtobufSchema
from compat.protobuf.link import linker
from compat.schema import PROTOBUF, Dependency, InvalidSchema, ParsedSchema, Position, SchemaText

P3 = 'syntax = "proto3";\n'


def parsed(text: str, *dependencies: tuple[str, str], strict: bool = True) -> ProtobufSchema:
    schema = FORMAT.parse(
        SchemaText(PROTOBUF, text), tuple(Dependency(*dependency) for dependency in dependencies), strict
    )
    assert isinstance(schema, ProtobufSchema)
    return schema


def test_an_edition_that_the_installed_protobuf_cannot_link_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(linker, "RUNTIME", (6, 31))
    assert parsed('edition = "2023"; message M { int32 a = 1; }').linked.proto.edition == 1000
    with pytest.raises(InvalidSchema) as refused:
        parsed('edition = "2024"; export message M { int32 a = 1; }').descriptor()
    assert refused.value.detail == (
        'line 1, column 1: edition "2024" needs the Python package protobuf 6.32 or newer; this is 6.31'
    )


@pytest.mark.skipif(linker.RUNTIME < (6, 32), reason="protobuf links edition 2024 from 6.32")
def test_symbols_of_edition_2024_are_exported_or_local():
    schema = parsed('edition = "2024"; export message M { local enum E { A = 0; } } message N {}')
    proto = schema.linked.proto
    assert [message.visibility for message in proto.message_type] == [2, 0]
    assert proto.message_type[0].enum_type[0].visibility == 1


ORDER = (
    P3
    + """package shop;
message Order {
  string id = 1;
  oneof payment { string card = 2; }
  int32 grams = 3;
  map<string, Line> lines = 4;
  message Line { message Part {} }
  message Other {}
}
message Second { int32 a = 1; }
enum Status { UNKNOWN = 0; }
"""
)


def test_a_protobuf_schema_implements_the_parsed_schema_protocol():
    schema = parsed(ORDER)
    assert isinstance(schema, ParsedSchema)
    assert (schema.schema_type, schema.source) == ("PROTOBUF", ORDER)
    assert FORMATS[PROTOBUF] is FORMAT


@pytest.mark.parametrize(
    ("text", "full_name", "fields"),
    [
        (ORDER, "shop.Order", ("id", "card", "grams", "lines")),
        (P3 + "message M {}", "M", ()),
        (P3 + "package p; enum E { A = 0; }", "p.E", ()),
        (P3 + "enum E { A = 0; } message M { int32 a = 1; }", "M", ("a",)),
        (P3, None, ()),
    ],
)
def test_names(text: str, full_name: str | None, fields: tuple[str, ...]):
    schema = parsed(text)
    assert schema.full_name == full_name
    assert schema.top_level_fields == fields


@pytest.mark.parametrize(
    ("name", "indexes"),
    [
        ("shop.Order", (0,)),
        ("shop.Second", (1,)),
        ("shop.Order.Line", (0, 0)),
        ("shop.Order.Other", (0, 1)),
        ("shop.Order.Line.Part", (0, 0, 0)),
    ],
)
def test_message_indexes(name: str, indexes: tuple[int, ...]):
    schema = parsed(ORDER)
    assert schema.message_indexes(name) == indexes
    assert schema.message_name(indexes) == name


@pytest.mark.parametrize("indexes", [(), (2,), (-1,), (0, 2), (1, 0)])
def test_invalid_message_indexes(indexes: tuple[int, ...]):
    with pytest.raises(IndexError):
        parsed(ORDER).message_name(indexes)


def test_a_missing_message():
    with pytest.raises(KeyError):
        parsed(ORDER).message_indexes("shop.Order.LinesEntry")


def test_message_classes_come_from_the_pool_of_the_schema():
    schema = parsed(
        P3 + 'import "google/protobuf/timestamp.proto"; import "a/b.proto";'
        " message M { google.protobuf.Timestamp at = 1; b.B b = 2; }",
        ("a/b.proto", P3 + "package b; message B { int32 x = 1; }"),
    )
    message = schema.message_class("M").FromString(
        b"\x0a\x02\x08\x07\x12\x02\x08\x05"  # at { seconds: 7 } b { x: 5 }
    )
    assert (message.at.seconds, message.b.x) == (7, 5)
    assert Timestamp(seconds=7).SerializeToString() == message.at.SerializeToString()
    file, pool = schema.descriptor()
    assert file.name == "default"
    assert pool.FindMessageTypeByName("b.B") is message.b.DESCRIPTOR


def test_a_reference_may_be_named_as_the_schema_itself():
    schema = parsed(P3 + 'import "default"; message M { D d = 1; }', ("default", P3 + "message D {}"))
    assert schema.linked.file.name == "default.proto"


def test_serialized_is_the_descriptor_and_comes_back():
    schema = parsed(ORDER)
    text = schema.rendered("SERIALIZED")
    descriptor = FileDescriptorProto.FromString(base64.b64decode(text))
    assert descriptor.name == "default"
    assert [field.name for field in descriptor.message_type[0].field] == ["id", "card", "grams", "lines"]
    assert not descriptor.message_type[0].field[0].HasField("json_name")
    again = parsed(text)
    assert again.rendered("serialized") == text
    assert again.normalized() == schema.normalized()
    assert again.message_indexes("shop.Order.Other") == (0, 2)
    # map entries are messages there, and take part in the order
    assert {difference.rule.name for difference in FORMAT.differences(again, schema)} == {"MESSAGE_MOVED"}
    assert FORMAT.locate(again, ("Order",)) is None


MAP_ENTRY = (
    P3
    + """
message M {
  repeated .M.AEntry a = 1;

  message AEntry {
    option map_entry = true;
~~~~
    string key = 1;
    int32 value = 2;
  }
}
""".replace("~~~~", "  ")
)


def test_map_entries_of_a_descriptor_stay_messages():
    descriptor = base64.b64decode(parsed(P3 + "message M { map<string, int32> a = 1; }").rendered("serialized"))
    schema = parsed(base64.encodebytes(descriptor).decode())  # with line breaks
    assert schema.canonical == MAP_ENTRY
    assert parsed(schema.canonical).linked.proto == schema.linked.proto
    assert "map<string, int32> a = 1;" in schema.normalized()


def test_groups_defaults_and_custom_options_of_a_descriptor():
    text = """syntax = "proto2";

import "google/protobuf/descriptor.proto";

message M {
  optional string a = 1 [
    (note) = "n",
    default = "x\\n\\"é"
  ];
  optional bytes b = 2 [default = "\\377\\000"];
  optional double c = 3 [default = -inf];
  optional .E d = 4 [default = B];

  optional group G = 5 {
    optional int32 x = 1;
  }

  extensions 100 to max;

  extend .M {
    optional int32 e = 100;
  }
}
enum E {
  reserved 5 to 9;
  reserved "GONE";
  A = 0;
  B = 1 [deprecated = true];
}

extend .google.protobuf.FieldOptions {
  optional string note = 50001;
}
"""
    schema = parsed(text)
    assert schema.canonical == text
    again = parsed(schema.rendered("serialized"))
    # extensions come back by their full names, and the kinds of reserved values apart
    assert again.canonical == text.removeprefix('syntax = "proto2";\n')
    assert again.linked.proto.message_type == schema.linked.proto.message_type


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"default_value": "1]; evil = 2 ["}, "has a default value that is none"),
        ({"name": "a b"}, "a name that is none"),
        ({"type": 0}, "has no type"),
        ({"type_name": "x y", "type": 11}, "a name that is none"),
        ({"oneof_index": 3}, "is in a oneof that does not exist"),
    ],
)
def test_the_parser_refuses_descriptors_without_a_textual_form(change: dict[str, Any], message: str):
    descriptor = FileDescriptorProto(name="x")
    field = descriptor.message_type.add(name="M").field.add(name="a", number=1, label=1, type=5)
    for name, value in change.items():
        if value:
            setattr(field, name, value)
        else:
            field.ClearField(name)
    text = base64.b64encode(descriptor.SerializeToString()).decode()
    with pytest.raises(InvalidSchema, match=message):
        parsed(text, strict=False)


def test_ignore_extensions():
    text = """
import "confluent/meta.proto"; import "google/protobuf/descriptor.proto";
option (mark) = 1; option java_package = "p";
message M { extensions 5; extend M { optional int32 e = 5; }
  optional int32 a = 1 [(mark2) = 1, (confluent.field_meta).doc = "d", deprecated = true]; }
extend google.protobuf.FileOptions { optional int32 mark = 50001; }
extend google.protobuf.FieldOptions { optional int32 mark2 = 50001; }
"""
    assert (
        parsed(text).rendered("ignore_extensions")
        == """
import "confluent/meta.proto";
import "google/protobuf/descriptor.proto";

option java_package = "p";

message M {
  optional int32 a = 1 [
    (confluent.field_meta).doc = "d",
    deprecated = true
  ];
}
"""
    )


def test_an_unknown_form_is_the_canonical_text():
    schema = parsed(ORDER)
    assert schema.rendered("resolved") == schema.rendered("") == schema.canonical


@pytest.mark.parametrize(
    ("text", "detail", "position"),
    [
        (P3 + "message M {\n  X x = 1;\n}", 'line 3, column 3: "X" is not defined', Position(3, 3)),
        (P3 + "message M { int32 x = 1;\nint32 x = 2; }", 'line 3, column 1: "M.x" is already defined', Position(3, 1)),
        (
            P3 + "message M { int32 a = 1; int32 b = 1; }",
            'line 2, column 26: field number 1 is already used in "M" by field "a"',
            Position(2, 26),
        ),
        (
            P3 + 'import "x.proto"; message M { x.X x = 1; }',
            'line 2, column 31: "x.X" is not defined; the import "x.proto" was not found: no reference has this name',
            Position(2, 31),
        ),
        (
            P3 + "message M { int32 a = 19500; }",
            "line 2, column 13: field numbers 19000 through 19999 are reserved for the protocol buffer library",
            Position(2, 13),
        ),
    ],
)
def test_only_new_schemas_must_link(text: str, detail: str, position: Position):
    with pytest.raises(InvalidSchema) as caught:
        parsed(text)
    assert (caught.value.detail, caught.value.position) == (detail, position)
    assert parsed(text, strict=False).canonical


def test_faults_of_a_reference_name_the_reference():
    with pytest.raises(InvalidSchema, match=r'in the reference "a.proto": Syntax error at line 1, column 9'):
        parsed(P3 + 'import "a.proto";', ("a.proto", "message {}"))
    with pytest.raises(InvalidSchema, match=r'a.proto line 2, column 13: "X" is not defined'):
        parsed(P3 + 'import "a.proto";', ("a.proto", P3 + "message M { X x = 1; }"))


def test_the_parser_refuses_circular_imports():
    with pytest.raises(InvalidSchema, match=r'the import "a.proto" was not found'):
        parsed(
            P3 + 'import "a.proto";',
            ("a.proto", P3 + 'import "b.proto";'),
            ("b.proto", P3 + 'import "a.proto";'),
        )


def test_types_are_visible_through_public_imports_only():
    files = (("c.proto", P3 + "message C {}"), ("b.proto", P3 + 'import public "c.proto";'))
    text = P3 + 'import "b.proto"; message M { C c = 1; }'
    assert parsed(text, *files).linked.remarks == ()
    remarks = parsed(text, files[0], ("b.proto", P3 + 'import "c.proto";')).linked.remarks
    assert [remark.message for remark in remarks] == ['"C" is declared in "c.proto", which is not imported']


def test_long_chains_of_imports():
    files = [(f"{i}.proto", P3 + f'import public "{i + 1}.proto"; message M{i} {{}}') for i in range(800)]
    files.append(("800.proto", P3 + "message Last {}"))
    assert parsed(P3 + 'import "0.proto"; message M { Last l = 1; }', *files).normalized()


def test_locate():
    schema = parsed("\n" + ORDER.replace("package", " package"))
    assert FORMAT.locate(schema, ()) == Position(3, 2)
    assert FORMAT.locate(schema, ("Order", "payment")) == Position(6, 3)
    assert FORMAT.locate(schema, ("Order", 2)) == Position(6, 19)
    assert FORMAT.locate(schema, ("Order", "Line", "Part")) == Position(9, 18)
    assert FORMAT.locate(schema, ("Status", 0)) == Position(13, 15)
    assert FORMAT.locate(schema, ("Order", 9)) is None


def test_the_engine_checks_protobuf():
    old = parsed(P3 + "message M {\n  string a = 1;\n}")
    new = parsed(P3 + "message M {\n  int32 a = 1;\n}")
    verdict = check(new, [Previous(1, old)], LEVELS["BACKWARD"])
    assert verdict.messages[0] == (
        '{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"The kind of a SCALAR field at path \'#/M/1\''
        ' in the new schema does not match its kind in the old schema"}'
    )
    told = verdict.incompatibilities[0]
    assert (told.new_at, told.old_at) == (Position(3, 3), Position(3, 3))
    assert told.change == "The field a is of type int32 in the new schema and string in the old schema."
    assert told.remedy == "Keep string or change to a type that is encoded alike (string, bytes)."
    forward = check(new, [Previous(1, old)], LEVELS["FORWARD"]).incompatibilities[0]
    assert forward.change == "The field a is of type string in the old schema and int32 in the new schema."


def test_json_names_that_proto2_lets_pass_can_still_be_used():
    schema = parsed('syntax = "proto2"; message M { optional int32 a_b = 1; optional int32 aB = 2; }')
    message = schema.message_class()(a_b=1, aB=2)
    assert message.SerializeToString() == b"\x08\x01\x10\x02"
