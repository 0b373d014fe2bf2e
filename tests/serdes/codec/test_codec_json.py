"""Avro JSON: to bytes and back, with tagged and with plain unions."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson
import pytest

from serdes.codec import DecodeError, EncodeError, codec, compile_codec


def compiled(schema: Any, reader: Any = None, **options: Any) -> codec.AvroCodec:
    return compile_codec(json.dumps(schema), None if reader is None else json.dumps(reader), **options)


FIXED = {"type": "fixed", "name": "n.F", "size": 2}
SUIT = {"type": "enum", "name": "n.Suit", "symbols": ["HEARTS", "SPADES"]}
RECORD_A = {"type": "record", "name": "n.A", "fields": [{"name": "x", "type": "int"}]}
RECORD_B = {
    "type": "record",
    "name": "n.B",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": "string", "default": "z"}],
}
LINKED = {
    "type": "record",
    "name": "Node",
    "fields": [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "Node"]}],
}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}


@pytest.mark.parametrize(
    ("schema", "text", "content"),
    [
        ("null", "null", b""),
        ("boolean", "true", b"\1"),
        ("int", "-1", b"\1"),
        ("long", "9223372036854775807", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("double", "1.5", b"\0\0\0\0\0\0\xf8\x3f"),
        ("double", '"NaN"', b"\0\0\0\0\0\0\xf8\x7f"),
        ("double", '"-Infinity"', b"\0\0\0\0\0\0\xf0\xff"),
        ("float", '"Infinity"', b"\0\0\x80\x7f"),
        ("float", "1.1", b"\xcd\xcc\x8c\x3f"),
        ("float", "16777216.0", b"\0\0\x80\x4b"),
        ("string", '"é"', b"\x04\xc3\xa9"),
        ("bytes", '"\u00ff\\u0000"', b"\x04\xff\x00"),
        (FIXED, '"a\u00e9"', b"a\xe9"),
        (SUIT, '"SPADES"', b"\x02"),
        ({"type": "array", "items": "int"}, "[1,2]", b"\x04\x02\x04\x00"),
        ({"type": "map", "values": "int"}, '{"a":1}', b"\x02\x02a\x02\x00"),
        (["null", "string"], "null", b"\x00"),
        (["null", "string"], '{"string":"a"}', b"\x02\x02a"),
        (["null", SUIT, FIXED], '{"n.Suit":"HEARTS"}', b"\x02\x00"),
        (["int", {"type": "array", "items": "null"}], '{"array":[null]}', b"\x02\x02\x00"),
        (LINKED, '{"v":1,"next":{"Node":{"v":2,"next":null}}}', b"\x02\x02\x04\x00"),
        ({"type": "int", "logicalType": "date"}, "1", b"\x02"),
        ({"type": "long", "logicalType": "timestamp-millis"}, "1", b"\x02"),
        (DECIMAL, '"\\u0000\u0096"', b"\x04\x00\x96"),
        ({"type": "string", "logicalType": "uuid"}, '"any"', b"\x06any"),
    ],
)
def test_avro_json(schema: Any, text: str, content: bytes) -> None:
    made = compiled(schema)
    assert made.json_to_avro(orjson.loads(text)) == content
    assert made.json_to_avro(json.loads(text), b"head") == b"head" + content
    assert made.avro_to_json_bytes(content) == text.encode()
    assert orjson.dumps(made.avro_to_json(b"head" + content, 4)) == text.encode()


@pytest.mark.parametrize(
    ("schema", "value", "content"),
    [
        ("int", 1.0, b"\x02"),
        ("double", 1, b"\0\0\0\0\0\0\xf0\x3f"),
        ("float", "-INF", b"\0\0\x80\xff"),
        (RECORD_B, {"y": "a", "x": 1}, b"\x02\x02a"),
    ],
)
def test_other_spellings(schema: Any, value: Any, content: bytes) -> None:
    assert compiled(schema).json_to_avro(value) == content


@pytest.mark.parametrize(
    ("schema", "value", "path", "text"),
    [
        ("int", 1.5, "$", "float does not fit int"),
        ("int", "1", "$", "str does not fit int"),
        ("int", 2**31, "$", "out of range"),
        ("int", True, "$", "bool does not fit int"),
        ("double", "nan", "$", "str does not fit double"),
        ("double", 10**400, "$", "out of range"),
        ("bytes", "\u0100", "$", "character 0 is beyond U+00FF"),
        (FIXED, "abc", "$", "3 bytes, not 2"),
        (SUIT, "CLUBS", "$", "no symbol of it"),
        (["null", "string"], "a", "$", "null or an object of one key"),
        (["null", "string"], {"string": "a", "int": 1}, "$", "null or an object of one key"),
        (["null", "string"], {"int": 1}, "$", "it has no branch 'int'"),
        (["null", "string"], {"string": 1}, "$", "int does not fit string"),
        (["int", "string"], None, "$", "it has no branch 'null'"),
        (["null", RECORD_A], {"A": {"x": 1}}, "$", "it has no branch 'A'"),
        (RECORD_B, {"x": 1}, "$.y", "the field is missing"),
        (RECORD_B, {"x": 1, "y": "a", "z": 2}, "$.z", "an unknown field"),
        (RECORD_A, [], "$", "list does not fit record n.A"),
        ({"type": "array", "items": RECORD_A}, [{"x": 1}, {"x": "a"}], "$[1].x", "str does not fit int"),
        ({"type": "array", "items": "int"}, {"a": 1}, "$", "dict does not fit array"),
        ({"type": "map", "values": "int"}, [], "$", "list does not fit map"),
    ],
)
def test_json_that_does_not_fit(schema: Any, value: Any, path: str, text: str) -> None:
    with pytest.raises(EncodeError) as caught:
        compiled(schema).json_to_avro(value)
    assert caught.value.path == path
    assert text in str(caught.value)


def test_defaults_by_option() -> None:
    made = compiled(RECORD_B, json_defaults=True)
    assert made.json_to_avro({"x": 1}) == b"\x02\x02z"
    with pytest.raises(EncodeError, match=r"^\$.q: int does not fit record n.B \(an unknown field\)$"):
        made.json_to_avro({"x": 1, "q": 5})
    with pytest.raises(EncodeError, match=r"^\$.x: nothing does not fit int \(the field is missing\)$"):
        made.json_to_avro({"y": ""})


@pytest.mark.parametrize(
    ("schema", "value", "content"),
    [
        (["null", "string"], None, b"\x00"),
        (["null", "string"], "a", b"\x02\x02a"),
        (["int", "long"], 5, b"\x00\x0a"),
        (["int", "long"], 2**31, b"\x02\x80\x80\x80\x80\x10"),
        (["float", "double", "null"], 1.5, b"\x02\0\0\0\0\0\0\xf8\x3f"),
        (["int", "double"], 1.0, b"\x02\0\0\0\0\0\0\xf0\x3f"),
        (["int", "double"], 1, b"\x00\x02"),
        (["int", "double"], 1.5, b"\x02\0\0\0\0\0\0\xf8\x3f"),
        ([SUIT, "string"], "HEARTS", b"\x02\x0cHEARTS"),
        ([SUIT, "bytes"], "HEARTS", b"\x00\x00"),
        ([SUIT, "bytes"], "CLUBS", b"\x02\x0aCLUBS"),
        ([RECORD_A, RECORD_B], {"x": 1, "y": "q"}, b"\x02\x02\x02q"),
        ([RECORD_A, {"type": "map", "values": "int"}], {"x": 1}, b"\x00\x02"),
        ([RECORD_A, {"type": "map", "values": "int"}], {"y": 1}, b"\x02\x02\x02y\x02\x00"),
        (["null", {"type": "array", "items": ["int", "string"]}], [1, "a"], b"\x02\x04\x00\x02\x02\x02a\x00"),
        (LINKED, {"v": 1, "next": {"v": 2, "next": None}}, b"\x02\x02\x04\x00"),
    ],
)
def test_plain_unions(schema: Any, value: Any, content: bytes) -> None:
    made = compiled(schema, plain_unions=True)
    assert made.json_to_avro(value) == content
    assert made.avro_to_json(content) == value


@pytest.mark.parametrize(
    ("schema", "value", "content"),
    [
        (["null", "string"], {"string": "a"}, b"\x02\x02a"),
        ([RECORD_A, RECORD_B], {"n.B": {"x": 1}}, b"\x02\x02\x02z"),
        (LINKED, {"v": 1, "next": {"Node": {"v": 2, "next": None}}}, b"\x02\x02\x04\x00"),
    ],
)
def test_tags_are_understood_among_plain_unions(schema: Any, value: Any, content: bytes) -> None:
    assert compiled(schema, plain_unions=True, json_defaults=True).json_to_avro(value) == content


def test_plain_values_that_fit_two_branches_need_a_tag() -> None:
    assert compiled([RECORD_A, RECORD_B], plain_unions=True).json_to_avro({"x": 1}) == b"\x00\x02"
    made = compiled([RECORD_A, RECORD_B], plain_unions=True, json_defaults=True)
    with pytest.raises(EncodeError, match=r"it fits n\.A and n\.B: tag it with the branch's name"):
        made.json_to_avro({"x": 1})
    with pytest.raises(EncodeError, match=r"^\$: float does not fit one of n\.A, n\.B$"):
        made.json_to_avro(1.5)


def test_a_readers_union_tags_what_the_writer_wrote_without() -> None:
    made = compiled(RECORD_A, {**RECORD_A, "fields": [{"name": "x", "type": ["null", "long"]}]})
    assert made.avro_to_json(b"\x02") == {"x": {"long": 1}}
    added = {"name": "u", "type": ["null", "string"], "default": None}
    promoted = compiled(RECORD_A, {**RECORD_A, "fields": [added, {"name": "x", "type": "double"}]})
    assert promoted.avro_to_json_bytes(b"\x02") == b'{"u":null,"x":1.0}'


def test_floats_are_printed_as_short_as_a_float_needs() -> None:
    made = compiled("float")
    for text in ("1.1", "0.1", "3.4028235e+38", "123456.79", "-9.8765"):
        content = made.json_to_avro(float(text))
        assert float(made.avro_to_json_bytes(content)) == float(text)
    assert math.isinf(made.decode(made.json_to_avro("Infinity")))


def test_the_number_that_no_json_library_prints_is_a_decode_error() -> None:
    nested: Any = None
    for _ in range(300):
        nested = {"v": 1, "next": nested}
    made = compiled(LINKED, plain_unions=True)
    with pytest.raises(DecodeError, match="no JSON"):
        made.avro_to_json_bytes(made.encode(nested))
