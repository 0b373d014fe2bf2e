"""Protobuf in columns beside the decoder of single messages: the same values and the same broken messages."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from compat.schema import PROTOBUF, SchemaText
from serdes.rules.context import Ruled
from spark_avro.columns import decode_batch, part
from spark_avro.plan.arrow_type import arrow_type
from spark_avro.plan.protobuf_types import message_class, message_type
from spark_avro.plan.rules.refusing import ANY
from spark_avro.sent_schema import SentSchema
from spark_avro.workers.decoding import Decoder, protobuf_decoder

ID = 7
HEADER = b"\x00\x00\x00\x00\x07\x00"
WIDE = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Wide {
  enum Unit { KG = 0; EACH = 1; LOST = -3; }
  message Line { string sku = 1; uint32 n = 2; repeated string tags = 3; Line2 inner = 4; }
  message Line2 { sint32 z = 1; optional bytes b = 2; }
  int64 i64 = 1;
  optional string note = 2;
  repeated Line lines = 3;
  map<string, double> rates = 4;
  Unit unit = 5;
  uint64 u64 = 6;
  bytes raw = 7;
  google.protobuf.Timestamp at = 8;
  google.protobuf.Int32Value maybe = 9;
  oneof way { bool fast = 10; string slow = 11; Line by = 12; }
  repeated sint64 zigzags = 13;
  repeated fixed32 f32s = 14;
  repeated Unit units = 15;
  map<int32, Line> by_number = 16;
  Line line = 17;
  float f = 18;
  double d = 19;
  sfixed64 s64 = 20;
  fixed64 x64 = 21;
  int32 i32 = 22;
  uint32 u32 = 23;
  repeated google.protobuf.Timestamp times = 24;
  optional int32 far = 2000;
}
"""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a single row."""
    monkeypatch.setattr(part, "FEW", 1)


def decoder_of(text: str, message: str) -> tuple[Decoder, pa.DataType, Any]:
    """The decoder of a schema, the type of its values, and the message's class."""
    sent = SentSchema(Ruled("a schema", SchemaText(PROTOBUF, text)))
    kind = arrow_type(message_type(message_class(sent, message).DESCRIPTOR))
    return protobuf_decoder({ID: sent}, sent, message, "a test", ANY, None), kind, message_class(sent, message)


def read(text: str, message: str, payloads: list[bytes]) -> tuple[list[Any], list[bytes]]:
    """The values in columns, and the payloads that were left to the decoder of single messages."""
    decoder, kind, _ = decoder_of(text, message)
    left: list[bytes] = []

    def decode(framed: bytes | None) -> tuple[Any, str | None]:
        assert framed is not None
        left.append(framed[len(HEADER) :])
        return None, "left"

    columns = decoder.make_columns and decoder.make_columns(decoder.schemas[ID], kind)
    assert columns is not None
    values, _ = decode_batch(pa.array([HEADER + payload for payload in payloads]), kind, decode, lambda _: columns)
    return values.to_pylist(), left


