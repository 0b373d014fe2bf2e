"""Canonical and normalised text, in the reference's style to the byte."""

from __future__ import annotations

import pytest

from compat.protobuf import FORMAT
from compat.protobuf.text.parser import parse_file
from compat.protobuf.text.printer import print_file
from compat.schema import PROTOBUF, InvalidSchema, SchemaText

EVERYTHING = """
// A comment.
syntax = "proto2";
package shop . orders;
import public "google/protobuf/any.proto"; import "google/protobuf/timestamp.proto";
import "google/protobuf/descriptor.proto";
option java_package = 'com.shop' ".orders"; option optimize_for=SPEED;
enum Status { option allow_alias = true; UNKNOWN = 0; OPEN = 1 [deprecated = true];
  ACTIVE = 1; reserved 5, 7 to 9; reserved "OLD"; }
extend google.protobuf.FieldOptions { optional string unit = 50001; optional Note note = 50002; }
service Orders { option deprecated = false;
  rpc Get (Order) returns (stream Order) { option deprecated = true; } rpc Put(stream Order) returns(Order); }
message Order {
  enum Kind { SMALL = 0; }
  message Line { required string sku = 1; optional group Extra = 2 { optional string note = 1; } }
  extensions 100 to 199, 500 to max;
  extend Order { optional int32 weight = 100; }
  oneof payment { option deprecated = true; string card = 4; string cash = 5; }
  repeated Line lines = 2; /* block */
  optional string id = 1 [default = "a\\"b\\n\\t", json_name = "ID", deprecated = true];
  map<string,Line> by_sku = 3;
  optional int32 grams = 6 [(unit) = "g"];
  optional int32 size = 7 [(note) = { text: "x" tags: ["a", "b"] inner { text: "y" } }, deprecated = false];
  option message_set_wire_format = false;
  reserved 50 to 60, 70; reserved "old", "older";
}
message Note { optional string text = 1; repeated string tags = 2; optional Note inner = 3; }
message Empty {}
"""

# the reference indents blank lines too; here each blank at a line's end is a ~
CANONICAL = """\
syntax = "proto2";
package shop.orders;

import "google/protobuf/timestamp.proto";
import "google/protobuf/descriptor.proto";
import public "google/protobuf/any.proto";

option java_package = "com.shop.orders";
option optimize_for = SPEED;

message Order {
  reserved 50 to 60, 70;
  reserved "old", "older";

  option message_set_wire_format = false;

  repeated Line lines = 2;
  optional string id = 1 [
    deprecated = true,
    default = "a\\"b\\n\\t",
    json_name = "ID"
  ];
  map<string, Line> by_sku = 3;
  optional int32 grams = 6 [(unit) = "g"];
  optional int32 size = 7 [
    (note) = {
      text: "x",
      tags: [
        "a",
        "b"
      ],
      inner: {
        text: "y"
      }
    },
    deprecated = false
  ];

  oneof payment {
    option deprecated = true;
~~
    string card = 4;
    string cash = 5;
  }

  extensions 100 to 199, 500 to max;

  extend Order {
    optional int32 weight = 100;
  }

  message Line {
    required string sku = 1;
~~
    optional group Extra = 2 {
      optional string note = 1;
    }
  }
  enum Kind {
    SMALL = 0;
  }
}
message Note {
  optional string text = 1;
  repeated string tags = 2;
  optional Note inner = 3;
}
message Empty {}
enum Status {
  reserved 5, 7 to 9;
  reserved "OLD";
  option allow_alias = true;
  UNKNOWN = 0;
  OPEN = 1 [deprecated = true];
  ACTIVE = 1;
}

extend google.protobuf.FieldOptions {
  optional string unit = 50001;
  optional Note note = 50002;
}

service Orders {
  option deprecated = false;

  rpc Get (Order) returns (stream Order) {
    option deprecated = true;
  };
  rpc Put (stream Order) returns (Order);
}
""".replace("~", " ")

