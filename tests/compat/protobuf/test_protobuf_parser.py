"""The parser of the Protobuf language: what it makes of each form, and what it says of what is none."""

from __future__ import annotations

import pytest

from compat.protobuf.text.lexer import position, tokenize
from compat.protobuf.text.nodes import (
    MAX_FIELD_NUMBER,
    Aggregate,
    Constant,
    Extend,
    Extensions,
    Field,
    Import,
    ListLiteral,
    MapType,
    Method,
    NamePart,
    NumberLiteral,
    Option,
    Range,
    Reserved,
    StringLiteral,
    Value,
    Word,
)
from compat.protobuf.text.parser import parse_file
from compat.schema import InvalidSchema, Position

P2 = 'syntax = "proto2";\n'
P3 = 'syntax = "proto3";\n'


def refusal(text: str) -> InvalidSchema:
    with pytest.raises(InvalidSchema) as caught:
        parse_file(text)
    return caught.value


def field(text: str) -> Field:
    return parse_file(f"{P3}message M {{ {text} }}").messages[0].fields[0]


def value(text: str) -> Value:
    return parse_file(f"option x = {text};").options[0].value


def option(name: str, value: Value) -> Option:
    return Option((NamePart(name, extension=False),), value)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", [""]),
        ("a.b .c d . e", ["a.b", ".c", "d", ".", "e", ""]),
        ("1.5e+3 .5 0x1F 7", ["1.5e+3", ".5", "0x1F", "7", ""]),
        ("a/*b\n*/c//d\ne", ["a", "c", "e", ""]),
        ('\'a"\' "b\'\\""', ["'a\"'", '"b\'\\""', ""]),
        ("a[(b)={}]", ["a", "[", "(", "b", ")", "=", "{", "}", "]", ""]),
    ],
)
def test_tokens(text: str, tokens: list[str]):
    found = tokenize(text)
    assert found[: len(tokens)] == tokens
    assert set(found[len(tokens) :]) <= {""}


def test_tokens_know_their_position():
    text = "message M {\n  // c\n  string a = 1;\n}"
    assert [position(text, i) for i in (0, 2, 3, 7)] == [
        Position(1, 1),
        Position(1, 11),
        Position(3, 3),
        Position(3, 15),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("string a = 1;", Field(None, "string", "a", 1)),
        ("repeated .x.Y a = 0x10;", Field("repeated", ".x.Y", "a", 16)),
        ("optional x . Y . Z a = 010;", Field("optional", "x.Y.Z", "a", 8)),
        ("x .Y a = 1;", Field(None, "x.Y", "a", 1)),
        ("map<string, x.Y> a = 1;", Field(None, MapType("string", "x.Y"), "a", 1)),
        ("map < int32,bool > a = 1;", Field(None, MapType("int32", "bool"), "a", 1)),
        ("map m = 1;", Field(None, "map", "m", 1)),
        ("string string = 1;", Field(None, "string", "string", 1)),
        ("string a = 1 [deprecated = true];", Field(None, "string", "a", 1, (option("deprecated", Word("true")),))),
        (
            "string a = 1 [json_name = 'b', deprecated = true];",
            Field(None, "string", "a", 1, (option("deprecated", Word("true")),), None, "b"),
        ),
    ],
)
def test_fields(text: str, expected: Field):
    assert field(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", Word("true")),
        ("inf", Word("inf")),
        ("- inf", NumberLiteral("-inf")),
        ("-5", NumberLiteral("-5")),
        ("0x1F", NumberLiteral("0x1F")),
        ("1.5e+3", NumberLiteral("1.5e+3")),
        (".5", NumberLiteral(".5")),
        ("5.", NumberLiteral("5.")),
        ("1E5", NumberLiteral("1E5")),
        ("123456789012345678901234567890", NumberLiteral("123456789012345678901234567890")),
        ('"a" \'b\' "c"', StringLiteral(b"abc")),
        (r'"\a\b\f\n\r\t\v\\\'\"\?"', StringLiteral(b"\a\b\f\n\r\t\v\\'\"?")),
        (r'"\x4a\X4B\101\7\u00e9\U0001F600"', StringLiteral("JKA\x07é😀".encode())),
        (r'"\377"', StringLiteral(b"\xff")),
        ('"é"', StringLiteral("é".encode())),
        ("{}", Aggregate(())),
        (
            "{ a: 1 b: 'x', c { d: -2 }; e < f: g > }",
            Aggregate(
                (
                    ("a", NumberLiteral("1")),
                    ("b", StringLiteral(b"x")),
                    ("c", Aggregate((("d", NumberLiteral("-2")),))),
                    ("e", Aggregate((("f", Word("g")),))),
                )
            ),
        ),
        ("{ a: [1, 2] a: 3 }", Aggregate((("a", ListLiteral(tuple(map(NumberLiteral, "123")))),))),
        ("{ [x.y]: 1 [t.co/x.Y] { } }", Aggregate((("[x.y]", NumberLiteral("1")), ("[t.co/x.Y]", Aggregate(()))))),
        ("{ a: [] b [{}] }", Aggregate((("a", ListLiteral(())), ("b", ListLiteral((Aggregate(()),)))))),
    ],
)
def test_values(text: str, expected: Value):
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", [("a", False)]),
        ("a.b", [("a", False), ("b", False)]),
        ("(a.b)", [("a.b", True)]),
        ("(.a.b).c.d", [(".a.b", True), ("c", False), ("d", False)]),
        ("features.(pb.cpp).string_type", [("features", False), ("pb.cpp", True), ("string_type", False)]),
        ("(a).(b)", [("a", True), ("b", True)]),
        ("( a . b ) . c", [("a.b", True), ("c", False)]),
    ],
)
def test_names_of_options(text: str, parts: list[tuple[str, bool]]):
    assert parse_file(f"option {text} = 1;").options[0].name == tuple(parts)