ONE = 'syntax = "proto3"; message M {{ {0} }}'


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("field", "payload", "value"),
    [
        ("int32 a = 1;", b"\x08\x96\x01", 150),
        ("int32 a = 1;", b"", 0),
        ("int32 a = 1;", b"\x08" + b"\xff" * 9 + b"\x01", -1),
        ("int32 a = 1;", b"\x08\x01\x08\x02", 2),
        ("int32 a = 1;", b"\x10\x05\x08\x02\x1a\x01x\x21" + bytes(8) + b"\x2d" + bytes(4), 2),
        ("int32 a = 1;", b"\x0a\x01\x05", 0),
        ("optional int32 a = 1;", b"", None),
        ("optional int32 a = 1;", b"\x08\x00", 0),
        ("sint32 a = 1;", b"\x08\x03", -2),
        ("sint64 a = 1;", b"\x08" + b"\xff" * 9 + b"\x01", -(2**63)),
        ("uint32 a = 1;", b"\x08\xff\xff\xff\xff\x0f", 2**32 - 1),
        ("bool a = 1;", b"\x08\x02", True),
        ("fixed32 a = 1;", b"\x0d\xff\xff\xff\xff", 2**32 - 1),
        ("double a = 1;", b"\x09\x00\x00\x00\x00\x00\x00\xf8\x3f", 1.5),
        ("string a = 1;", "\x0a\x02ä".encode(), "ä"),
        ("bytes a = 1;", b"\x0a\x02\x00\xff", b"\x00\xff"),
        ("repeated int32 a = 1;", b"\x0a\x03\x01\x96\x01\x08\x05\x0a\x00", [1, 150, 5]),
        ("repeated string a = 1;", b"\x0a\x01x\x10\x01\x0a\x01y", ["x", "y"]),
        ("string a = 2000;", b"\x82\x7d\x01x", "x"),
    ],
)
def test_a_field(field: str, payload: bytes, value: Any) -> None:
    assert read(ONE.format(field), "M", [payload]) == ([{"a": value}], [])


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("field", "payload"),
    [
        ("int32 a = 1;", b"\x08"),
        ("int32 a = 1;", b"\x08" + b"\xff" * 10 + b"\x01"),
        ("int32 a = 1;", b"\x00\x01"),
        ("int32 a = 1;", b"\x08\x01\x80\x00"),
        ("string a = 1;", b"\x0a\x01x\x0a\x01y"),
        ("map<int32, int32> a = 1;", b"\x0a\x06\x08\x01\x10\x02\x18\x01"),
        ("int32 a = 1;", b"\x13\x14"),
        ("int32 a = 1;", b"\x88\x80\x80\x80\x80\x00\x01"),
        ("string a = 1;", b"\x0a\x05x"),
        ("string a = 1;", b"\x0a\x01\xff"),
        ("string a = 1;", b"\x0a\x81\x80\x80\x80\x80\x00x"),
        ("repeated int32 a = 1;", b"\x0a\x02\x01\x96"),
        ("repeated fixed32 a = 1;", b"\x0a\x05\x01\x00\x00\x00\x01"),
        ("map<int32, int32> a = 1;", b"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x01\x10\x03"),
    ],
)
def test_the_column_reader_leaves_doubtful_messages_to_the_single_message_decoder(field: str, payload: bytes) -> None:
    assert read(ONE.format(field), "M", [payload]) == ([None], [payload])


@pytest.mark.usefixtures("few")
def test_members_of_a_oneof_replace_each_other() -> None:
    text = ONE.format("oneof o { int32 a = 1; string b = 2; }")
    # The text that was replaced must be UTF-8, too.
    assert read(text, "M", [b"\x08\x01\x12\x01x", b"\x12\x00\x08\x00", b"\x12\x01x\x08\x00", b""]) == (
        [{"a": None, "b": "x"}, {"a": 0, "b": None}, None, {"a": None, "b": None}],
        [b"\x12\x01x\x08\x00"],
    )


@pytest.mark.parametrize(
    "text",
    [
        'syntax = "proto2"; message M { required int32 a = 1; }',
        'syntax = "proto2"; message M { optional group G = 1 { optional int32 a = 1; } }',
        'syntax = "proto3"; message M { N n = 1; } message N {}',
    ],
)
def test_messages_that_are_read_one_by_one(text: str) -> None:
    decoder, kind, _ = decoder_of(text, "M")
    assert decoder.make_columns
    assert decoder.make_columns(decoder.schemas[ID], kind) is None


def message_of(make: Any, chance: random.Random) -> Any:
    """A random message."""
    message = make()
    fill(message, chance, depth=0)
    return message


def fill(message: Any, chance: random.Random, *, depth: int) -> None:
    """Set about half of the fields."""
    for field in message.DESCRIPTOR.fields:
        if chance.random() < 0.5 or depth > 3:
            continue
        if field.message_type is not None:
            fill_messages(field, getattr(message, field.name), chance, depth=depth + 1)
        elif field.is_repeated:
            getattr(message, field.name).extend(scalar(field, chance) for _ in range(chance.randrange(4)))
        else:
            setattr(message, field.name, scalar(field, chance))


