"""Whatever bytes come: a datum or an error of ours, and no more memory than the bytes account for."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat.schema import SchemaText
from serdes.avro import AvroDeserializer
from serdes.client.clients import RegistryClient
from serdes.codec import EncodeError, compile_codec
from serdes.error import SerdesError, ValueTooLarge
from serdes.json_bytes import require_size
from serdes.json_schema import JSONDeserializer
from serdes.protobuf import ProtobufDeserializer
from serdes.serialization import SerializationContext

VALUE = SerializationContext("t", "value")
FUZZED = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

AVRO = """{"type":"record","name":"R","fields":[
  {"name":"a","type":{"type":"array","items":["null","string",{"type":"map","values":"bytes"}]}},
  {"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
  {"name":"e","type":{"type":"enum","name":"E","symbols":["X","Y"]}},
  {"name":"t","type":{"type":"long","logicalType":"timestamp-micros"}},
  {"name":"f","type":{"type":"fixed","name":"F","size":3}},
  {"name":"n","type":{"type":"array","items":"null"}},
  {"name":"g","type":"double"}]}"""
JSON = '{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"maxProperties":3}'
PROTOBUF = """syntax = "proto3"; message M { repeated int64 n = 1; M m = 2; map<string, bytes> b = 3;
  message Inner { string s = 1; } repeated Inner i = 4; }"""


@pytest.fixture
def deserializers(client: RegistryClient) -> dict[str, Any]:
    for number, (schema_type, text) in enumerate((("AVRO", AVRO), ("JSON", JSON), ("PROTOBUF", PROTOBUF)), 1):
        assert client.register(schema_type, SchemaText(schema_type, text)).id == number
    return {
        "AVRO": AvroDeserializer(client),
        "JSON": JSONDeserializer(None, None, client),
        "PROTOBUF": ProtobufDeserializer(None, None, client),
    }


#: A message of each schema.
SEEDS = {
    "AVRO": bytes.fromhex("0000000001 06 00 02 0478 79 04 02 026b 0400ff 00 00 02 07 02 a0 c2 1e 010203 06 00 00")
    + bytes(8),
    "JSON": b'\x00\x00\x00\x00\x02{"a":[1,2,3]}',
    "PROTOBUF": bytes.fromhex("0000000003 00 0a03010203 12020a00 1a07 0a0161 120203ff 2203 0a0178"),
}


def outcome(deserialize: Callable[..., Any], message: bytes) -> None:
    try:
        deserialize(message, VALUE)
    except SerdesError:
        return


@pytest.mark.parametrize("schema_type", list(SEEDS))
def test_every_prefix_of_a_message(deserializers: dict[str, Any], schema_type: str):
    seed = SEEDS[schema_type]
    for size in range(len(seed) + 1):
        outcome(deserializers[schema_type], seed[:size])


@pytest.mark.parametrize("schema_type", list(SEEDS))
def test_every_byte_changed(deserializers: dict[str, Any], schema_type: str):
    seed = SEEDS[schema_type]
    for at in range(5, len(seed)):
        for byte in (0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF):
            outcome(deserializers[schema_type], seed[:at] + bytes([byte]) + seed[at + 1 :])


@pytest.mark.parametrize("schema_type", list(SEEDS))
@FUZZED
@given(payload=st.binary(max_size=60))
def test_any_payload(deserializers: dict[str, Any], schema_type: str, payload: bytes):
    outcome(deserializers[schema_type], SEEDS[schema_type][:5] + payload)


@FUZZED
@given(message=st.binary(max_size=30))
def test_any_message(deserializers: dict[str, Any], message: bytes):
    # An id that the registry does not know would be asked for each time.
    if message[:1] == b"\x00" and message[1:5] > b"\x00\x00\x00\x03":
        message = b"\x00\x00\x00\x00\x01" + message[5:]
    for deserialize in deserializers.values():
        outcome(deserialize, message)


@pytest.mark.parametrize(
    ("schema_type", "payload"),
    [
        ("AVRO", "fefffffff01f"),  # an array of 2^33 items
        ("AVRO", "02 04 fefffffff01f"),  # a map of as many
        ("AVRO", "02 02 fefffffff01f 78"),  # a string of as many bytes
        ("AVRO", "03 02 fefffffff01f"),  # a block whose size is wrong
        ("AVRO", "00 00 00 00 010203 fefffffff01f 00"),  # an array of nulls, each of no bytes
        ("PROTOBUF", "00 0afeffffff0f"),
        ("PROTOBUF", "fefffffff00f"),
        ("PROTOBUF", "00" + "12ffffffff07" * 20),
    ],
)
def test_lengths_that_the_message_cannot_hold(deserializers: dict[str, Any], schema_type: str, payload: str):
    message = SEEDS[schema_type][:5] + bytes.fromhex(payload)
    outcome(deserializers[schema_type], message)
    tracemalloc.start()
    try:
        outcome(deserializers[schema_type], message)
        assert tracemalloc.get_traced_memory()[1] < 300_000
    finally:
        tracemalloc.stop()


def test_a_decimal_on_a_fixed_is_made_up_to_a_size():
    text = '{"type":"fixed","name":"F","size":%d,"logicalType":"decimal","precision":4,"scale":2}'
    assert compile_codec(text % 1786).encode(Decimal("-0.01")) == b"\xff" * 1786
    for size in (1787, 2_000_000_000):
        with pytest.raises(EncodeError, match=f"a decimal of {size} bytes; the limit is 1786 bytes"):
            compile_codec(text % size).encode(Decimal("-0.01"))


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"a": [1, "b"]}, 13),  # {"a":[1,"b"]}
        ([1, 2, 3], 7),
        ("text", 6),
        ({"a": {"b": 1}, "c": 2}, 19),
        ([["a"], ["b"]], 13),
    ],
)
def test_the_size_of_a_text_is_counted_before_it_is_made(value: Any, size: int):
    require_size(value, size)
    with pytest.raises(ValueTooLarge, match=f"^its JSON has more than {size - 1} bytes$"):
        require_size(value, size - 1)
