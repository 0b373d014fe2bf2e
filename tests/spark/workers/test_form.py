from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from compat.schema import AVRO, SchemaText
from serdes.codec import DecodeError
from serdes.codec.codec import decoder
from serdes.codec.decode import walk as decode_walk
from serdes.codec.resolve.java_plan import resolve_as_java
from serdes.codec.schema import parse
from serdes.codec.varint import write_long
from serdes.rules.context import Ruled
from spark_avro.plan import tree as trees
from spark_avro.plan.spark_form import FORM, reader_text
from spark_avro.registry import parsed_text
from spark_avro.sent_schema import SentSchema
from spark_avro.workers.decoding import AvroJsonMaker, AvroMaker


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields.items()]}


def decimal(precision: int, scale: int, kind: str = "bytes") -> dict[str, Any]:
    return {"type": kind, "logicalType": "decimal", "precision": precision, "scale": scale}


DATE = {"type": "int", "logicalType": "date"}
TIME = {"type": "int", "logicalType": "time-millis"}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
LOCAL = {"type": "long", "logicalType": "local-timestamp-millis"}
NANOS = {"type": "long", "logicalType": "timestamp-nanos"}
UUID = {"type": "string", "logicalType": "uuid"}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
ONE, TWO = record("One", x="int"), record("Two", x="int")
ONES = {"type": "map", "values": "int"}


def decoders(writer: Any, reader: Any) -> list[Any]:
    """The decoder that is compiled, and the one that goes step by step."""
    tree = trees.tree(parsed_text(json.dumps(reader)), "the reader", reader=True)
    plan = resolve_as_java(parse(json.dumps(writer)), parse(reader_text(tree)))
    return [decoder(plan, FORM), lambda payload: decode_walk.decode(plan, payload, 0, FORM)]


#: The writer's schema, the reader's, a payload, and what Spark takes.
CASES: list[tuple[Any, Any, bytes, Any]] = [
    (DATE, DATE, b"\x02", 1),
    (DATE, "int", b"\x02", 1),
    (DATE, "double", b"\x02", 1.0),
    ("int", DATE, b"\x02", 1),
    (TIME, TIME, b"\x01", -1),
    (MILLIS, MILLIS, b"\x02", 1000),
    (MILLIS, MICROS, b"\x02", 1000),
    (MICROS, MILLIS, b"\x02", 1),
    ("int", MILLIS, b"\x02", 1000),
    (LOCAL, LOCAL, b"\x02", 1000),
    (NANOS, NANOS, b"\x02", 1),
    (MILLIS, "long", b"\x02", 1),
    (UUID, UUID, b"\x02a", "a"),
    (UUID, "bytes", b"\x02a", b"a"),
    (decimal(4, 2), decimal(4, 2), b"\x04\x01\x02", Decimal("2.58")),
    (decimal(4, 2), decimal(6, 3), b"\x02\xff", Decimal("-0.01")),
    (decimal(4, 2), "bytes", b"\x02\xff", b"\xff"),
    ("bytes", decimal(4, 2), b"\x02\xff", Decimal("-0.01")),
    ("string", decimal(4, 2), b"\x02a", Decimal("0.97")),
    ("long", "float", write_long(2**60 + 2**36 + 1), 2.0**60 + 2.0**37),
    ("int", ["float", "double"], write_long(2**24 + 1), 2.0**24),
    ([DATE, "long"], [DATE, "long"], b"\x00\x02", 1),
    (["int", MILLIS], ["int", MILLIS], b"\x02\x02", 1),
    (["null", "int"], ["null", "int"], b"\x02\x02", 1),
    (["string", ENUM], ["string", ENUM], b"\x02\x00", {"member0": None, "member1": "A"}),
    (["null", "string", ENUM], ["null", "string", ENUM], b"\x02\x02A", {"member0": "A", "member1": None}),
    (["null", "string", ENUM], ["null", "string", ENUM], b"\x00", None),
    ([ONE, TWO], [ONE, TWO], b"\x02\x02", {"member0": None, "member1": {"x": 1}}),
    ([ONES, ONE], [ONES, ONE], b"\x00\x02\x02x\x02\x00", {"member0": {"x": 1}, "member1": None}),
    ([ONES, ONE], [ONES, ONE], b"\x02\x02", {"member0": None, "member1": {"x": 1}}),
    (["string", MILLIS], ["string", MICROS], b"\x02\x02", {"member0": None, "member1": 1000}),
    ("int", ["string", DATE], b"\x02", {"member0": None, "member1": 1}),
    (["int", "string"], ["string", "long"], b"\x00\x02", {"member0": None, "member1": 1}),
    (["int", "string"], "int", b"\x00\x02", 1),
]


@pytest.mark.parametrize(("writer", "reader", "payload", "expected"), CASES)
def test_values_that_spark_accepts(writer: Any, reader: Any, payload: bytes, expected: Any) -> None:
    for decode in decoders(writer, reader):
        found = decode(payload)
        assert found == expected
        assert type(found) is type(expected)


#: The writer's schema, the reader's, a payload, and why Spark takes nothing.
REFUSED: list[tuple[Any, Any, bytes, str]] = [
    (DATE, TIME, b"\x02", "date in the data and time-millis for the reader, which Spark does not convert"),
    (MILLIS, LOCAL, b"\x02", "timestamp-millis in the data and local-timestamp-millis for the reader"),
    (NANOS, MICROS, b"\x02", "timestamp-nanos in the data and timestamp-micros for the reader"),
    (decimal(4, 2), decimal(3, 2), b"\x02\x01", r"decimal\(4,2\) in the data, which decimal\(3,2\) cannot hold"),
    (decimal(3, 1), decimal(3, 1), b"\x04\x03\xe8", "a decimal of more than 3 digits"),
    (decimal(3, 1), decimal(3, 1), b"\x00", "a decimal of no bytes"),
]


@pytest.mark.parametrize(("writer", "reader", "payload", "reason"), REFUSED)
def test_values_that_spark_does_not_accept(writer: Any, reader: Any, payload: bytes, reason: str) -> None:
    for decode in decoders(writer, reader):
        with pytest.raises(DecodeError, match=reason):
            decode(payload)


def test_a_reader_knows_none_of_the_schemas_that_a_writer_refers_to() -> None:
    writer = Ruled("a test", SchemaText(AVRO, json.dumps(record("R", one="One"))))
    sent = SentSchema(writer, (SchemaText(AVRO, json.dumps(ONE)),))
    reader = json.dumps(record("R", one=ONE))
    message = b"\x00\x00\x00\x00\x07\x02"
    assert AvroMaker(reader)(sent)(message) == {"one": {"x": 1}}
    assert AvroJsonMaker(reader)(sent)(message) == '{"one":{"x":1}}'


def test_a_top_level_bytes_is_the_payload_however_the_schema_is_written() -> None:
    sent = SentSchema(Ruled("a test", SchemaText(AVRO, '{"type": "bytes"}')))
    assert AvroMaker('"bytes"')(sent)(b"\x00\x00\x00\x00\x07abc") == b"abc"
    for reader in (None, '"bytes"'):
        assert AvroJsonMaker(reader)(sent)(b"\x00\x00\x00\x00\x07a\xff\n") == '"a\u00ff\\n"'