def fill_messages(field: Any, target: Any, chance: random.Random, *, depth: int) -> None:
    """Fill a message, add some, or set entries of a map."""
    if field.message_type.GetOptions().map_entry:
        for _ in range(chance.randrange(3)):
            key = chance.choice([1, -5, 300]) if "number" in field.name else chance.choice(["a", "", "ä"])
            if field.message_type.fields_by_name["value"].message_type is None:
                target[key] = chance.choice([0.0, 1.5])
            else:
                fill(target[key], chance, depth=depth)
        return
    for one in [target.add() for _ in range(chance.randrange(4))] if field.is_repeated else [target]:
        if one is target:
            one.SetInParent()
        if one.DESCRIPTOR.name == "Timestamp":
            one.seconds, one.nanos = chance.choice([-5, 0, 2**33]), chance.choice([0, 1, 999_999_999])
        else:
            fill(one, chance, depth=depth)


def scalar(field: Any, chance: random.Random) -> Any:
    """A value of a scalar field."""
    if field.enum_type is not None:
        return chance.choice([0, 1, -3] * 20 + [5])
    kinds = {
        field.CPPTYPE_INT32: [0, 1, -1, 2**31 - 1, -(2**31), 300],
        field.CPPTYPE_INT64: [0, -1, 2**63 - 1, -(2**63), 300],
        field.CPPTYPE_UINT32: [0, 127, 128, 2**32 - 1],
        field.CPPTYPE_UINT64: [0, 127, 128, 2**64 - 1],
        field.CPPTYPE_DOUBLE: [0.0, -1.5],
        field.CPPTYPE_FLOAT: [0.0, -1.5],
        field.CPPTYPE_BOOL: [False, True],
        field.CPPTYPE_STRING: ["", "x", "ä" * 100],
    }
    value = chance.choice(kinds[field.cpp_type])
    return value.encode() if field.type == field.TYPE_BYTES else value


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("seed", range(12))
def test_random_messages_have_the_values_of_single_ones(seed: int) -> None:
    chance = random.Random(seed)
    decoder, kind, make = decoder_of(WIDE, "Wide")
    payloads = []
    for _ in range(600):
        payload = message_of(make, chance).SerializeToString()
        turn = chance.random()
        if turn < 0.2:
            # Fields in another order, and some of them twice.
            payload += message_of(make, chance).SerializeToString()
        elif turn < 0.4 and payload:
            # Broken somewhere, or not.
            at = chance.randrange(len(payload))
            payload = payload[:at] + bytes([chance.randrange(256)]) + payload[at + chance.randrange(2) :]
        payloads.append(HEADER + payload)
    left = 0

    def decode(message: bytes | None) -> tuple[Any, str | None]:
        nonlocal left
        left += 1
        return decoder.decode(message)

    assert decoder.make_columns
    columns = decoder.make_columns(decoder.schemas[ID], kind)
    values, reasons = decode_batch(pa.array(payloads), kind, decode, lambda _: columns)
    expected, expected_reasons = decode_batch(pa.array(payloads), kind, decoder.decode, lambda _: None)
    assert reasons.to_pylist() == expected_reasons.to_pylist()
    for value, wanted in zip(values.to_pylist(), expected.to_pylist(), strict=True):
        assert sorted_maps(value) == sorted_maps(wanted)
    assert left < 300


def sorted_maps(value: Any) -> Any:
    """The value with the entries of maps in the order of their keys; the runtime gives them in any order."""
    if isinstance(value, dict):
        return {name: sorted_maps(part) for name, part in value.items()}
    if isinstance(value, list):
        parts = [sorted_maps(part) for part in value]
        return sorted(parts, key=repr) if parts and isinstance(parts[0], tuple) else parts
    return value


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("indexes", "is_read"),
    [
        (b"\x00", True),
        (b"\x02\x00", True),
        (b"\x02\x02", False),
        (b"\x04\x00\x00", False),
        (b"\x01", False),
        (b"\x02", False),
    ],
)
def test_only_rows_with_the_indexes_of_the_message_are_read(indexes: bytes, *, is_read: bool) -> None:
    decoder, kind, _ = decoder_of(ONE.format("int32 a = 1;"), "M")
    assert decoder.make_columns
    columns = decoder.make_columns(decoder.schemas[ID], kind)
    message = pa.array([HEADER[:-1] + indexes + (b"\x08\x05" if indexes != b"\x02" else b"")])
    values, reasons = decode_batch(message, kind, lambda _: (None, "left"), lambda _: columns)
    assert (values.to_pylist(), reasons.to_pylist()) == (([{"a": 5}], [None]) if is_read else ([None], ["left"]))
