"""Hostile schemas and bytes: no code from names, no reading past the end, no memory by a length, no endless depth."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import pytest

from serdes.codec import DecodeError, EncodeError, codec, compile_codec
from serdes.codec.size import ZERO_BYTE_ITEMS


def compiled(schema: Any, reader: Any = None, **options: Any) -> codec.AvroCodec:
    return compile_codec(json.dumps(schema), None if reader is None else json.dumps(reader), **options)


HOSTILE = [
    "'] = 1; raise SystemExit #",
    '"]; __import__("os")._exit(7)  #',
    "a\nraise SystemExit",
    "\\",
    "'''",
    '"""',
    "{v}",
    "{slow}",
    "%s",
    "\0",
    "\u2028",
    "p",
    "b",
    "__builtins__",
    "K1",
    "é",
    "",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_never_reach_the_source_as_code(name: str) -> None:
    enum = {"type": "enum", "name": "E" + name, "symbols": [name]}
    inner = {"type": "record", "name": "R" + name, "fields": [{"name": name, "type": enum, "default": name}]}
    schema = {
        "type": "record",
        "name": name,
        "namespace": "n" + name,
        "fields": [{"name": name, "type": ["null", inner]}, {"name": "k" + name, "type": "string", "default": "x"}],
    }
    made = compiled(schema)
    content = made.encode({name: {name: name}, "k" + name: "v"})
    assert content == b"\x02\x00\x02v"
    assert made.encode({name: {}}) == b"\x02\x00\x02x"
    assert made.decode(content) == {name: {name: name}, "k" + name: "v"}
    assert made.json_to_avro(made.avro_to_json(content)) == content
    plain = compiled(schema, plain_unions=True)
    assert plain.json_to_avro(plain.avro_to_json(content)) == content
    key = name.encode(errors="replace").decode()
    added = {"name": "d" + name, "type": inner, "default": {name: name}}
    mapped = {"name": name, "type": {"type": "map", "values": "int"}, "default": {key: 1}}
    reader = {**schema, "fields": [{**added, "aliases": [name]}, mapped]}
    with pytest.raises(DecodeError):
        compiled(schema, {**schema, "fields": [{"name": name, "type": "int"}]}).decode(content)
    empty = {**schema, "fields": []}
    assert compiled(empty, reader).decode(b"") == {"d" + name: {name: name}, name: {key: 1}}


ONE_BYTE = {"type": "fixed", "name": "F1", "size": 1}
COLLECTIONS = [
    {"type": "array", "items": "int"},
    {"type": "array", "items": "null"},
    {"type": "array", "items": {"type": "record", "name": "Empty", "fields": []}},
    {"type": "array", "items": {"type": "fixed", "name": "F0", "size": 0}},
    {"type": "array", "items": {"type": "fixed", "name": "F8", "size": 8}},
    {"type": "array", "items": "double"},
    {"type": "array", "items": "string"},
    {"type": "array", "items": {"type": "record", "name": "R", "fields": [{"name": "f", "type": ONE_BYTE}]}},
    {"type": "map", "values": "null"},
    {"type": "map", "values": "bytes"},
    "string",
    "bytes",
]  # fmt: skip

#: Varints of a long's greatest and least, of 2**40, of -2**40 with a block size of -1, of 0x7fffffff.
LENGTHS = [
    b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x80\x80\x80\x80\x80\x40",
    b"\xff\xff\xff\xff\xff\x3f\x01",
    b"\xfe\xff\xff\xff\x0f",
]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("schema", COLLECTIONS)
def test_a_length_that_the_buffer_cannot_hold_allocates_nothing(schema: Any, length: bytes) -> None:
    record = {"type": "record", "name": "Top", "fields": [{"name": "c", "type": schema}]}
    skipping = compiled(record, {**record, "fields": []})
    decoders = [compiled(schema).decode, compiled(schema).avro_to_json, compiled(record).decode, skipping.decode]
    tracemalloc.start()
    try:
        for decode in decoders:
            for rest in (b"", b"\x00" * 40, b"\x02" * 40):
                started = time.process_time()
                with pytest.raises(DecodeError):
                    decode(length + rest)
                assert time.process_time() - started < 2
        assert tracemalloc.get_traced_memory()[1] < 16_000_000
    finally:
        tracemalloc.stop()


