"""Texts that protoc refuses and the reference accepts: kept, passed over in the descriptor, told as warnings."""

from __future__ import annotations

import base64
import time

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from compat.protobuf import FORMAT, ProtobufSchema, check_fields
from compat.schema import PROTOBUF, Dependency, InvalidSchema, Position, SchemaText, SchemaWarning

P3 = 'syntax = "proto3";\n'
META = 'import "confluent/meta.proto";\n'
B = ("b.proto", P3 + "package b;\nmessage B { int32 x = 1; }")


def parsed(text: str, *dependencies: tuple[str, str]) -> ProtobufSchema:
    schema = FORMAT.parse(
        SchemaText(PROTOBUF, text), tuple(Dependency(*dependency) for dependency in dependencies), True
    )
    assert isinstance(schema, ProtobufSchema)
    return schema


def warnings(schema: ProtobufSchema) -> list[SchemaWarning]:
    assert FORMAT.warnings is not None
    return list(FORMAT.warnings(schema))


DECLARE = "Import the file that declares the option, and give it a reference."


def undeclared(name: str, line: int, column: int) -> SchemaWarning:
    message = f'nothing declares the option "({name})"'
    return SchemaWarning("UNDECLARED_OPTION", message, DECLARE, Position(line, column))


EVERYWHERE = """syntax = "proto3";

option (a) = "x";

message M {
  option (b).c = 1;

  string s = 1 [
    (buf.validate.field).string.min_len = 1,
    deprecated = true
  ];

  oneof o {
    option (d) = true;
~~~~
    int32 i = 2 [(e) = 1.5];
  }
}
enum E {
  option (f) = X;
  Z = 0 [(g) = "z"];
}

service S {
  option (h) = "h";

  rpc R (M) returns (M) {
    option (i) = {
      get: "/v1"
    };
  };
}
""".replace("~~~~", "  ")


def test_custom_options_that_nothing_declares_stay_in_the_text():
    schema = parsed(EVERYWHERE)
    assert [warning.message for warning in warnings(schema)] == [
        f'nothing declares the option "({name})"'
        for name in ("a", "b", "buf.validate.field", "d", "e", "f", "g", "h", "i")
    ]
    assert schema.canonical == EVERYWHERE
    assert parsed(schema.canonical).canonical == schema.canonical
    for option in ('(a) = "x"', "(b).c = 1", "(d) = true", '(g) = "z"'):
        assert option in schema.normalized()
    # the options that are declared still count, and the messages can be used
    assert schema.message_class().DESCRIPTOR.fields_by_name["s"].GetOptions().deprecated
    assert schema.message_class()(s="a", i=3).SerializeToString() == b"\x0a\x01a\x10\x03"
    assert parsed(schema.rendered("serialized")).linked.remarks == ()


@pytest.mark.parametrize("note", ['(note) = "n"', "(known) = { [note]: 1 }", "(known).(note) = 1"])
def test_an_undeclared_option_leaves_the_other_options_intact(note: str):
    schema = parsed(
        P3 + 'import "google/protobuf/descriptor.proto";\n'
        f"message M {{ int32 a = 1 [{note}, (mine) = 5]; }}\n"
        "message K { optional int32 x = 1; }\n"
        "extend google.protobuf.FieldOptions { int32 mine = 50001; K known = 50002; }\n"
    )
    assert [warning.message for warning in warnings(schema)] == ['nothing declares the option "(note)"']
    options = schema.message_class("M").DESCRIPTOR.fields_by_name["a"].GetOptions()
    assert options.SerializeToString() == b"\x88\xb5\x18\x05"  # field 50001 is 5


def test_an_option_that_is_declared_must_still_fit():
    with pytest.raises(InvalidSchema, match=r'the value of the option "mine" does not fit its type'):
        parsed(
            P3 + 'import "google/protobuf/descriptor.proto";'
            ' message M { int32 a = 1 [(mine) = "x"]; } extend google.protobuf.FieldOptions { int32 mine = 50001; }'
        )


def test_an_unresolved_import_is_accepted_if_no_type_of_it_is_used():
    option = "[(buf.validate.field).required = true]"
    schema = parsed(P3 + f'import "buf/validate/validate.proto";\nmessage M {{\n  string s = 1 {option};\n}}')
    assert warnings(schema) == [
        SchemaWarning(
            "DANGLING_REFERENCE",
            'the import "buf/validate/validate.proto" was not found: no reference has this name',
            "Take the import out, or give it a reference.",
            Position(2, 1),
        ),
        undeclared("buf.validate.field", 4, 17),
    ]
    assert schema.canonical == (
        'syntax = "proto3";\n\nimport "buf/validate/validate.proto";\n\nmessage M {\n'
        "  string s = 1 [(buf.validate.field).required = true];\n}\n"
    )
    assert schema.message_class()(s="a").SerializeToString() == b"\x0a\x01a"
    with pytest.raises(InvalidSchema) as caught:
        parsed(P3 + 'import "x.proto";\nmessage M {\n  x.X x = 1;\n}')
    assert caught.value.detail == (
        'line 4, column 3: "x.X" is not defined; the import "x.proto" was not found: no reference has this name'
    )


@pytest.mark.parametrize("name", ["b.B", ".b.B"])
def test_a_type_may_lie_in_a_reference_that_is_not_imported(name: str):
    schema = parsed(P3 + f"message M {{\n  {name} b = 1;\n}}", B)
    assert warnings(schema) == [
        SchemaWarning(
            "MISSING_IMPORT",
            f'"{name}" is declared in "b.proto", which is not imported',
            'Add `import "b.proto";`.',
            Position(3, 3),
        )
    ]
    assert schema.canonical == f'syntax = "proto3";\n\nmessage M {{\n  {name} b = 1;\n}}\n'
    assert "  .b.B b = 1;\n" in schema.normalized()
    message = schema.message_class("M").FromString(b"\x0a\x02\x08\x07")
    assert message.b.x == 7
    assert schema.linked.proto.dependency == ["b.proto"]