NORMALIZED = """\
package shop.orders;

import "google/protobuf/descriptor.proto";
import "google/protobuf/timestamp.proto";
import public "google/protobuf/any.proto";

option java_package = "com.shop.orders";
option optimize_for = SPEED;

message Order {
  reserved 50 to 60;
  reserved 70;
  reserved "old";
  reserved "older";

  option message_set_wire_format = false;

  optional string id = 1 [
    default = "a\\"b\\n\\t",
    deprecated = true,
    json_name = "ID"
  ];
  repeated .shop.orders.Order.Line lines = 2;
  map<string, .shop.orders.Order.Line> by_sku = 3;
  optional int32 grams = 6 [(shop.orders.unit) = "g"];
  optional int32 size = 7 [
    deprecated = false,
    (shop.orders.note) = {
      inner: {
        text: "y"
      },
      tags: [
        "a",
        "b"
      ],
      text: "x"
    }
  ];

  oneof payment {
    option deprecated = true;
~~
    string card = 4;
    string cash = 5;
  }

  extensions 100 to 199;
  extensions 500 to max;

  extend .shop.orders.Order {
    optional int32 weight = 100;
  }

  message Line {
    required string sku = 1;
~~
    optional group Extra = 2 {
      optional string note = 1;
    }
  }
  enum Kind {
    SMALL = 0;
  }
}
message Note {
  optional string text = 1;
  repeated string tags = 2;
  optional .shop.orders.Note inner = 3;
}
message Empty {}
enum Status {
  reserved 5;
  reserved 7 to 9;
  reserved "OLD";
  option allow_alias = true;
  UNKNOWN = 0;
  ACTIVE = 1;
  OPEN = 1 [deprecated = true];
}

extend .google.protobuf.FieldOptions {
  optional string unit = 50001;
  optional .shop.orders.Note note = 50002;
}

service Orders {
  option deprecated = false;

  rpc Get (.shop.orders.Order) returns (stream .shop.orders.Order) {
    option deprecated = true;
  };
  rpc Put (stream .shop.orders.Order) returns (.shop.orders.Order);
}
""".replace("~", " ")


def normalized(text: str) -> str:
    return FORMAT.parse(SchemaText(PROTOBUF, text), (), False).normalized()


def test_canonical():
    assert print_file(parse_file(EVERYTHING)) == CANONICAL


def test_normalized():
    assert normalized(EVERYTHING) == NORMALIZED


@pytest.mark.parametrize("text", [EVERYTHING, CANONICAL, NORMALIZED])
def test_printing_and_parsing_are_inverse(text: str):
    tree = parse_file(text)
    assert parse_file(print_file(tree)) == tree
    assert normalized(print_file(tree)) == normalized(text)


def test_normalized_text_is_its_own_normalized_text():
    assert normalized(NORMALIZED) == NORMALIZED


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ""),
        ("message M{}", "\nmessage M {}\n"),
        ('syntax="proto3";message M{}', 'syntax = "proto3";\n\nmessage M {}\n'),
        ('edition="2023";', 'edition = "2023";\n'),
        ("enum E{A=0;}message M{}", "\nmessage M {}\nenum E {\n  A = 0;\n}\n"),
        ("message M{reserved 5 to 5,7;}", "\nmessage M {\n  reserved 5 to 5, 7;\n}\n"),
        ("message M{reserved 5 to max;}", "\nmessage M {\n  reserved 5 to max;\n}\n"),
        ("enum E{reserved -5 to max;A=0;}", "\nenum E {\n  reserved -5 to max;\n  A = 0;\n}\n"),
        ("enum E{reserved 5 to 536870911;A=0;}", "\nenum E {\n  reserved 5 to 536870911;\n  A = 0;\n}\n"),
        ("option (a).b = {};", "\noption (a).b = {\n};\n"),
        ("option (a).(b.c).d = 0x1F;", "\noption (a).(b.c).d = 0x1F;\n"),
        (r'option a = "\x01\xff\u00e9\0";', '\noption a = "\\001\\377é\\000";\n'),
        (
            r"""option a = "\a\b\f\n\r\t\v\\\'\"?";""",
            '\noption a = "' + r"\a\b\f\n\r\t\v\\\'\"?" + '";\n',
        ),
        (
            "message M{extensions 4 to 10[verification=UNVERIFIED];}",
            "\nmessage M {\n  extensions 4 to 10 [verification = UNVERIFIED];\n}\n",
        ),
        ("service S{rpc A(B)returns(C){}}", "\nservice S {\n  rpc A (B) returns (C);\n}\n"),
        (
            "message M{optional group G=1[deprecated=true]{optional int32 a=1;}}",
            "\nmessage M {\n  optional group G = 1 [deprecated = true] {\n    optional int32 a = 1;\n  }\n}\n",
        ),
    ],
)
def test_canonical_forms(text: str, canonical: str):
    assert print_file(parse_file(text)) == canonical