def test_file():
    file = parse_file(
        P2
        + """package a.b;
        import "c.proto"; import public "d.proto"; import weak "e.proto";
        option java_package = "x";;
        extend M { optional string s = 100; optional group G = 101 { optional string t = 1; } }
        service S {
          option deprecated = true;
          rpc A (M) returns (stream .a.b.M) { option deprecated = true; }
          rpc B (stream M) returns (M);
        }
        message M { extensions 100 to max, 50; }
        enum E { A = 0; B = -0x1; reserved -2, 5 to max; reserved "C"; }
        """
    )
    assert (file.syntax, file.package) == ("proto2", "a.b")
    assert file.imports == (Import("c.proto"), Import("d.proto", "public"), Import("e.proto", "weak"))
    assert file.messages[0].extensions == (Extensions((Range(100, MAX_FIELD_NUMBER), 50)),)
    assert isinstance(file.extends[0], Extend)
    assert [member.name for member in file.extends[0].members] == ["s", "g"]
    deprecated = (option("deprecated", Word("true")),)
    assert file.services[0].methods == (
        Method("A", "M", ".a.b.M", server_streaming=True, options=deprecated),
        Method("B", "M", "M", client_streaming=True),
    )
    assert file.enums[0].constants == (Constant("A", 0), Constant("B", -1))
    assert file.enums[0].reserved == (Reserved((-2, Range(5, 2147483647))), Reserved(("C",)))