def test_references_may_lack_imports_too():
    schema = parsed(
        P3 + "message M { a.A a = 1; }",
        B,
        ("a.proto", P3 + "package a; message A { b.B b = 1; google.protobuf.Timestamp at = 2; }"),
    )
    # a fault in a reference is reported when the reference is checked
    assert [warning.message for warning in warnings(schema)] == [
        '"a.A" is declared in "a.proto", which is not imported'
    ]
    message = schema.message_class("M").FromString(b"\x0a\x04\x0a\x02\x08\x07")
    assert message.a.b.x == 7


def test_references_that_use_each_other_without_imports_are_refused():
    with pytest.raises(InvalidSchema, match=r'the files "b.proto" and "a.proto" use each other'):
        parsed(
            P3 + "message M { A a = 1; }",
            ("b.proto", P3 + "message B { A a = 1; }"),
            ("a.proto", P3 + "message A { B b = 1; }"),
        )


def test_long_chains_of_references_that_are_not_imported():
    files = [(f"{i}.proto", P3 + f"message M{i} {{ M{i - 1} inner = 1; }}") for i in range(1, 1500)]
    schema = parsed(P3 + "message M { M1499 inner = 1; }", ("0.proto", P3 + "message M0 {}"), *files)
    assert schema.linked.proto.dependency == ["1499.proto"]


def test_many_references_that_are_not_imported_take_linear_time():
    files = [(f"{i}.proto", P3 + f'import "{i + 1}.proto"; message M{i} {{}}') for i in range(3000)]
    files.append(("3000.proto", P3 + "message M3000 {}"))
    fields = "".join(f"M{i} f{i} = {i + 1};" for i in reversed(range(3000)))
    started = time.process_time()
    assert len(parsed(P3 + f"message M {{ {fields} }}", *reversed(files)).linked.proto.dependency) == 3000
    assert time.process_time() - started < 5


def test_built_in_types_need_no_import():
    schema = parsed(P3 + "message M { google.protobuf.Timestamp at = 1; }")
    assert [warning.rule for warning in warnings(schema)] == ["MISSING_IMPORT"]
    assert schema.message_class().FromString(b"\x0a\x02\x08\x07").at.seconds == 7


HIDDEN = (
    P3 + "package io.confluent.x;\n" + META + "message M {\n"
    '  confluent.type.Decimal d = 1 [(confluent.field_meta).doc = "d"];\n}'
).replace(META, META + 'import "confluent/type/decimal.proto";\n')


def test_an_inner_package_may_hide_the_package_at_the_start_of_a_name():
    schema = parsed(HIDDEN)
    assert warnings(schema) == [
        SchemaWarning(
            "MISSING_DOT",
            f'the package around "{name}" hides it from protoc',
            f'Write ".{name}".',
            Position(6, column),
        )
        for name, column in (("confluent.type.Decimal", 3), ("confluent.field_meta", 33))
    ]
    assert schema.canonical == (
        'syntax = "proto3";\npackage io.confluent.x;\n\nimport "confluent/meta.proto";\n'
        'import "confluent/type/decimal.proto";\n\nmessage M {\n'
        '  confluent.type.Decimal d = 1 [(confluent.field_meta).doc = "d"];\n}\n'
    )
    assert '  .confluent.type.Decimal d = 1 [(confluent.field_meta) = {\n    doc: "d"\n  }];\n' in schema.normalized()
    field = schema.message_class().DESCRIPTOR.fields_by_name["d"]
    assert field.message_type.full_name == "confluent.type.Decimal"
    assert b"\x0a\x01d" in field.GetOptions().SerializeToString()  # Meta.doc


def test_a_correct_schema_has_no_warnings():
    text = P3 + META + 'package io.x;\nmessage M { string s = 1 [(confluent.field_meta).doc = "d"]; }'
    assert warnings(parsed(text)) == []
    assert warnings(parsed(parsed(EVERYWHERE).rendered("serialized"))) == []


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (P3 + 'import "x.proto";', 'line 2, column 1: the import "x.proto" was not found: no reference has this name'),
        (
            P3 + "message M { b.B b = 1; }",
            'line 2, column 13: "b.B" is declared in "b.proto", which is not imported',
        ),
    ],
)
def test_validate_fields_demands_a_whole_descriptor(text: str, detail: str):
    with pytest.raises(InvalidSchema) as caught:
        check_fields(parsed(text, B))
    assert caught.value.detail == detail
    check_fields(parsed(HIDDEN))
    check_fields(parsed(EVERYWHERE))


def test_a_descriptor_has_warnings_without_positions():
    descriptor = FileDescriptorProto(name="d", syntax="proto3", dependency=["x.proto"])
    descriptor.message_type.add(name="M")
    schema = parsed(base64.b64encode(descriptor.SerializeToString()).decode())
    assert [(warning.rule, warning.position) for warning in warnings(schema)] == [("DANGLING_REFERENCE", None)]


def test_normalizing_keeps_the_parts_of_options_that_nothing_declares():
    schema = parsed(P3 + "option (p) = 15e2;\noption (o).y = -1.5e3;\noption (o).x = 1;\nmessage M {}\n")
    assert schema.normalized() == (
        P3 + "\noption (o).x = 1;\noption (o).y = -1500;\noption (p) = 1500;\n\nmessage M {}\n"
    )
    assert parsed(schema.normalized()).normalized() == schema.normalized()
