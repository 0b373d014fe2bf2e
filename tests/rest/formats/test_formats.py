"""JSON Schema and Protobuf from request to topic and back, and conversions without any broker."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat.schema import SchemaText
from rest_proxy.consume.consumers.patterns import to_posix
from rest_proxy.formats.embedded import BINARY, FORMATS, JSON
from rest_proxy.formats.plain import DataError
from serdes.text import TextOptions, text_form

POINT = json.dumps(
    {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["x"],
        "additionalProperties": False,
    }
)
PROTO = 'syntax = "proto3"; message Point { int32 x = 1; int64 big_one = 2; repeated string tags = 3; }'


def test_json_schema_round_trip(rest: Any, topic: str, read_topic: Callable[..., list[Any]]):
    value = {"x": 1, "tags": ["a"]}
    known = rest.produce(topic, [{"value": value}, {"value": None}], "jsonschema", value_schema=POINT)
    frame = b"\x00" + known["value_schema_id"].to_bytes(4, "big")
    assert [message.value() for message in read_topic(topic)] == [frame + b'{"x":1,"tags":["a"]}', None]
    path = rest.subscribed(topic, format="jsonschema")
    assert [record["value"] for record in rest.read_all(path, 2, "jsonschema")] == [value, None]


def test_protobuf_round_trip(rest: Any, topic: str, read_topic: Callable[..., list[Any]]):
    records = [{"value": {"x": 1, "bigOne": "5", "tags": ["a"]}}, {"value": {"x": 2}}, {"value": None}]
    known = rest.produce(topic, records, "protobuf", value_schema=PROTO)
    frame = b"\x00" + known["value_schema_id"].to_bytes(4, "big") + b"\x00"
    assert [message.value() for message in read_topic(topic)] == [
        frame + b"\x08\x01\x10\x05\x1a\x01a",
        frame + b"\x08\x02",
        None,
    ]
    path = rest.subscribed(topic, format="protobuf")
    assert [record["value"] for record in rest.read_all(path, 3, "protobuf")] == [
        {"x": 1, "bigOne": "5", "tags": ["a"]},
        {"x": 2, "bigOne": "0", "tags": []},
        None,
    ]


@pytest.mark.parametrize(
    ("form", "schema", "value", "message"),
    [
        ("jsonschema", POINT, {"x": "a"}, 'Bad Request: records[1].value.x: "a" is not of type "integer"'),
        (
            "jsonschema",
            POINT,
            {"x": 1, "tags": ["a", 1]},
            'Bad Request: records[1].value.tags[1]: 1 is not of type "string"',
        ),
        ("jsonschema", POINT, {}, 'Bad Request: records[1].value: "x" is a required property'),
        ("protobuf", PROTO, {"y": 1}, "Bad Request: records[1].value: "),
        ("protobuf", PROTO, {"x": "a"}, "Bad Request: records[1].value: Failed to parse x field"),
        ("protobuf", PROTO, 5, "Bad Request: records[1].value: expected an object, got integer"),
    ],
)
def test_records_that_do_not_fit(rest: Any, untouched: str, form: str, schema: str, value: Any, message: str) -> None:
    body = {"value_schema": schema, "records": [{"value": {"x": 1}}, {"value": value}]}
    answer = rest.post_v2(f"/topics/{untouched}-{form}", body, form)
    assert (answer.status_code, answer.json()["error_code"]) == (400, 400)
    assert answer.json()["message"].startswith(message)
    # The topic would have been made by the first record.
    assert rest.get(f"/topics/{untouched}-{form}").status_code == 404


@pytest.mark.parametrize(
    ("form", "schema"),
    [("jsonschema", '{"type":"nope"}'), ("jsonschema", "{"), ("protobuf", "message {"), ("avro", "[")],
)
def test_schemas_that_are_refused(rest: Any, topic: str, form: str, schema: str):
    answer = rest.post_v2(f"/topics/{topic}", {"value_schema": schema, "records": [{"value": {}}]}, form)
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42205)
    assert answer.json()["message"].startswith("Invalid schema: ")


def test_a_record_of_another_schema_type_does_not_decode(rest: Any, topic: str):
    rest.produce(topic, [{"value": 1}], "avro", value_schema='"int"')
    path = rest.subscribed(topic, format="protobuf", **{"decode.errors": "report"})
    assert "is of type AVRO, not PROTOBUF" in rest.read_all(path, 1, "protobuf")[0]["error"]


@given(st.binary())
def test_binary_round_trip(data: bytes):
    text = json.dumps(base64.b64encode(data).decode()).encode()
    assert BINARY.encode is not None
    assert BINARY.decode is not None
    assert BINARY.encode(text) == data
    assert BINARY.decode(data) == text


@given(
    st.binary().map(base64.b64encode).flatmap(lambda good: st.sampled_from([good, good[:-1], good + b"=", b"=" + good]))
)
@example(b"YR==")
@example(b"YQ==YQ==")
@example(b"-_==")
@example(b"Y Q=")
@example(b"Y\\u0051==")
def test_the_slow_decoder_accepts_base64_that_the_parser_accepts(encoded: bytes):
    text = b'"%b"' % encoded
    assert BINARY.encode is not None
    try:
        at_once = msgspec.json.decode(text, type=bytes)
    except msgspec.ValidationError:
        return
    assert BINARY.encode(text) == at_once


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(max_examples=100, deadline=None)
@given(_json.filter(lambda value: value is not None), st.sampled_from([None, 1]))
def test_json_round_trip(value: Any, indent: int | None):
    text = json.dumps(value, indent=indent, ensure_ascii=False).encode(errors="surrogatepass")
    assert JSON.prepare is not None
    assert JSON.encode is not None
    assert JSON.decode is not None
    try:
        stored = JSON.encode(JSON.prepare(text))
    except UnicodeDecodeError:
        return
    assert json.loads(stored) == value
    assert JSON.decode(stored) == stored


@pytest.mark.parametrize("data", [b"\xff", b"{", b"1 2", b'"\xff"', b"nul", b"[" * 100_000])
def test_bytes_that_are_no_json(data: bytes):
    assert JSON.decode is not None
    with pytest.raises(DataError):
        JSON.decode(data)


@settings(max_examples=50, deadline=None)
@given(st.integers(-(2**31), 2**31 - 1), st.text(), st.binary())
def test_avro_round_trip(number: int, text_: str, data: bytes):
    schema = (
        '{"type":"record","name":"R","fields":[{"name":"n","type":["null","int"]},{"name":"t","type":"string"},'
        '{"name":"b","type":"bytes"}]}'
    )
    form, text = text_form("AVRO"), SchemaText("AVRO", schema)
    encode = form.encoder(text, (), form.writing(), TextOptions()).encode
    decode = form.decoder((text, ()), None, form.reading(), TextOptions())
    value = {"n": {"int": number}, "t": text_, "b": data.decode("latin-1")}
    assert json.loads(decode(b"\0\0\0\0\1" + encode(value), 5)) == value


def test_the_formats_in_order():
    assert list(FORMATS) == ["binary", "json", "avro", "jsonschema", "protobuf"]


@pytest.mark.parametrize(
    ("pattern", "posix"),
    [
        ("a.*", "^(a.*)$"),
        (r"\d+-\w\s", r"^([0-9]+-[a-zA-Z0-9_][ \t])$"),
        (r"(?:a|b)+?", "^((a|b)+)$"),
        (r"[\d.\-x]", "^([0-9.\\-x])$".replace("\\-", "-")),
        (r"a\.b", r"^(a\.b)$"),
        (r"\W", "^([^a-zA-Z0-9_])$"),
    ],
)
def test_patterns_as_posix(pattern: str, posix: str):
    assert to_posix(pattern) == posix
