"""Codecs of single schemas: bytes spelled out, branches of unions, defaults, resolution and what errors say."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from serdes.codec import DecodeError, EncodeError, SchemaError, codec, compile_codec
from serdes.codec.decode import source as decode_source
from serdes.codec.encode import source as encode_source

ORDER = {
    "type": "record",
    "name": "shop.Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {
            "name": "address",
            "type": {
                "type": "record",
                "name": "Address",
                "fields": [{"name": "lines", "type": {"type": "array", "items": "string"}}],
            },
        },
        {"name": "prices", "type": {"type": "map", "values": "double"}, "default": {}},
    ],
}  # fmt: skip
A_DATUM = {"id": 1, "note": "x", "address": {"lines": ["a", "b"]}, "prices": {}}


def compiled(schema: Any, reader: Any = None, **options: Any) -> codec.AvroCodec:
    return compile_codec(json.dumps(schema), None if reader is None else json.dumps(reader), **options)


def logical(kind: str, logical_type: str, **more: Any) -> Any:
    return {"type": kind, "logicalType": logical_type, **more}


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOCAL_EPOCH = EPOCH.replace(tzinfo=None)


FIXED = {"type": "fixed", "name": "F", "size": 2}
SUIT = {"type": "enum", "name": "Suit", "symbols": ["HEARTS", "SPADES"]}
DECIMAL = logical("bytes", "decimal", precision=5, scale=2)


@pytest.mark.parametrize(
    ("schema", "datum", "content"),
    [
        ("null", None, b""),
        ("boolean", True, b"\1"),
        ("boolean", False, b"\0"),
        ("int", 0, b"\0"),
        ("int", -1, b"\1"),
        ("int", 63, b"\x7e"),
        ("int", 64, b"\x80\x01"),
        ("int", -8192, b"\xff\x7f"),
        ("int", 8192, b"\x80\x80\x01"),
        ("int", 2**31 - 1, b"\xfe\xff\xff\xff\x0f"),
        ("int", -(2**31), b"\xff\xff\xff\xff\x0f"),
        ("long", 2**63 - 1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("long", -(2**63), b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("long", 1_577_836_800_000, b"\x80\xa0\xb7\xe6\xeb\x5b"),
        ("float", 1.5, b"\x00\x00\xc0\x3f"),
        ("double", -0.0, b"\0\0\0\0\0\0\0\x80"),
        ("bytes", b"\xff", b"\x02\xff"),
        ("string", "é", b"\x04\xc3\xa9"),
        (FIXED, b"ab", b"ab"),
        (SUIT, "SPADES", b"\x02"),
        ({"type": "array", "items": "int"}, [1, 2], b"\x04\x02\x04\x00"),
        ({"type": "array", "items": "int"}, [], b"\x00"),
        ({"type": "array", "items": "null"}, [None, None], b"\x04\x00"),
        ({"type": "map", "values": "int"}, {"a": 1}, b"\x02\x02a\x02\x00"),
        (["null", "string"], None, b"\x00"),
        (["null", "string"], "a", b"\x02\x02a"),
        (ORDER, A_DATUM, b"\x02\x02\x02x\x04\x02a\x02b\x00\x00"),
        (logical("int", "date"), date(1970, 1, 2), b"\x02"),
        (logical("int", "time-millis"), time(0, 0, 0, 1000), b"\x02"),
        (logical("long", "time-micros"), time(0, 0, 0, 1), b"\x02"),
        (logical("long", "timestamp-millis"), datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=UTC), b"\x02"),
        (logical("long", "timestamp-micros"), datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), b"\x01"),
        (logical("long", "local-timestamp-millis"), LOCAL_EPOCH + timedelta(milliseconds=2), b"\x04"),
        (logical("long", "local-timestamp-micros"), LOCAL_EPOCH + timedelta(microseconds=2), b"\x04"),
        (logical("long", "timestamp-nanos"), 5, b"\x0a"),
        (DECIMAL, Decimal("1.50"), b"\x04\x00\x96"),
        (logical("fixed", "decimal", precision=4, scale=2, name="D", size=3), Decimal("-1.50"), b"\xff\xff\x6a"),
        (
            logical("string", "uuid"),
            UUID("00000000-0000-0000-0000-000000000001"),
            b"\x4800000000-0000-0000-0000-000000000001",
        ),
        (logical("fixed", "uuid", name="U", size=2), b"ab", b"ab"),
        (logical("fixed", "duration", name="D", size=12), bytes(12), bytes(12)),
        (logical("bytes", "decimal", precision=2, scale=9), b"a", b"\x02a"),
        (logical("bytes", "decimal", precision=10**30), b"a", b"\x02a"),
    ],
)
def test_bytes(schema: Any, datum: Any, content: bytes) -> None:
    made = compiled(schema)
    assert made.encode(datum) == content
    assert made.encode(datum, b"\0\0\0\0\1") == b"\0\0\0\0\1" + content
    decoded = made.decode(content)
    assert (type(decoded), decoded) == (type(datum), datum)
    assert made.decode(memoryview(b"\0\0\0\0\1" + content), 5) == datum
    assert made.decode(bytearray(content)) == datum


@pytest.mark.parametrize(
    ("schema", "datum", "content"),
    [
        (logical("long", "timestamp-millis"), datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), b"\0"),
        (logical("int", "date"), "1970-01-02", b"\x02"),
        (logical("int", "date"), LOCAL_EPOCH + timedelta(hours=29), b"\x02"),
        (logical("int", "date"), 1, b"\x02"),
        ("float", 1e300, b"\x00\x00\x80\x7f"),
        ("double", 1, b"\0\0\0\0\0\0\xf0\x3f"),
        ("bytes", bytearray(b"a"), b"\x02a"),
        ("bytes", memoryview(b"a"), b"\x02a"),
        ({"type": "array", "items": "int"}, (1,), b"\x02\x02\x00"),
        ({"type": "array", "items": "int"}, range(1, 2), b"\x02\x02\x00"),
        (ORDER, {"id": 1, "address": {"lines": []}, "extra": 5}, b"\x02\x00\x00\x00"),
    ],
)  # fmt: skip
def test_data_of_other_types(schema: Any, datum: Any, content: bytes) -> None:
    assert compiled(schema).encode(datum) == content


def test_a_naive_timestamp_is_in_the_zone_of_the_machine() -> None:
    naive = datetime(2020, 6, 1, 12, 0, 0, 5999, tzinfo=UTC).replace(tzinfo=None)
    made = compiled(logical("long", "timestamp-millis"))
    assert made.decode(made.encode(naive)) == naive.astimezone(UTC) - timedelta(microseconds=999)


LINKED = {
    "type": "record",
    "name": "Node",
    "fields": [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "Node"]}],
}
RECORD_A = {"type": "record", "name": "n.A", "fields": [{"name": "x", "type": "int"}]}
RECORD_B = {
    "type": "record",
    "name": "n.B",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "string", "default": "z"}],
}


@pytest.mark.parametrize(
    ("union", "datum", "content"),
    [
        (["int", "long"], 1, b"\x00\x02"),
        (["int", "long"], 2**31, b"\x02\x80\x80\x80\x80\x10"),
        (["float", "string", "double"], 1.0, b"\x04\0\0\0\0\0\0\xf0\x3f"),
        (["float", "string"], 1.0, b"\x00\0\0\x80\x3f"),
        (["int", "boolean"], True, b"\x02\x01"),
        (["bytes", "string"], "a", b"\x02\x02a"),
        ([SUIT, "string"], "SPADES", b"\x00\x02"),
        ([SUIT, "string"], "CLUBS", b"\x02\x0aCLUBS"),
        ([SUIT, "string"], ("string", "SPADES"), b"\x02\x0cSPADES"),
        ([RECORD_A, RECORD_B], {"x": 1}, b"\x00\x02"),
        ([RECORD_A, RECORD_B], {"x": 1, "y": "q"}, b"\x02\x02\x02q"),
        ([RECORD_A, RECORD_B], ("n.B", {"x": 1}), b"\x02\x02\x02z"),
        ([RECORD_A, RECORD_B], {"-type": "n.B", "x": 1}, b"\x02\x02\x02z"),
        ([RECORD_A, {"type": "map", "values": "int"}], {"x": 1}, b"\x02\x02\x02x\x02\x00"),
        ([{"type": "array", "items": "int"}, "bytes"], b"a", b"\x00\x02\xc2\x01\x00"),
        (["null", {"type": "array", "items": "int"}], ("array", [1]), b"\x02\x02\x02\x00"),
        (["null", logical("long", "timestamp-millis")], datetime(1970, 1, 1, tzinfo=UTC), b"\x02\x00"),
        (["string", logical("int", "date")], date(1970, 1, 1), b"\x02\x00"),
        ([logical("int", "date"), "string"], "no date", b"\x02\x0eno date"),
        (["null", DECIMAL], Decimal(1), b"\x02\x02\x64"),
    ],
)
def test_union_branches_are_chosen_as_fastavro_chooses(union: Any, datum: Any, content: bytes) -> None:
    assert compiled(union).encode(datum) == content


def test_recursive_types() -> None:
    made = compiled(LINKED)
    datum = {"v": 1, "next": {"v": 2, "next": None}}
    assert made.encode(datum) == b"\x02\x02\x04\x00"
    assert made.decode(b"\x02\x02\x04\x00") == datum


@pytest.mark.parametrize(
    ("schema", "datum", "path", "value_type", "text"),
    [
        (ORDER, {**A_DATUM, "id": "7"}, "$.id", "str", "$.id: str does not fit long"),
        (ORDER, {**A_DATUM, "id": True}, "$.id", "bool", "$.id: bool does not fit long"),
        (ORDER, {**A_DATUM, "id": 1.5}, "$.id", "float", "$.id: float does not fit long"),
        (ORDER, {**A_DATUM, "id": 2**63}, "$.id", "int", "$.id: int does not fit long (out of range)"),
        (
            ORDER,
            {**A_DATUM, "address": {"lines": ["a", "b", "c", 4]}},
            "$.address.lines[3]",
            "int",
            "$.address.lines[3]: int does not fit string",
        ),
        (ORDER, {**A_DATUM, "address": {}}, "$.address.lines", "nothing", "(the field is missing)"),
        (ORDER, {**A_DATUM, "prices": {"a b": "c"}}, "$.prices['a b']", "str", "str does not fit double"),
        (ORDER, {**A_DATUM, "note": 5}, "$.note", "int", "$.note: int does not fit one of null, string"),
        (ORDER, [], "$", "list", "$: list does not fit record shop.Order"),
        (ORDER, None, "$", "NoneType", "$: NoneType does not fit record shop.Order"),
        ("null", 0, "$", "int", "$: int does not fit null"),
        ("boolean", 1, "$", "int", "$: int does not fit boolean"),
        ("int", 2**31, "$", "int", "out of range"),
        ("string", b"a", "$", "bytes", "$: bytes does not fit string"),
        ("string", "\ud800", "$", "str", "no Unicode text"),
        ("bytes", "a", "$", "str", "$: str does not fit bytes"),
        (FIXED, b"abc", "$", "bytes", "$: bytes does not fit fixed F (3 bytes, not 2)"),
        (SUIT, "CLUBS", "$", "str", "$: str does not fit enum Suit ('CLUBS' is no symbol of it)"),
        (SUIT, ["HEARTS"], "$", "list", "$: list does not fit enum Suit"),
        ({"type": "array", "items": "string"}, "abc", "$", "str", "$: str does not fit array"),
        ({"type": "map", "values": "int"}, {1: 1}, "$[1] as a key", "int", "does not fit string"),
        (DECIMAL, Decimal("1.555"), "$", "Decimal", "3 decimals exceed the scale 2"),
        (DECIMAL, Decimal(123456), "$", "Decimal", "8 digits exceed the precision 5, 2 of them behind the point"),
        (DECIMAL, Decimal(1234), "$", "Decimal", "6 digits exceed the precision 5, 2 of them behind the point"),
        (DECIMAL, Decimal("NaN"), "$", "Decimal", "NaN is no number"),
        (DECIMAL, Decimal("1E+999999999"), "$", "Decimal", "1000000002 digits exceed the precision 5"),
        (logical("int", "date"), "soon", "$", "str", "Invalid isoformat string"),
        (["null", RECORD_A], {"x": "1"}, "$.x", "str", "$.x: str does not fit int"),
        ([RECORD_A, LINKED], {"v": 1, "next": {"v": "2"}}, "$.next.v", "str", "$.next.v: str does not fit int"),
        (["null", RECORD_A], {"-type": "n.Q", "x": 1}, "$", "dict", "one of null, n.A"),
        (["null", "int"], ("long", 1), "$", "tuple", "a tuple in a union is (branch name, datum)"),
    ],
)  # fmt: skip
def test_a_datum_of_a_wrong_type(schema: Any, datum: Any, path: str, value_type: str, text: str) -> None:
    with pytest.raises(EncodeError) as caught:
        compiled(schema).encode(datum)
    assert (caught.value.path, caught.value.value_type) == (path, value_type)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("writer", "reader", "content", "datum"),
    [
        ("int", "long", b"\x02", 1),
        ("int", "double", b"\x02", 1.0),
        ("float", "double", b"\0\0\xc0\x3f", 1.5),
        ("string", "bytes", b"\x02a", b"a"),
        ("bytes", "string", b"\x02a", "a"),
        ("int", ["null", "long"], b"\x02", 1),
        (["null", "int"], "long", b"\x02\x02", 1),
        (["string", "int"], ["null", "string"], b"\x00\x02a", "a"),
        (SUIT, {**SUIT, "symbols": ["CLUBS", "SPADES"], "default": "CLUBS"}, b"\x00", "CLUBS"),
        (RECORD_A, RECORD_B | {"name": "other.A"}, b"\x02", {"x": 1, "y": "z"}),
        (RECORD_B, RECORD_A | {"name": "n.B"}, b"\x02\x02q", {"x": 1}),
        (RECORD_A, {**RECORD_A, "name": "New", "aliases": ["n.A"]}, b"\x02", {"x": 1}),
        (
            RECORD_A,
            {"type": "record", "name": "A", "fields": [{"name": "z", "type": "double", "aliases": ["x"]}]},
            b"\x02",
            {"z": 1.0},
        ),
        (
            {"type": "record", "name": "A", "fields": [{"name": "gone", "type": {"type": "array", "items": LINKED}}]},
            {"type": "record", "name": "A", "fields": [{"name": "b", "type": "bytes", "default": "\u00ff"}]},
            b"\x02\x02\x02\x04\x00\x00",
            {"b": b"\xff"},
        ),
        (
            {"type": "record", "name": "A", "fields": []},
            {"type": "record", "name": "A", "fields": [{"name": "d", "type": logical("int", "date"), "default": 1}]},
            b"",
            {"d": date(1970, 1, 2)},
        ),
        (
            {"type": "record", "name": "A", "fields": []},
            {"type": "record", "name": "A", "fields": [{"name": "r", "type": RECORD_B, "default": {"x": 3}}]},
            b"",
            {"r": {"x": 3, "y": "z"}},
        ),
    ],
)
def test_resolution(writer: Any, reader: Any, content: bytes, datum: Any) -> None:
    decoded = compiled(writer, reader).decode(content)
    assert (type(decoded), decoded) == (type(datum), datum)


def test_equal_schemas_are_not_resolved() -> None:
    union = ["bytes", "string"]
    assert compile_codec(json.dumps(union), json.dumps(union, indent=1)).decode(b"\x02\x02a") == "a"
    assert compiled(union, [*union, "int"]).decode(b"\x02\x02a") == b"a"


def test_defaults_are_not_shared_between_data() -> None:
    empty = {"type": "record", "name": "A", "fields": []}
    added = [{"name": "xs", "type": {"type": "array", "items": "int"}, "default": [1]}]
    made = compiled(empty, {**empty, "fields": added})
    made.decode(b"")["xs"].append(2)
    assert made.decode(b"") == {"xs": [1]}


@pytest.mark.parametrize(
    ("writer", "reader", "content", "text"),
    [
        ("int", "string", b"\x02", "$ at byte 0: int cannot be read as string"),
        (["int", "string"], "int", b"\x02\x02a", "string cannot be read as int"),
        (SUIT, {**SUIT, "symbols": ["SPADES"]}, b"\x00", "has no symbol HEARTS and no default"),
        (FIXED, {**FIXED, "size": 3}, b"ab", "fixed F cannot be read as fixed F"),
        (
            RECORD_A,
            {**RECORD_A, "fields": [{"name": "k", "type": "int"}]},
            b"\x02",
            "$.k at byte 1: the writer has no such field",
        ),
        ("bytes", "string", b"\x02\xff", "no UTF-8: invalid start byte"),
    ],
)
def test_data_that_the_reader_schema_cannot_read(writer: Any, reader: Any, content: bytes, text: str) -> None:
    with pytest.raises(DecodeError, match=r"^\$") as caught:
        compiled(writer, reader).decode(content)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("", "Empty schema"),
        ("{", "Expecting property name enclosed in double quotes (line 1, column 2)"),
        ('{"type": "int",}', "Expecting property name enclosed in double quotes (line 1, column 16)"),
        ("[" * 100_000, "Nested deeper than 200 levels"),
        ('{"type": "record", "name": "\\ud800", "fields": []}', "half of a surrogate pair"),
        ("3", "Schema not yet supported: 3"),
        ('"strin"', "Undefined schema: strin"),
        ("{}", "No type"),
        ('{"type": "record", "name": "R"}', "Record has no fields"),
        ('{"type": "record", "name": "R", "fields": 5}', "Record has no fields"),
        ('{"type": "record", "name": "R", "fields": [{"type": "int"}]}', "No field name"),
        ('{"type": "record", "name": "R", "fields": [{"name": "x"}]}', "No field type"),
        ('{"type": "record", "fields": []}', "No name in schema"),
        ('{"type": "record", "name": 5, "fields": []}', "No name in schema"),
        ('{"type": "enum", "name": "E", "symbols": "A"}', "Enum has no symbols"),
        ('{"type": "fixed", "name": "F", "size": -1}', "Length is negative: -1"),
        ('{"type": "array"}', "Array has no items type"),
        ('["int", "int"]', "Duplicate in union:int"),
        ('[{"type": "fixed", "name": "F", "size": 1}, {"type": "fixed", "name": "F", "size": 2}]', "Can't redefine: F"),
    ],
)
def test_texts_that_are_no_schema(text: str, detail: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_codec(text)
    assert detail in str(caught.value)


OPTIONAL = {
    "type": "record",
    "name": "O",
    "fields": [
        {"name": "a", "type": "int"},
        {"name": "b", "type": "int", "default": 1},
        {"name": "c", "type": ["null", "int"]},
    ],
}


def test_strict_encoders() -> None:
    assert compiled(OPTIONAL).encode({"a": 1, "x": 1}) == b"\x02\x02\x00"
    for options in ({"strict": True}, {"strict_allow_default": True}):
        made = compiled(OPTIONAL, **options)
        assert made.encode({"a": 1, "b": 1, "c": None}) == b"\x02\x02\x00"
        with pytest.raises(EncodeError, match=r"^\$\.x: int does not fit record O \(an unknown field\)$"):
            made.encode({"a": 1, "b": 1, "c": None, "x": 1})
        with pytest.raises(
            EncodeError, match=r"^\$\.c: nothing does not fit one of null, int \(the field is missing\)$"
        ):
            made.encode({"a": 1, "b": 1})
    assert compiled(OPTIONAL, strict_allow_default=True).encode({"a": 1, "c": None}) == b"\x02\x02\x00"
    with pytest.raises(EncodeError, match=r"^\$\.b: nothing does not fit int \(the field is missing\)$"):
        compiled(OPTIONAL, strict=True).encode({"a": 1, "c": None})
    assert compiled([OPTIONAL, RECORD_A], strict=True).encode({"x": 1}) == b"\x02\x02"


def test_records_of_unions_with_their_names() -> None:
    union = ["null", RECORD_A, SUIT]
    made = compiled({"type": "array", "items": union}, record_names=True)
    datum = [None, ("n.A", {"x": 1}), "SPADES"]
    assert made.decode(made.encode(datum)) == datum
    renamed = {**RECORD_A, "name": "m.A"}
    assert compiled(union, ["null", renamed, SUIT], record_names=True).decode(b"\x02\x02") == ("m.A", {"x": 1})
    assert compiled(union, renamed, record_names=True).decode(b"\x02\x02") == ("n.A", {"x": 1})
    assert compiled(RECORD_A, ["null", renamed], record_names=True).decode(b"\x02") == {"x": 1}


def test_named_texts_and_namespaces() -> None:
    address = (
        '{"type": "record", "name": "Address", "namespace": "a.b", "fields": [{"name": "city", "type": "string"}]}'
    )
    person = '{"type": "record", "name": "a.b.Person", "fields": [{"name": "home", "type": "Address"}]}'
    made = compile_codec(person, named=[address])
    assert made.encode({"home": {"city": "x"}}) == b"\x02x"
    later = address.replace("}]", '}, {"name": "zip", "type": "int", "default": 7}]')
    resolving = compile_codec(person, person, [address], reader_named=[later])
    assert resolving.decode(b"\x02x") == {"home": {"city": "x", "zip": 7}}


def test_codecs_are_cached_by_their_texts_within_bounds() -> None:
    assert compile_codec('"int"') is compile_codec('"int"', '"int"')
    assert compile_codec('"int"') is not compile_codec('"int"', plain_unions=True)
    assert codec._compile.cache_parameters()["maxsize"] == codec.CACHED_CODECS


def test_schemas_beyond_the_compiler_are_done_step_by_step() -> None:
    schema: Any = "int"
    datum: Any = 1
    for _ in range(120):
        schema, datum = {"type": "array", "items": schema}, [datum]
    made = compiled(schema)
    content = made.encode(datum)
    assert content == b"\x02" * 121 + b"\x00" * 120
    assert made.decode(content) == datum


def test_the_codec_interprets_schemas_that_the_compiler_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise SyntaxError("too many statically nested blocks")

    monkeypatch.setattr(encode_source, "encoder", refuse)
    monkeypatch.setattr(decode_source, "decoder", refuse)
    source = codec.CodecInput(json.dumps(ORDER), None, (), (), plain_unions=False, json_defaults=False)
    made = codec.AvroCodec(source)
    content = made.encode(A_DATUM, b"head")
    assert content == b"head\x02\x02\x02x\x04\x02a\x02b\x00\x00"
    assert made.decode(content, 4) == A_DATUM
    assert made.json_to_avro(made.avro_to_json(content, 4)) == content[4:]


def test_wide_records_and_unions() -> None:
    fields = [{"name": f"f{index}", "type": ["null", "string"]} for index in range(1000)]
    made = compiled({"type": "record", "name": "W", "fields": fields})
    datum = {f"f{index}": "x" for index in range(1000)}
    assert made.decode(made.encode(datum)) == datum
    records = [{"type": "record", "name": f"R{at}", "fields": [{"name": f"x{at}", "type": "int"}]} for at in range(100)]
    union = compiled(records)
    for at in (0, 63, 64, 99):
        assert union.decode(union.encode({f"x{at}": 1})) == {f"x{at}": 1}
        assert union.avro_to_json(union.encode({f"x{at}": 1})) == {f"R{at}": {f"x{at}": 1}}


def test_little_is_imported_at_start() -> None:
    program = (
        "import sys; from serdes.codec import compile_codec; c = compile_codec('\"long\"');"
        "c.decode(c.encode(5)); c.json_to_avro(5); c.avro_to_json(b'\\n');"
        "heavy = {'fastavro', 'orjson', 'jsonschema_rs', 'google'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
