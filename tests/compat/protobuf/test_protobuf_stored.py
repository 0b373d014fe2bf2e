"""Texts that protoc refuses and a registry may have stored: they are read, and normalized into valid ones."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from compat.protobuf import FORMAT, ProtobufSchema
from compat.schema import PROTOBUF, Dependency, InvalidSchema, SchemaText

#: The Python that has grpcio-tools; `make test-versions` tests versions of protobuf that it does not run with.
PROTOC_PYTHON = os.environ.get("MAGICBYTE_PROTOC_PYTHON", sys.executable)
P3 = 'syntax = "proto3";\n'
NEGATIVE = P3 + "message M {\n  E e = 1;\n\n  enum E {\n    ZERO = 0;\n    MINUS = -1;\n    ONE = 1;\n  }\n}\n"
STORED = P3 + "\nmessage M {\n  .M.E e = 1;\n\n  enum E {\n    MINUS = -1;\n    ZERO = 0;\n    ONE = 1;\n  }\n}\n"
NORMALIZED = P3 + "\nmessage M {\n  .M.E e = 1;\n\n  enum E {\n    ZERO = 0;\n    MINUS = -1;\n    ONE = 1;\n  }\n}\n"


def parsed(text: str, *dependencies: tuple[str, str], strict: bool = False) -> ProtobufSchema:
    texts = tuple(Dependency(*dependency) for dependency in dependencies)
    schema = FORMAT.parse(SchemaText(PROTOBUF, text), texts, strict)
    assert isinstance(schema, ProtobufSchema)
    return schema


def enum(values: str, syntax: str = 'syntax = "proto3";') -> str:
    return f"{syntax}\nenum E {{ {values} }}\n"


ORDERS = [
    (enum("Z = 0; B = 2; A = 1; M = -1;"), "Z = 0, M = -1, A = 1, B = 2"),
    (enum("option allow_alias = true; Z = 0; M = -1; Y = 0;"), "Y = 0, Z = 0, M = -1"),
    (enum("M = -1; Z = 0;"), "Z = 0, M = -1"),
    (enum("Z = 0; M = -1;", 'syntax = "proto2";'), "Z = 0, M = -1"),
    (enum("M = -1; Z = 0;", 'syntax = "proto2";'), "M = -1, Z = 0"),
    (enum("B = 2; A = 1;", 'syntax = "proto2";'), "A = 1, B = 2"),
    (enum("M = -1; Z = 0;", 'edition = "2023";'), "Z = 0, M = -1"),
    (enum("option features.enum_type = CLOSED; M = -1; Z = 0;", 'edition = "2023";'), "M = -1, Z = 0"),
    (enum("option features = { enum_type: CLOSED }; M = -1; Z = 0;", 'edition = "2023";'), "M = -1, Z = 0"),
    (enum("M = -1; Z = 0;", 'edition = "2023"; option features.enum_type = CLOSED;'), "M = -1, Z = 0"),
]


@pytest.mark.parametrize(("text", "values"), ORDERS)
def test_normalizing_keeps_zeros_first(text: str, values: str):
    schema = parsed(parsed(text).normalized(), strict=True)
    assert ", ".join(f"{value.name} = {value.number}" for value in schema.tree.enums[0].constants) == values
    assert schema.normalized() == parsed(text).normalized()


def test_a_normalized_schema_is_valid():
    schema = parsed(NEGATIVE, strict=True)
    assert schema.normalized() == NORMALIZED
    assert FORMAT.older_text is not None
    assert FORMAT.older_text(schema, True) == STORED
    assert FORMAT.older_text(schema, False) is None
    assert FORMAT.older_text(parsed(NEGATIVE.replace("-1", "2")), True) is None
    assert parsed(NORMALIZED, strict=True).message_class()(e=-1).SerializeToString() == bytes((8, *[255] * 9, 1))


def test_a_stored_text_with_a_negative_value_first_is_read():
    schema = parsed(STORED)
    message_class = schema.message_class()
    assert message_class().e == 0
    assert message_class.FromString(bytes((8, *[255] * 9, 1))).e == -1
    assert schema.canonical == STORED
    described = FileDescriptorProto.FromString(schema.linked.proto.SerializeToString())
    assert [value.name for value in described.message_type[0].enum_type[0].value] == ["ZERO", "MINUS", "ONE"]


def test_a_stored_reference_with_a_negative_value_first_is_read():
    schema = parsed(P3 + 'import "m.proto";\nmessage N { map<string, M.E> es = 1; }', ("m.proto", STORED), strict=True)
    assert schema.message_class()(es={"a": -1}).es == {"a": -1}


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (STORED, 'the first value of the proto3 enum "E" must be zero'),
        (enum("A = 1; B = 2;"), 'the first value of the proto3 enum "E" must be zero'),
        (enum("A = 1; Z = 0;", 'edition = "2023";'), 'the first value of the editions enum "E" must be zero'),
        (P3 + "message M { message N { oneof o { } } }", 'the oneof "o" must have at least one field'),
    ],
)
def test_new_texts_must_be_valid(text: str, detail: str):
    with pytest.raises(InvalidSchema) as refused:
        parsed(text, strict=True)
    assert detail in refused.value.detail


def test_an_enum_without_zero_is_refused_in_stored_texts_too():
    with pytest.raises(InvalidSchema, match="the first value of the proto3 enum"):
        _ = parsed(enum("A = 1; B = 2;")).linked


def test_a_stored_text_with_an_empty_oneof_is_read():
    schema = parsed(P3 + "message M { oneof a { } oneof b { int32 x = 1; } }")
    assert [oneof.name for oneof in schema.message_class().DESCRIPTOR.oneofs] == ["b"]
    assert schema.message_class()(x=1).WhichOneof("b") == "x"


def described(fields: FileDescriptorProto) -> str:
    return base64.b64encode(fields.SerializeToString()).decode()


def test_a_descriptor_of_protoc_with_an_extension_is_accepted(tmp_path: Path):
    text = 'syntax = "proto2"; message M { extensions 100 to 200; } extend M { optional string long_name = 100; }'
    (tmp_path / "m.proto").write_text(text)
    out = tmp_path / "set.bin"
    arguments = [f"-I{tmp_path}", f"--descriptor_set_out={out}", "m.proto"]
    subprocess.run([PROTOC_PYTHON, "-m", "grpc_tools.protoc", *arguments], check=True)
    (file,) = FileDescriptorSet.FromString(out.read_bytes()).file
    assert file.extension[0].json_name == "longName"
    assert parsed(described(file), strict=True).canonical == (
        "\nmessage M {\n  extensions 100 to 200;\n}\n\nextend .M {\n  optional string long_name = 100;\n}\n"
    )


def test_a_synthetic_oneof_without_its_field_is_left_out():
    file = FileDescriptorProto(name="m.proto", syntax="proto3")
    message = file.message_type.add(name="M")
    message.field.add(name="a", number=1, type=9, label=1, oneof_index=1)
    message.field.add(name="c", number=3, type=9, label=1, oneof_index=2, proto3_optional=True)
    for name in ("_b", "o", "_c"):
        message.oneof_decl.add(name=name)
    schema = parsed(described(file), strict=True)
    assert schema.canonical == (
        P3 + "\nmessage M {\n  optional string c = 3;\n\n  oneof o {\n    string a = 1;\n  }\n}\n"
    )
    assert schema.message_class()(a="x").WhichOneof("o") == "a"