def test_editions():
    file = parse_file('edition = "2023"; message M { reserved a, b; M m = 1; }')
    assert (file.syntax, file.edition) == ("editions", "2023")
    assert file.messages[0].reserved == (Reserved(("a", "b"), quoted=False),)
    later = parse_file('edition = "2024"; import option "o.proto"; export message M { local enum E { A = 0; } }')
    assert later.imports == (Import("o.proto", "option"),)
    assert later.messages[0].visibility == "export"
    assert later.messages[0].enums[0].visibility == "local"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("foo", 1, 1, "expected a top-level statement such as message, enum, service, extend, import or option"),
        ("message M {", 1, 12, 'expected "}", but the text ends'),
        (P3 + "message {}", 2, 9, "expected the name of the message, but found '{'"),
        (P3 + "message M {\n  string a = 1\n}", 4, 1, "expected \";\", but found '}'"),
        (P3 + "message M { string a; }", 2, 21, "expected \"=\" and the number of the field, but found ';'"),
        (P3 + "message M { string a = x; }", 2, 24, "expected the number of the field, but found 'x'"),
        (P3 + "message M { string a = 1.0; }", 2, 24, "expected the number of the field, but found '1.0'"),
        (P3 + "message M { string a = 08; }", 2, 24, "expected the number of the field, but found '08'"),
        (P3 + "message M { string 1a = 1; }", 2, 20, "expected the name of the field, but found '1a'"),
        (P3 + "message M { string a.b = 1; }", 2, 20, "expected the name of the field, but found 'a.b'"),
        (P3 + "message M { string a = 1 []; }", 2, 27, "expected the name of an option, but found ']'"),
        (P3 + "message M { string a = 1 [b]; }", 2, 28, "expected \"=\", but found ']'"),
        (P3 + "message M { string a = 1 [b = 1,]; }", 2, 33, "expected the name of an option, but found ']'"),
        (P3 + "message M { string a = 1 [b = 1; }", 2, 32, 'expected "," or "]", but found \';\''),
        (P3 + "message M { required string a = 1; }", 2, 13, "required fields do not exist in proto3"),
        (P3 + "message M { group G = 1 {} }", 2, 13, "groups exist in proto2 only"),
        (P3 + "message M { extensions 1; }", 2, 13, "extension ranges do not exist in proto3"),
        (P3 + "message M { repeated map<int32, M> m = 1; }", 2, 13, "map fields have no label"),
        (P3 + "message M { oneof o { repeated int32 a = 1; } }", 2, 23, "fields in a oneof have no label"),
        (P3 + "message M { oneof o { map<int32, M> m = 1; } }", 2, 23, "a oneof has no map fields"),
        (P3 + "message M { reserved a; }", 2, 22, "reserved names are strings before editions"),
        (P3 + "enum E { A; }", 2, 11, "expected \"=\", but found ';'"),
        (P3 + "enum E { A = 2147483648; }", 2, 14, "the number of the enum value is out of the range of 32 bits"),
        (P3 + "service S { rpc A(M) return (M); }", 2, 22, "expected \"returns\", but found 'return'"),
        (P2 + "message M { int32 a = 1; }", 2, 13, 'expected "required", "optional" or "repeated"'),
        (P2 + "message M { optional group g = 1 {} }", 2, 28, "the name of a group begins with a capital letter"),
        (P2 + "extend M { }", 2, 12, "expected a field, but found '}'"),
        ('edition = "2023"; message M { optional int32 a = 1; }', 1, 31, 'the label "optional" does not exist'),
        ('edition = "2023"; message M { reserved "a"; }', 1, 40, "in editions reserved names are identifiers"),
        ('edition = "2022";', 1, 11, 'unknown edition "2022"'),
        ('syntax = "proto4";', 1, 10, 'unknown syntax "proto4"'),
        ("syntax = proto3;", 1, 10, "expected the syntax as a string, but found 'proto3'"),
        ("package a; package b;", 1, 12, "a file has one package only"),
        ("package .a;", 1, 9, "the name of a package does not begin with a dot"),
        ("import a;", 1, 8, "expected the path to import, as a string, but found 'a'"),
        ('option a = "b', 1, 12, "the string '\"b' is not closed or has a wrong escape"),
        (r'option a = "\q";', 1, 12, "is not closed or has a wrong escape"),
        (r'option a = "\ud800";', 1, 12, "is not closed or has a wrong escape"),
        ("option a = ;", 1, 12, "expected a value, but found ';'"),
        ("option a = - x;", 1, 14, "expected a number after the sign, but found 'x'"),
        ("option a = { b };", 1, 16, "expected \":\", but found '}'"),
        ("option a = { b: };", 1, 17, "expected a value, but found '}'"),
        ("option a = { b: 1", 1, 18, 'expected "}", but the text ends'),
        ("/* a", 1, 1, "the comment is never closed, or another one begins inside of it"),
        ("/* /* */", 1, 1, "the comment is never closed, or another one begins inside of it"),
        ("message É {}", 1, 9, "unexpected character 'É'"),
        ("message M$ {}", 1, 10, "expected \"{\", but found '$'"),
        ("option a = " + "{ a " * 65, 1, 270, "values nest deeper than 64 levels"),
        (P3 + "message M {" * 32, 2, 353, "messages nest deeper than 31 levels"),
    ],
)
def test_syntax_errors_name_the_expected_token_and_the_position(text: str, line: int, column: int, message: str):
    error = refusal(text)
    assert error.position == Position(line, column)
    assert error.detail.startswith(f"Syntax error at line {line}, column {column}: ")
    assert message in error.detail
    assert error.schema_type == "PROTOBUF"


def test_lone_surrogates_are_refused():
    assert "not valid Unicode" in refusal('option a = "\ud800";').detail


def test_a_byte_order_mark_may_begin_a_file():
    assert parse_file("\ufeff" + P3).syntax == "proto3"


@pytest.mark.parametrize("piece", ["/*", '"\\', "'", "{", "[", "(", "a.", "1e+", "\\", "option a = {b:", "message M {"])
def test_time_is_linear_in_the_text(piece: str):
    refusal(piece * 50_000)