def test_items_without_bytes_are_bounded_in_all() -> None:
    made = compiled({"type": "array", "items": {"type": "array", "items": "null"}})
    assert made.decode(b"\x02\x04\x00\x00") == [[None, None]]
    assert made.decode(made.encode([[None] * ZERO_BYTE_ITEMS])) == [[None] * ZERO_BYTE_ITEMS]
    half = compiled({"type": "array", "items": "null"}).encode([None] * (ZERO_BYTE_ITEMS // 2 + 1))
    with pytest.raises(DecodeError, match="more than 65536 items that take no bytes"):
        made.decode(b"\x06" + half * 3 + b"\x00")
    with pytest.raises(EncodeError, match="more than 65536 items that take no bytes"):
        made.encode([[None] * (ZERO_BYTE_ITEMS + 1)])


@pytest.mark.parametrize(
    ("schema", "content", "text"),
    [
        ("int", b"", "$ at byte 0: the buffer ends inside it (int expected)"),
        ("int", b"\x80", "the buffer ends inside it"),
        ("int", b"\x80\x80\x80\x80\x80\x01", "does not fit an int"),
        ("long", b"\xff" * 10 + b"\x01", "more than 10 bytes"),
        ("long", b"\xff" * 9 + b"\x7f", "more than 64 bits"),
        ("boolean", b"\x02", "byte 2 is neither 0 nor 1"),
        ("boolean", b"", "the buffer ends 1 bytes before its end"),
        ("float", b"\0\0\0", "the buffer ends 1 bytes before its end"),
        ("double", b"\0", "the buffer ends 7 bytes before its end"),
        ("string", b"\x04a", "a length of 2 where 1 bytes are left"),
        ("string", b"\x01", "a length of -1"),
        ("string", b"\x02\xff", "no UTF-8"),
        ("bytes", b"\x01a", "a length of -1"),
        ({"type": "fixed", "name": "F", "size": 2}, b"a", "the buffer ends 1 bytes before its end"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02", "index 1 is beyond its 1 symbols"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x01", "index -1 is beyond its 1 symbols"),
        (["null", "int"], b"\x04", "index 2 is beyond its 2 branches"),
        (["null", "int"], b"\x01", "index -1 is beyond its 2 branches"),
        ({"type": "array", "items": "int"}, b"\x04\x02\x80", "$[1] at byte 2: the buffer ends inside it"),
        ({"type": "map", "values": "int"}, b"\x02\x02a", "$['a'] at byte 3"),
        ("null", b"\x00", "bytes left over after the datum: 1"),
        ({"type": "int", "logicalType": "date"}, b"\xfe\xff\xff\xff\x0f", "date"),
        ({"type": "int", "logicalType": "time-millis"}, b"\x01", "-1 is no time of day"),
        (
            {"type": "long", "logicalType": "timestamp-micros"},
            b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            "timestamp-micros",
        ),
        ({"type": "string", "logicalType": "uuid"}, b"\x02a", "badly formed"),
    ],
)
def test_bytes_that_are_no_datum(schema: Any, content: bytes, text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        compiled(schema).decode(content)
    assert text in str(caught.value)


@pytest.mark.parametrize("offset", [-1, 3, 100])
def test_offsets_outside_of_the_buffer(offset: int) -> None:
    with pytest.raises(DecodeError):
        compiled("int").decode(b"\x02\x02", offset)
    with pytest.raises(DecodeError):
        compiled({"type": "fixed", "name": "F", "size": max(2 - offset, 0)}).decode(b"\x02\x02", offset)


def test_varints_longer_than_they_need_are_read() -> None:
    assert compiled("int").decode(b"\x82\x00") == 1
    assert compiled(["null", "int"]).decode(b"\x82\x00\x02") == 1
    assert compiled({"type": "enum", "name": "E", "symbols": ["A", "B"]}).decode(b"\x82\x80\x00") == "B"
    assert compiled("string").decode(b"\x82\x00a") == "a"
    assert compiled({"type": "array", "items": "int"}).decode(b"\x82\x00\x02\x80\x00") == [1]


def test_blocks_of_any_count() -> None:
    made = compiled({"type": "array", "items": "int"})
    assert made.decode(b"\x02\x02\x04\x04\x06\x00") == [1, 2, 3]
    assert made.decode(b"\x03\x04\x02\x04\x00") == [1, 2]
    assert compiled({"type": "map", "values": "int"}).decode(b"\x01\x06\x02a\x02\x00") == {"a": 1}


LINKED = {
    "type": "record",
    "name": "Node",
    "fields": [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "Node"]}],
}


def test_recursion_is_bounded() -> None:
    made = compiled(LINKED)
    for decode in (made.decode, made.avro_to_json):
        with pytest.raises(DecodeError, match="nested too deeply"):
            decode(b"\x02\x02" * 100_000 + b"\x02\x00")
    with pytest.raises(DecodeError, match="nested too deeply"):
        compiled({"type": "record", "name": "R", "fields": [{"name": "r", "type": "R"}]}).decode(b"")
    endless: dict[str, Any] = {"v": 1}
    endless["next"] = endless
    with pytest.raises(EncodeError, match="nested too deeply"):
        made.encode(endless)
    with pytest.raises(EncodeError, match="nested too deeply"):
        compiled(LINKED, plain_unions=True).json_to_avro(endless)
    deep: Any = None
    for _ in range(300):
        deep = {"v": 1, "next": deep}
    assert made.decode(made.encode(deep)) == deep
