"""Producing one by one: what a record becomes in the topic, and what its report says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

JSON = {"content-type": "application/json"}
AVRO = '{"type":"record","name":"User","namespace":"a","fields":[{"name":"name","type":"string"}]}'
USER = {"name": "Ada"}
PROTOBUF = 'syntax = "proto3"; message User { string name = 1; }'
JSON_SCHEMA = '{"type":"object","properties":{"name":{"type":"string"}}}'


def records(topic: str) -> str:
    return f"/v3/clusters/any/topics/{topic}/records"


def produce(rest: Any, topic: str, *bodies: Any, **query: Any) -> list[Any]:
    """Send records; returns their reports, without the timestamp that the proxy gave them."""
    body = b"".join(body if isinstance(body, bytes) else json.dumps(body).encode() for body in bodies)
    answer = rest.post(records(topic), content=body, headers=JSON, params=query)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert answer.content.endswith(b"\r\n")
    return [json.loads(line) for line in answer.content.split(b"\r\n")[:-1]]


def failure(code: int, message: str) -> dict[str, Any]:
    return {"error_code": code, "message": message}


def test_a_record_with_all_fields(rest: Any, wide_topic: str, read_topic: Callable[..., list[Any]]) -> None:
    record = {
        "partition_id": 3,
        "headers": [{"name": "b", "value": "Ym9keQ=="}, {"name": "a"}, {"name": "b", "value": None}],
        "key": {"type": "STRING", "data": "k"},
        "value": {"type": "JSON", "data": {"a": [1, 2.50]}},
        "timestamp": "2026-01-01T01:00:00.25+01:00",
    }
    assert produce(rest, wide_topic, record) == [
        {
            "error_code": 200,
            "cluster_id": "any",
            "topic_name": wide_topic,
            "partition_id": 3,
            "offset": 0,
            "timestamp": "2026-01-01T00:00:00.250Z",
            "key": {"type": "STRING", "size": 1},
            "value": {"type": "JSON", "size": 13},
        }
    ]
    (message,) = read_topic(wide_topic, 3)
    assert (message.key(), message.value()) == (b"k", b'{"a":[1,2.5]}')
    assert message.headers() == [("b", b"body"), ("a", None), ("b", None)]
    assert message.timestamp() == (1, 1767225600250)


@pytest.mark.parametrize(
    ("value", "stored", "told"),
    [
        ({"type": "BINARY", "data": "aGk="}, b"hi", {"type": "BINARY", "size": 2}),
        ({"type": "BINARY", "data": "aGk"}, b"hi", {"type": "BINARY", "size": 2}),
        ({"type": "BINARY", "data": ""}, b"", {"type": "BINARY", "size": 0}),
        ({"type": "BINARY", "data": None}, None, {"type": "BINARY", "size": -1}),
        ({"type": "BINARY"}, None, {"type": "BINARY", "size": -1}),
        ({"type": "STRING", "data": "é"}, "é".encode(), {"type": "STRING", "size": 2}),
        ({"type": "STRING", "data": None}, None, {"type": "STRING", "size": -1}),
        ({"type": "JSON", "data": [1, {"a": "b"}]}, b'[1,{"a":"b"}]', {"type": "JSON", "size": 13}),
        ({"type": "JSON", "data": False}, b"false", {"type": "JSON", "size": 5}),
        ({"type": "JSON", "data": None}, None, {"type": "JSON", "size": -1}),
        (None, None, None),
    ],
)
def test_data_without_a_schema(
    rest: Any, topic: str, read_topic: Callable[..., list[Any]], value: Any, stored: bytes | None, told: Any
) -> None:
    (report,) = produce(rest, topic, {"value": value})
    assert report.get("value") == told
    assert "key" not in report
    assert [message.value() for message in read_topic(topic)] == [stored]


PRICE = (
    '{"type":"record","name":"Price","fields":['
    '{"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":20,"scale":2}}]}'
)


@pytest.mark.parametrize(
    ("price", "query", "payload"),
    [
        (b'"12.50"', {}, b"\x04\x04\xe2"),
        (b"12.5", {}, b"\x04\x04\xe2"),
        (b"123456789012345678.90", {}, b"\x12\x00\xabT\xa9\x8c\xeb\x1f\n\xd2"),
        (b'"\\u0004\\u00e2"', {"logical": "stored"}, b"\x04\x04\xe2"),
    ],
)
def test_decimals_are_digits_or_as_stored(
    rest: Any, topic: str, read_topic: Callable[..., list[Any]], price: bytes, query: Any, payload: bytes
) -> None:
    head = json.dumps({"type": "AVRO", "schema": PRICE})[:-1].encode()
    (report,) = produce(rest, topic, b'{"value":%b,"data":{"price":%b}}}' % (head, price), **query)
    assert report["error_code"] == 200
    assert [message.value()[5:] for message in read_topic(topic)] == [payload]


def test_an_escaped_schema_keeps_all_digits_of_a_decimal(
    rest: Any, topic: str, read_topic: Callable[..., list[Any]]
) -> None:
    head = json.dumps({"type": "AVRO", "schema": PRICE.replace("decimal", "decim\\u0061l")})[:-1].encode()
    (report,) = produce(rest, topic, b'{"value":%b,"data":{"price":123456789012345678.90}}}' % head)
    assert report["error_code"] == 200
    assert [message.value()[5:] for message in read_topic(topic)] == [b"\x12\x00\xabT\xa9\x8c\xeb\x1f\n\xd2"]


@pytest.mark.parametrize(
    ("schema_type", "schema", "payload"),
    [
        ("AVRO", AVRO, b"\x06Ada"),
        ("JSONSCHEMA", JSON_SCHEMA, b'{"name":"Ada"}'),
        ("PROTOBUF", PROTOBUF, b"\x00\x0a\x03Ada"),
    ],
)
def test_data_by_text_version_id_and_latest(
    rest: Any, topic: str, read_topic: Callable[..., list[Any]], schema_type: str, schema: str, payload: bytes
) -> None:
    (first,) = produce(rest, topic, {"value": {"type": schema_type, "schema": schema, "data": USER}})
    known = first["value"]["schema_id"]
    told = {
        "type": schema_type,
        "subject": f"{topic}-value",
        "schema_id": known,
        "schema_version": 1,
        "size": 5 + len(payload),
    }
    assert first["value"] == told
    others = produce(
        rest,
        topic,
        {"value": {"schema_id": known, "data": USER}},
        {"value": {"schema_version": 1, "data": USER}},
        {"value": {"data": USER}},
        {"value": {"type": schema_type, "schema_id": str(known), "data": USER}},
        {"value": {"type": schema_type, "schema_version": 1, "data": USER}},
        {"value": {"subject": f"{topic}-value", "data": USER}},
        {"value": {"subject_name_strategy": "TOPIC_NAME", "data": USER}},
        {"value": {"data": None}},
    )
    assert [other["value"] for other in others] == [told] * 7 + [told | {"size": -1}]
    frame = b"\x00" + known.to_bytes(4, "big")
    assert [message.value() for message in read_topic(topic)] == [frame + payload] * 8 + [None]


@pytest.mark.parametrize(
    ("naming", "subject"),
    [
        ({"subject": "mine-{topic}"}, "mine-{topic}"),
        ({"subject_name_strategy": "TOPIC_NAME"}, "{topic}-key"),
        ({"subject_name_strategy": "RECORD_NAME"}, "a.User"),
        ({"subject_name_strategy": "TOPIC_RECORD_NAME"}, "{topic}-a.User"),
    ],
)
def test_the_subject_of_a_key(rest: Any, topic: str, naming: dict[str, str], subject: str) -> None:
    named = {name: value.format(topic=topic) for name, value in naming.items()}
    (report,) = produce(rest, topic, {"key": {"type": "AVRO", "schema": AVRO, "data": USER, **named}})
    assert report["key"]["subject"] == subject.format(topic=topic)
    assert "value" not in report


def test_the_latest_version_follows_the_registry(rest: Any, topic: str, registry_url: str) -> None:
    for version in (1, 2):
        schema = json.dumps({"type": "record", "name": "R", "doc": str(version), "fields": []})
        url = f"{registry_url}/subjects/{topic}-value/versions"
        assert httpx.post(url, json={"schema": schema}).status_code == 200
        (report,) = produce(rest, topic, {"value": {"data": {}}})
        while report["value"]["schema_version"] < version:  # it is trusted for a second
            (report,) = produce(rest, topic, {"value": {"data": {}}})
        assert report["value"]["schema_version"] == version


def test_a_schema_with_references(rest: Any, topic: str, registry_url: str) -> None:
    subject = rest.unique("address")
    address = '{"type":"record","name":"Address","fields":[{"name":"city","type":"string"}]}'
    assert httpx.post(f"{registry_url}/subjects/{subject}/versions", json={"schema": address}).status_code == 200
    value = {
        "type": "AVRO",
        "schema": '{"type":"record","name":"P","fields":[{"name":"home","type":"Address"}]}',
        "references": [{"name": "Address", "subject": subject, "version": 1}],
        "data": {"home": {"city": "Bern"}},
    }
    assert produce(rest, topic, {"value": value})[0]["error_code"] == 200


@pytest.mark.parametrize(
    ("timestamp", "stored"),
    [
        ("2026-01-01T00:00:00Z", 1767225600000),
        ("2026-01-01T00:00:00.123456789Z", 1767225600123),
        (1767225600, 1767225600000),
        (1767225600.5, 1767225600500),
        ("1767225600.5", 1767225600500),
    ],
)
def test_timestamps(rest: Any, topic: str, read_topic: Callable[..., list[Any]], timestamp: Any, stored: int) -> None:
    assert produce(rest, topic, {"timestamp": timestamp})[0]["error_code"] == 200
    assert [message.timestamp() for message in read_topic(topic)] == [(1, stored)]


BAD = "Bad Request: "


@pytest.mark.parametrize(
    ("record", "code", "message"),
    [
        (None, 400, "Expected `object`, got `null`"),
        (5, 400, "Expected `object`, got `int`"),
        ([], 400, "Expected `object`, got `array`"),
        ({"x": 1}, 400, "Unrecognized field: x"),
        ({"value": {"x": 1}}, 400, "Unrecognized field: x"),
        ({"value": 5}, 400, "Expected `object | null`, got `int` - at `$.value`"),
        ({"partition_id": "one"}, 400, "Expected `int | null`, got `str` - at `$.partition_id`"),
        ({"partition_id": -1}, 40402, "Partition not found."),
        ({"partition_id": 1}, 40402, "Partition not found."),
        ({"partition_id": 2**40}, 40402, "Partition not found."),
        ({"headers": [{"value": "aGk="}]}, 400, "Object missing required field `name` - at `$.headers[0]`"),
        (
            {"headers": [{"name": "h", "value": "aGk"}]},
            400,
            BAD + "the value of header h is not a valid base64 string.",
        ),
        ({"headers": [{"name": "\0"}]}, 400, BAD + "the name of a header must not hold a null character."),
        (
            {"timestamp": "2026-01-01"},
            400,
            BAD + "timestamp=2026-01-01 is neither an ISO-8601 instant with an offset nor seconds since the epoch.",
        ),
        (
            {"timestamp": 0},
            400,
            BAD + "timestamp=0 must be after 1970-01-01T00:00:00Z and before the year 10000.",
        ),
        (
            {"timestamp": -1.5},
            400,
            BAD + "timestamp=-1.5 must be after 1970-01-01T00:00:00Z and before the year 10000.",
        ),
        ({"value": {"type": "BINARY", "data": 5}}, 400, BAD + "data=5 is not a base64 string."),
        ({"value": {"type": "BINARY", "data": "!"}}, 400, BAD + "data=! is not a valid base64 string."),
        ({"value": {"type": "STRING", "data": {}}}, 400, BAD + "data={} is not a string."),
        (
            {"value": {"type": "TEXT", "data": ""}},
            400,
            BAD + "value: there is no type TEXT; it must be one of BINARY, STRING, JSON, AVRO, JSONSCHEMA, PROTOBUF.",
        ),
        (
            {"key": {"type": "BINARY", "schema_id": 1}},
            400,
            BAD + "key: 'type=BINARY' cannot be used with 'schema_id'.",
        ),
        (
            {"key": {"type": "JSON", "subject": "s"}},
            400,
            BAD + "key: 'type=JSON' cannot be used with 'subject'.",
        ),
        (
            {"value": {"type": "AVRO", "data": 1}},
            400,
            BAD + "value: with type AVRO give schema, schema_id or schema_version.",
        ),
        (
            {"value": {"schema": '"int"', "data": 1}},
            400,
            BAD + "value: with schema give type, one of AVRO, JSONSCHEMA, PROTOBUF.",
        ),
        (
            {"value": {"schema_id": 1, "schema_version": 1}},
            400,
            BAD + "value: Only one of 'schema_id', 'schema_version' or 'schema' can be used.",
        ),
        (
            {"value": {"subject": "s", "subject_name_strategy": "TOPIC_NAME"}},
            400,
            BAD + "value: Only one of 'subject_name_strategy' or 'subject' can be used.",
        ),
        (
            {"value": {"subject_name_strategy": "RECORD_NAME"}},
            400,
            BAD + "Cannot use schema_subject_strategy=RECORD_NAME without schema_id or schema.",
        ),
        (
            {"value": {"subject_name_strategy": "MINE"}},
            400,
            BAD + "value: there is no subject_name_strategy MINE; it must be one of TOPIC_NAME, RECORD_NAME, "
            "TOPIC_RECORD_NAME.",
        ),
        (
            {"value": {"type": "AVRO", "schema": AVRO, "subject": "refused-1", "data": {"name": 5}}},
            400,
            BAD + "value.name: expected string, got integer",
        ),
        (
            {"value": {"schema_id": 99999, "data": 1}},
            422,
            "Error: 42207 : Error serializing message. Error when fetching schema by id. schemaId = 99999",
        ),
        (
            {"value": {"schema_version": 9, "subject": "refused-1", "data": 1}},
            422,
            "Error: 42207 : Error serializing message. Error when fetching schema version. subject = refused-1, "
            "version = 9",
        ),
        (
            {"value": {"data": 1}},
            422,
            "Error: 42207 : Error serializing message. Error when fetching latest schema version. "
            "subject = {topic}-value",
        ),
        (
            {"value": {"type": "PROTOBUF", "subject": "refused-1", "schema_version": 1, "data": 1}},
            422,
            "Error: 42207 : Error serializing message. Version 1 of subject refused-1 is of type AVRO, not PROTOBUF.",
        ),
        (
            {"value": {"type": "AVRO", "schema": '{"type":"enum"}', "data": 1}},
            422,
            "Error: 42205 : Invalid schema: ",
        ),
        (
            {"value": {"type": "BINARY", "data": "A" * 1400000}},
            413,
            "The message is 1050000 bytes when serialized which is larger than 1048576, which is the value of the "
            "max.request.size configuration.",
        ),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, (dict, list)) else None,
)
def test_a_refused_record_is_reported_and_the_next_one_is_sent(
    rest: Any, untouched: str, topic: str, record: Any, code: int, message: str
) -> None:
    reports = produce(rest, topic, record, b" ", {"value": {"type": "JSON", "data": 1}})
    assert reports[0]["error_code"] == code, reports[0]
    assert reports[0]["message"].startswith(message.replace("{topic}", topic))
    assert reports[1]["offset"] == 0


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"value" 5}', "JSON is malformed: expected ':' (byte 9)"),
        (b"}", "JSON is malformed: invalid character (byte 0)"),
        (b"nothing", "JSON is malformed: invalid character (byte 4)"),
        (b'{"value":', "JSON is malformed: the body ends within a value"),
        (b'{"value":{"type":"STRING","data":"\xff"}}', None),
        (b"[" * 20000, "JSON is nested too deeply"),
    ],
)
def test_invalid_json_ends_the_stream(rest: Any, topic: str, body: bytes, problem: str | None) -> None:
    reports = produce(rest, topic, {}, body, b" {}" if problem is None else b"")
    assert reports[0]["error_code"] == 200
    if problem is None:
        assert reports[1] == failure(400, "Bad Request: data=\ufffd is not a string.")
        assert reports[2]["error_code"] == 200
    else:
        assert reports[1:] == [failure(400, f"Bad Request: Error processing message: {problem}")]


@pytest.mark.parametrize(
    ("content", "media_type", "status", "error"),
    [
        (b"", "application/json", 422, (42206, "Payload error. Request body is empty. Data is required.")),
        (b" \n", "application/json", 422, (42206, "Payload error. Request body is empty. Data is required.")),
        (b"{}", "text/plain", 415, (415, "HTTP 415 Unsupported Media Type")),
        (
            b"{}",
            "application/json; charset=utf-16",
            400,
            (400, 'Unsupported charset in Content-Type header. Supports "UTF-8" and "ISO-8859-1".'),
        ),
    ],
)
def test_streams_that_are_refused(
    rest: Any, untouched: str, content: bytes, media_type: str, status: int, error: tuple[int, str]
) -> None:
    answer = rest.post(records(untouched), content=content, headers={"content-type": media_type})
    assert (answer.status_code, answer.json()) == (status, failure(*error))


def test_iso_8859_1(rest: Any, topic: str, read_topic: Callable[..., list[Any]]) -> None:
    answer = rest.post(
        records(topic),
        content='{"value":{"type":"STRING","data":"é"}}'.encode("latin-1"),
        headers={"content-type": "application/json;charset=ISO-8859-1"},
    )
    assert answer.json()["value"] == {"type": "STRING", "size": 2}
    assert [message.value() for message in read_topic(topic)] == ["é".encode()]


def test_acks_unions_and_the_other_prefix(rest: Any, topic: str) -> None:
    assert produce(rest, topic, {}, acks="0")[0]["offset"] == -1
    value = {"type": "AVRO", "schema": '["null","string"]', "data": "x"}
    assert produce(rest, topic, {"value": value})[0]["error_code"] == 400
    assert produce(rest, topic, {"value": value}, unions="plain")[0]["error_code"] == 200
    assert rest.post(f"/kafka{records(topic)}", content=b"{}", headers=JSON).json()["cluster_id"] == "any"


def test_the_time_of_the_broker_is_reported_if_it_sets_it(rest: Any, admin: Any) -> None:
    from tests.rest.conftest import make_topic  # noqa: PLC0415  the one test with a topic of its own

    topic = make_topic(admin, **{"message.timestamp.type": "LogAppendTime"})
    (report,) = produce(rest, topic, {"timestamp": "2020-01-01T00:00:00Z"})
    assert report["timestamp"] > "2026-01-01T00:00:00Z"
