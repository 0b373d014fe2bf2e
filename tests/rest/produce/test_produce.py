"""Producing: what lands in the topic, what is answered, and what is refused before anything lands."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

V2 = "application/vnd.kafka.v2+json"

USER = '{"type":"record","name":"User","fields":[{"name":"name","type":"string"},{"name":"age","type":["null","int"]}]}'

#: Partitions of seven that Java's client chooses for these keys (org.apache.kafka.common.utils.Utils.murmur2).
JAVA_PARTITIONS = [
    ("21", 3),
    ("foobar", 0),
    ("a-little-bit-long-string", 1),
    ("a-little-bit-longer-string", 0),
    ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", 3),
    ("abc", 4),
    ("a", 5),
    ("b", 6),
    ("", 2),
    ("0", 3),
    ("1", 2),
    ("key", 4),
    ("key-1", 5),
    ("key-2", 4),
    ("user:42", 6),
    ("Zürich", 2),
    ("日本", 1),
    ("😀", 0),
    ("The quick brown fox", 0),
    ("order-2024-000001", 1),
]


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_keyed_records_land_where_javas_client_puts_them(rest: Any, wide_topic: str):
    answer = rest.produce(wide_topic, [{"key": b64(key.encode())} for key, _ in JAVA_PARTITIONS], "binary")
    assert [(key, one["partition"]) for (key, _), one in zip(JAVA_PARTITIONS, answer["offsets"], strict=True)] == (
        JAVA_PARTITIONS
    )


@pytest.mark.parametrize(
    ("form", "value", "stored"),
    [
        ("binary", "AAH/", b"\x00\x01\xff"),
        ("binary", "aGk", b"hi"),
        ("binary", "", b""),
        ("binary", "null", b"\x9e\xe9\x65"),
        ("binary", None, None),
        ("json", {"a": [1, 2.0, None]}, b'{"a":[1,2.0,null]}'),
        ("json", "text", b'"text"'),
        ("json", 0, b"0"),
        ("json", False, b"false"),
        ("json", "", b'""'),
        ("json", [], b"[]"),
        ("json", None, None),
        ("json", 12345678901234567890123, b"12345678901234567890123"),
        ("json", "ü\u2028", '"ü\u2028"'.encode()),
    ],
)
def test_each_value_has_its_bytes_in_the_topic(
    rest: Any, topic: str, read_topic: Callable[..., list[Any]], form: str, value: Any, stored: bytes | None
):
    body = json.dumps({"records": [{"value": value}]}, ensure_ascii=False).encode()
    answer = rest.post_v2(f"/topics/{topic}", body, form)
    assert answer.json() == {
        "offsets": [{"partition": 0, "offset": 0, "error_code": None, "error": None}],
        "key_schema_id": None,
        "value_schema_id": None,
    }
    assert answer.headers["content-type"] == V2
    assert [message.value() for message in read_topic(topic)] == [stored]


def test_avro_by_text_then_by_id_with_a_tombstone(rest: Any, topic: str, read_topic: Callable[..., list[Any]]):
    first = rest.produce(topic, [{"value": {"name": "a", "age": {"int": 5}}}], "avro", value_schema=USER)
    known = first["value_schema_id"]
    second = rest.produce(
        topic,
        [{"value": {"name": "b", "age": None}}, {"value": None}],
        "avro",
        value_schema_id=known,
    )
    assert second["value_schema_id"] == known
    frame = b"\x00" + known.to_bytes(4, "big")
    assert [message.value() for message in read_topic(topic)] == [
        frame + b"\x02a\x02\x0a",
        frame + b"\x02b\x00",
        None,
    ]


def test_null_is_a_value_where_the_schema_takes_it(rest: Any, topic: str, read_topic: Callable[..., list[Any]]):
    known = rest.produce(topic, [{"value": None}], "avro", value_schema='["null","string"]')["value_schema_id"]
    assert [message.value() for message in read_topic(topic)] == [b"\x00" + known.to_bytes(4, "big") + b"\x00"]


def test_unions_without_tags_by_option(rest: Any, topic: str, read_topic: Callable[..., list[Any]]):
    body = {"value_schema": USER, "records": [{"value": {"name": "a", "age": 5}}]}
    assert rest.post_v2(f"/topics/{topic}", body, "avro").status_code == 400
    assert rest.post_v2(f"/topics/{topic}", body, "avro", unions="plain").status_code == 200
    assert [message.value()[5:] for message in read_topic(topic)] == [b"\x02a\x02\x0a"]
    tagged = rest.subscribed(topic, format="avro")
    assert rest.read_all(tagged, 1, "avro")[0]["value"] == {"name": "a", "age": {"int": 5}}
    plain = rest.subscribed(topic, format="avro", **{"avro.unions": "plain"})
    assert rest.read_all(plain, 1, "avro")[0]["value"] == {"name": "a", "age": 5}


MONEY = (
    '{"type":"record","name":"Money","fields":['
    '{"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":20,"scale":2}},'
    '{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}}]}'
)
MONEY_TEXTS = {"price": "12.50", "at": "1970-01-01T00:00:00.001Z"}
MONEY_STORED = {"price": "\x04\xe2", "at": 1}
MONEY_BYTES = b"\x04\x04\xe2\x02"


def test_logical_types_are_texts_or_as_stored(rest: Any, topic: str, read_topic: Callable[..., list[Any]]):
    def body(*values: Any) -> dict[str, Any]:
        return {"value_schema": MONEY, "records": [{"value": value} for value in values]}

    texts = body(MONEY_TEXTS, {"price": 12.5, "at": 1})
    assert rest.post_v2(f"/topics/{topic}", texts, "avro").status_code == 200
    assert rest.post_v2(f"/topics/{topic}", body(MONEY_STORED), "avro", logical="stored").status_code == 200
    assert [message.value()[5:] for message in read_topic(topic)] == [MONEY_BYTES] * 3
    shown = rest.read_all(rest.subscribed(topic, format="avro"), 3, "avro")
    assert [record["value"] for record in shown] == [MONEY_TEXTS] * 3
    stored = rest.subscribed(topic, format="avro", **{"avro.logical.types": "stored"})
    assert rest.read_all(stored, 1, "avro")[0]["value"] == MONEY_STORED


@pytest.mark.parametrize(
    ("price", "reason"),
    [
        (b'"\\u0004\\u00e2"', "with avro.logical.types=stored, as the text of its bytes"),
        (b"0.100000000000000000001", "21 decimals exceed the scale 2"),
        (b"123456789012345678901", "23 digits exceed the precision 20"),
    ],
)
def test_a_decimal_that_does_not_fit_is_refused(rest: Any, topic: str, price: bytes, reason: str):
    value = b'{"price":%b,"at":1}' % price
    schema = json.dumps(MONEY).encode()
    answer = rest.post_v2(f"/topics/{topic}", b'{"value_schema":%b,"records":[{"value":%b}]}' % (schema, value), "avro")
    assert answer.status_code == 400
    assert "records[0].value.price: expected bytes (decimal)" in answer.json()["message"]
    assert reason in answer.json()["message"]


DIGITS = b"123456789012345678.90"
DIGITS_BYTES = b"\x12\x00\xabT\xa9\x8c\xeb\x1f\n\xd2"
PRICE = '{"type":"record","name":"Price","fields":[{"name":"p","type":%s}]}'
DECIMAL = '{"type":"bytes","logicalType":"decimal","precision":20,"scale":2}'


@pytest.mark.parametrize("side", ["key", "value"])
@pytest.mark.parametrize("decimal", [DECIMAL, DECIMAL.replace("decimal", "decim\\u0061l")], ids=["plain", "escaped"])
def test_a_decimal_keeps_digits_beyond_those_of_a_float(
    rest: Any, topic: str, read_topic: Callable[..., list[Any]], side: str, decimal: str
):
    schema = json.dumps(PRICE % decimal).encode()
    body = b'{"%b_schema":%b,"records":[{"%b":{"p":%b}}]}' % (side.encode(), schema, side.encode(), DIGITS)
    assert rest.post_v2(f"/topics/{topic}", body, "avro").status_code == 200
    (message,) = read_topic(topic)
    assert (message.key() if side == "key" else message.value())[5:] == DIGITS_BYTES


def test_a_decimal_of_a_reference_keeps_all_its_digits(
    rest: Any, topic: str, read_topic: Callable[..., list[Any]], registry_url: str
):
    subject = rest.unique("price")
    answer = httpx.post(f"{registry_url}/subjects/{subject}/versions", json={"schema": PRICE % DECIMAL})
    assert answer.status_code == 200
    members = {
        "value_schema": '{"type":"record","name":"Order","fields":[{"name":"price","type":"Price"}]}',
        "value_schema_references": [{"name": "Price", "subject": subject, "version": 1}],
    }
    body = json.dumps(members)[:-1].encode() + b',"records":[{"value":{"price":{"p":%b}}}]}' % DIGITS
    assert rest.post_v2(f"/topics/{topic}", body, "avro").status_code == 200
    assert [message.value()[5:] for message in read_topic(topic)] == [DIGITS_BYTES]


def test_a_schema_with_references(rest: Any, topic: str, registry_url: str):
    address = '{"type":"record","name":"Address","fields":[{"name":"city","type":"string"}]}'
    subject = rest.unique("address")
    body = {"schema": address}
    assert httpx.post(f"{registry_url}/subjects/{subject}/versions", json=body).status_code == 200
    answer = rest.produce(
        topic,
        [{"value": {"home": {"city": "Bern"}}}],
        "avro",
        value_schema='{"type":"record","name":"P","fields":[{"name":"home","type":"Address"}]}',
        value_schema_references=[{"name": "Address", "subject": subject, "version": 1}],
    )
    assert answer["offsets"][0]["error_code"] is None
    path = rest.subscribed(topic, format="avro")
    assert rest.read_all(path, 1, "avro")[0]["value"] == {"home": {"city": "Bern"}}


def test_a_record_names_a_partition_and_beats_the_path(rest: Any, wide_topic: str):
    body = {"records": [{"value": 1, "partition": 3}, {"value": 2}]}
    answer = rest.post_v2(f"/topics/{wide_topic}/partitions/5", body, "json").json()
    assert [one["partition"] for one in answer["offsets"]] == [3, 5]


@pytest.mark.parametrize(("acks", "offset"), [("all", 0), ("-1", 0), ("1", 0), ("0", -1)])
def test_acks_by_request(rest: Any, topic: str, read_topic: Callable[..., list[Any]], acks: str, offset: int):
    answer = rest.post_v2(f"/topics/{topic}", {"records": [{"value": 1}]}, "json", acks=acks).json()
    assert answer["offsets"] == [{"partition": 0, "offset": offset, "error_code": None, "error": None}]
    assert rest.produce(topic, [{"value": 2}])["offsets"][0]["offset"] == 1
    assert [message.value() for message in read_topic(topic)] == [b"1", b"2"]


BAD = [
    ("json", {"records": []}, 422, 422, "records must not be empty (was [])"),
    ("json", {}, 422, 422, "records must not be empty (was null)"),
    ("json", {"records": None}, 422, 422, "records must not be empty (was null)"),
    ("json", {"records": [{"valu": 1}]}, 422, 422, "Unrecognized field: valu"),
    ("json", {"record": []}, 422, 422, "Unrecognized field: record"),
    ("json", b"null", 422, 422, "the request's body must not be null (was null)"),
    ("json", b"", 422, 422, "the request's body must not be null (was null)"),
    ("binary", b"", 422, 422, "the request's body must not be null (was null)"),
    ("json", b'{"records":[{"value":1}', 400, 400, "Input data was truncated"),
    ("json", b'{"records":[{"value":01}]}', 400, 400, "JSON is malformed: invalid number (byte 22)"),
    ("json", b'{"records":[{"value":"\xff"}]}', 400, 400, "JSON is malformed: not UTF-8"),
    ("json", b'{"records":[{"value":' + b"[" * 1_000_000, 400, 400, "JSON is nested too deeply"),
    (
        "json",
        {"records": [{"partition": "a"}]},
        400,
        400,
        "Expected `int | null`, got `str` - at `$.records[0].partition`",
    ),
    (
        "json",
        {"records": [{"value": 1}, {"partition": -1}]},
        422,
        422,
        "records[1].partition must be between 0 and 2147483647 (was -1)",
    ),
    ("json", {"records": [{"partition": 1}]}, 404, 40402, "Partition not found."),
    (
        "binary",
        {"records": [{"value": "aGk="}, {"key": 5}]},
        400,
        400,
        "Bad Request: records[1].key: data=5 is not a base64 string.",
    ),
    (
        "binary",
        {"records": [{"value": "a!"}]},
        400,
        400,
        "Bad Request: records[0].value: data=a! is not a valid base64 string.",
    ),
    ("avro", {"records": [{"value": 1}]}, 422, 42202, "Request includes values but does not include value schema"),
    (
        "avro",
        {"records": [{"key": 1}], "value_schema": '"int"'},
        422,
        42201,
        "Request includes keys but does not include key schema",
    ),
    (
        "avro",
        {"records": [{"value": 1}], "value_schema": '"int"', "value_schema_id": 1},
        400,
        400,
        "Bad Request: Only one of 'value_schema_id' or 'value_schema' can be used.",
    ),
    (
        "avro",
        {"records": [{"value": 1}, {"value": "x"}], "value_schema": '"int"'},
        400,
        400,
        "Bad Request: records[1].value: expected int, got string",
    ),
    (
        "avro",
        {"records": [{"value": {"name": "a", "age": {"int": "x"}}}], "value_schema": USER},
        400,
        400,
        "Bad Request: records[0].value.age: expected int, got string",
    ),
    (
        "avro",
        {"records": [{"value": {"name": "a"}}], "value_schema": USER},
        400,
        400,
        "Bad Request: records[0].value.age: expected one of null, int, got nothing (the field is missing)",
    ),
]


@pytest.mark.parametrize(("form", "body", "status", "code", "message"), BAD)
def test_a_refused_request_writes_no_record(
    rest: Any, untouched: str, form: str, body: Any, status: int, code: int, message: str
) -> None:
    # A subject for each schema; its topic would be made by the first record.
    topic = rest.unique("nowhere") if form == "avro" else untouched
    answer = rest.post_v2(f"/topics/{topic}", body, form)
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    assert answer.json()["message"].startswith(message)
    offsets = rest.get(f"/topics/{topic}/partitions/0/offsets")
    assert offsets.status_code == 404 if form == "avro" else offsets.json()["end_offset"] == 0


def test_the_routes_and_the_fast_path_answer_alike(rest: Any, topic: str):
    for form, body, *_ in BAD:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": f"application/vnd.kafka.{form}.v2+json"}
        fast = rest.post(f"/topics/{topic}", content=content, headers=headers)
        slow = rest.post(f"/topics/{topic}", content=content, headers=headers | {"x-request-id": "slow"})
        assert (fast.status_code, fast.content, fast.headers["content-type"]) == (
            slow.status_code,
            slow.content,
            slow.headers["content-type"],
        )
        assert slow.headers["x-request-id"] == "slow"


@pytest.mark.parametrize(("version", "status", "code"), [("v1", 422, 42203), ("v2", 400, 400)])
def test_a_record_that_does_not_fit_by_version(
    rest: Any, topic: str, read_topic: Callable[..., list[Any]], version: str, status: int, code: int
):
    answer = rest.post(
        f"/topics/{topic}",
        json={"value_schema": USER, "records": [{"value": {"name": "a", "age": None}}, {"value": {"name": 5}}]},
        headers={"content-type": f"application/vnd.kafka.avro.{version}+json"},
    )
    prefix = {"v1": "Conversion of JSON to Avro failed: ", "v2": "Bad Request: "}[version]
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    assert answer.json()["message"].startswith(f"{prefix}records[1].value.name: expected string, got integer")
    assert answer.headers["content-type"] == f"application/vnd.kafka.{version}+json"
    assert read_topic(topic) == []


def test_schema_errors(rest: Any, topic: str):
    def error(**schemas: Any) -> tuple[int, int, str]:
        answer = rest.post_v2(f"/topics/{topic}", {"records": [{"value": 1}], **schemas}, "avro")
        return answer.status_code, answer.json()["error_code"], answer.json()["message"]

    status, code, message = error(value_schema='{"type":"nope"}')
    assert (status, code) == (422, 42205)
    assert message.startswith("Invalid schema: ")
    status, code, message = error(value_schema_id=999_999)
    assert (status, code) == (422, 42207)
    assert message.startswith("Error serializing message. Error when fetching schema by id. schemaId = 999999\n")
    other = rest.produce(f"{topic}-other", [{"value": 1}], "avro", value_schema='"int"')["value_schema_id"]
    status, code, message = error(value_schema_id=other)
    assert (status, code) == (422, 42207)
    assert message.startswith(f"Error serializing message. Error when fetching schema version. subject = {topic}-value")
    rest.produce(topic, [{"value": 1}], "avro", value_schema='"int"')
    status, code, message = error(value_schema='{"type":"record","name":"R","fields":[]}')
    assert (status, code) == (422, 42207)
    assert f"subject = {topic}-value" in message
    assert "incompatible" in message


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/vnd.kafka.v2+json", 415),
        ("text/plain", 415),
        ("application/vnd.kafka.xml.v2+json", 415),
        ("nonsense", 415),
        ("application/vnd.kafka.binary.v2+json; charset=latin-1", 415),
        ("application/vnd.kafka.binary.v2+json; charset=utf-8", 200),
        ("APPLICATION/vnd.kafka.Binary.v2+JSON", 200),
        ("application/json", 200),
        ("application/octet-stream", 200),
        ("application/vnd.kafka+json", 200),
        ("application/vnd.kafka.v1+json", 200),
        (None, 200),
    ],
)
def test_accepted_and_refused_content_types(rest: Any, topic: str, content_type: str | None, status: int):
    headers = {"content-type": content_type} if content_type else {}
    answer = rest.post(f"/topics/{topic}", content=b'{"records":[{"value":"aGk="}]}', headers=headers)
    assert answer.status_code == status
    if status == 415:
        assert answer.json() == {"error_code": 415, "message": "HTTP 415 Unsupported Media Type"}
        assert answer.headers["content-type"] == "application/json"


def test_a_406_answer_has_no_body(rest: Any, topic: str):
    answer = rest.post(
        f"/topics/{topic}",
        json={"records": [{"value": 1}]},
        headers={"content-type": "application/vnd.kafka.json.v2+json", "accept": "text/html"},
    )
    assert (answer.status_code, answer.content) == (406, b"")
    assert "content-type" not in answer.headers


def test_a_record_over_the_size_limit_refuses_the_request(rest: Any, topic: str, read_topic: Callable[..., list[Any]]):
    answer = rest.post_v2(f"/topics/{topic}", {"records": [{"value": 1}, {"value": "x" * 1_100_000}]}, "json")
    assert (answer.status_code, answer.json()["error_code"]) == (413, 413)
    assert answer.json()["message"].startswith("records[1] is 1100002 bytes when serialized")
    assert read_topic(topic) == []


def test_a_body_over_the_size_limit_is_refused(rest: Any, topic: str):
    answer = rest.post_v2(f"/topics/{topic}", b"[" * (16 * 1024 * 1024 + 1), "json")
    assert (answer.status_code, answer.json()["error_code"]) == (413, 413)


def test_a_topic_that_cannot_be_is_each_records_error(rest: Any):
    answer = rest.post_v2("/topics/no%20such%2Ftopic", {"records": [{"value": 1}]}, "json")
    assert answer.status_code == 200
    [offset] = answer.json()["offsets"]
    # A broker that has not rejected the name yet says no more than that there is no such topic.
    assert offset.pop("error") in ("Broker: Invalid topic", "This server does not host this topic-partition.")
    assert offset == {"partition": None, "offset": None, "error_code": 50002}


def test_results_come_in_the_order_of_the_records(rest: Any, wide_topic: str, read_topic: Callable[..., list[Any]]):
    def one(batch: int) -> list[tuple[Any, Any]]:
        records = [{"value": [batch, index], "partition": (batch + index) % 7} for index in range(50)]
        return list(zip(records, rest.produce(wide_topic, records)["offsets"], strict=True))

    with ThreadPoolExecutor(8) as pool:
        answered = [pair for batch in pool.map(one, range(24)) for pair in batch]
    stored = {
        (partition, message.offset()): json.loads(message.value())
        for partition in range(7)
        for message in read_topic(wide_topic, partition)
    }
    assert len(stored) == len(answered) == 24 * 50
    for record, result in answered:
        assert stored[result["partition"], result["offset"]] == record["value"]
        assert result["partition"] == record["partition"]


def test_bytes_of_avro_have_no_length(rest: Any, topic: str, read_topic: Callable[..., list[Any]]):
    known = rest.produce(topic, [{"value": "ab\u00ff"}], "avro", value_schema='"bytes"')
    frame = b"\x00" + known["value_schema_id"].to_bytes(4, "big")
    assert [message.value() for message in read_topic(topic)] == [frame + b"ab\xff"]
    path = rest.subscribed(topic, format="avro")
    assert [record["value"] for record in rest.read_all(path, 1, "avro")] == ["ab\u00ff"]