P3 = 'syntax = "proto3";\n'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (P3 + "message M { int32 b = 2; int32 a = 1; }", P3 + "message M { int32 a = 1; int32 b = 2; }"),
        (P3 + "message M { M m = 1; }", P3 + "message M { .M m = 1; }"),
        (P3 + "package p; message M { M m = 1; }", P3 + "package p; message M { p.M m = 1; }"),
        (P3 + "enum E { A = 0; C = 2; B = 1; }", P3 + "enum E { A = 0; B = 1; C = 2; }"),
        (P3 + "message M { reserved 3, 1 to 2; }", P3 + "message M { reserved 1 to 2; reserved 3 to 3; }"),
        (
            P3 + "message M { oneof b { int32 c = 3; } oneof a { int32 e = 2; int32 d = 1; } }",
            P3 + "message M { oneof a { int32 d = 1; int32 e = 2; } oneof b { int32 c = 3; } }",
        ),
        (
            P3 + "message M { map<string, M> a = 1; }",
            P3
            + "message M { repeated AEntry a = 1; message AEntry"
            + " { option map_entry = true; string key = 1; M value = 2; } }",
        ),
        ('syntax = "proto2"; message M {}', "message M {}"),
        (
            P3 + 'import "google/protobuf/empty.proto"; import "google/protobuf/any.proto";',
            P3 + 'import "google/protobuf/any.proto"; import "google/protobuf/empty.proto";',
        ),
        (
            'import "confluent/meta.proto"; message M { option (confluent.message_meta) = { tags: "a" doc: "b" }; }',
            'import "confluent/meta.proto"; message M { option (confluent.message_meta).doc = "b";'
            ' option (confluent.message_meta).tags = "a"; }',
        ),
        (P3 + "option (x) = 0x10;", P3 + "option (x) = 16;"),
        (P3 + "option (x) = 1.50;", P3 + "option (x) = 15e-1;"),
        (P3 + "option (x) = { a: [1] };", P3 + "option (x) = { a: 1 };"),
        (
            "extend M { optional int32 b = 2; } extend N { optional int32 c = 1; } extend M { optional int32 a = 1; }"
            " message M { extensions 1 to 9; } message N { extensions 1 to 9; }",
            "extend M { optional int32 a = 1; optional int32 b = 2; } extend N { optional int32 c = 1; }"
            " message M { extensions 1 to 9; } message N { extensions 1 to 9; }",
        ),
    ],
)
def test_texts_that_mean_the_same_have_one_normalized_text(one: str, other: str):
    assert normalized(one) == normalized(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (P3 + "message M {} message N {}", P3 + "message N {} message M {}"),
        (P3 + "message M { int32 a = 1; }", P3 + "message M { optional int32 a = 1; }"),
        (P3 + "option (x) = 1.23456;", P3 + "option (x) = 1.23457;"),
        ("option (x).r = 1;", "option (x).r = 1; option (x).r = 1;"),
    ],
)
def test_texts_that_differ_keep_different_normalized_texts(one: str, other: str):
    assert normalized(one) != normalized(other)


def test_an_unresolved_name_has_no_normalized_form():
    with pytest.raises(InvalidSchema, match=r"Could not resolve type: x\.Y"):
        normalized(P3 + "message M { x.Y a = 1; }")
