"""Schemas that a record's header names by guid (V1): produced in all versions, and read beside those with a prefix."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient as ConfluentClient
from confluent_kafka.schema_registry import header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.serialization import SerializationContext

from magicbyte.testing.servers import running_rest_proxy
from tests.rest.conftest import Rest, make_topic

AVRO = '{"type":"record","name":"User","fields":[{"name":"id","type":"int"}]}'
JSON_SCHEMA = '{"type":"object","properties":{"id":{"type":"integer"}}}'
PROTO = 'syntax = "proto3"; message Other { string a = 1; } message User { int32 id = 1; message In { int32 id = 1; } }'
NAMES = ("__key_schema_id", "__value_schema_id")
#: Two headers that are the record's own.
OWN = [{"name": "a", "value": "eA=="}, {"name": "a", "value": None}]
FORMS = {
    "avro": (AVRO, b"\x02", b""),
    "jsonschema": (JSON_SCHEMA, b'{"id":1}', b""),
    "protobuf": (PROTO.replace("message Other { string a = 1; } ", ""), b"\x08\x01", b"\x00"),
}


def guid_of(registry_url: str, schema_id: int) -> str:
    return str(httpx.get(f"{registry_url}/schemas/ids/{schema_id}").json()["guid"])


def header_of(registry_url: str, schema_id: int) -> bytes:
    return b"\x01" + UUID(guid_of(registry_url, schema_id)).bytes


def prefix_of(schema_id: int) -> bytes:
    return b"\x00" + schema_id.to_bytes(4, "big")


def produce_v3(rest: Any, topic: str, *records: Any) -> list[Any]:
    content = b"".join(json.dumps(record).encode() for record in records)
    headers = {"content-type": "application/json"}
    answer = rest.post(f"/v3/clusters/any/topics/{topic}/records", content=content, headers=headers)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.content.split(b"\r\n")[:-1]]


def read_v3(rest: Any, topic: str, **query: Any) -> list[Any]:
    cluster = rest.get("/v3/clusters").json()["data"][0]["cluster_id"]
    answer = rest.get(f"/v3/clusters/{cluster}/topics/{topic}/partitions/0/records", params=query)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["data"])


@pytest.fixture(scope="module")
def header_rest(kafka: str, registry_url: str) -> Iterator[Rest]:
    """A proxy that frames values in headers, unless a request says otherwise."""
    java = "io.confluent.kafka.serializers.schema.id.HeaderSchemaIdSerializer"
    properties = {"schema.registry.value.schema.id.serializer": java}
    with (
        running_rest_proxy(kafka, registry_url, properties=properties) as server,
        Rest(base_url=server.url, timeout=30) as client,
    ):
        yield client


@pytest.mark.parametrize("form", FORMS)
def test_v2_frames_in_headers_as_the_request_says(
    rest: Any, topic: str, registry_url: str, read_topic: Callable[..., list[Any]], form: str
):
    schema, payload, indexes = FORMS[form]
    records = [{"key": {"id": 1}, "value": {"id": 1}}, {"value": {"id": 1}}, {"key": {"id": 1}, "value": None}, {}]
    known = rest.produce(
        topic,
        records,
        form,
        key_schema=schema,
        key_schema_id_serializer="HEADER",
        value_schema=schema,
        value_schema_id_serializer="HEADER",
    )
    key, value = (header_of(registry_url, known[f"{side}_schema_id"]) + indexes for side in ("key", "value"))
    stored = [(message.key(), message.value(), message.headers()) for message in read_topic(topic)]
    assert stored == [
        (payload, payload, [("__key_schema_id", key), ("__value_schema_id", value)]),
        (None, payload, [("__value_schema_id", value)]),
        (payload, None, [("__key_schema_id", key)]),
        (None, None, None),
    ]
    rest.produce(topic, records[:1], form, key_schema=schema, value_schema=schema, value_schema_id_serializer="HEADER")
    rest.produce(topic, records[:1], form, key_schema=schema, value_schema_id=known["value_schema_id"])
    mixed = read_topic(topic)[4:]
    prefix = prefix_of(known["key_schema_id"]) + indexes + payload
    assert [(message.key(), message.value(), message.headers()) for message in mixed] == [
        (prefix, payload, [("__value_schema_id", value)]),
        (prefix, prefix_of(known["value_schema_id"]) + indexes + payload, None),
    ]
    # All six come back alike, by an instance and by the stateless read.
    shown = [(record.get("key"), record.get("value")) for record in [*records, records[0], records[0]]]
    path = rest.subscribed(topic, format=form)
    assert [(one["key"], one["value"]) for one in rest.read_all(path, 6, form)] == shown
    data = [tuple(one[side] and one[side]["data"] for side in ("key", "value")) for one in read_v3(rest, topic)]
    assert data == shown


def test_the_header_counts_as_a_part_of_the_record(rest: Any, topic: str):
    """The largest record has 1 MiB: with 17 bytes of the guid and the name, nothing of this request is sent."""
    text = "x" * (1048576 - 3 - len("__value_schema_id") - 16)
    body = {"value_schema": '"string"', "value_schema_id_serializer": "HEADER", "records": [{"value": text}]}
    answer = rest.post_v2(f"/topics/{topic}", body, "avro")
    assert answer.status_code == 413, answer.text
    assert "records[0] is 1048577 bytes when serialized" in answer.json()["message"]


@pytest.mark.parametrize(
    ("form", "members", "status", "code", "message"),
    [
        ("avro", {"value_schema_id_serializer": "header"}, 422, 422, "must be one of PREFIX, HEADER (was header)"),
        ("avro", {"key_schema_id_serializer": ""}, 422, 422, "key_schema_id_serializer must be one of PREFIX, HEADER"),
        ("avro", {"key_schema_id_serializer": 1}, 400, 400, "key_schema_id_serializer"),
        ("json", {"value_schema_id_serializer": "HEADER"}, 422, 422, "Unrecognized field: value_schema_id_serializer"),
        (
            "binary",
            {"value_schema_id_serializer": "HEADER"},
            422,
            422,
            "Unrecognized field: value_schema_id_serializer",
        ),
    ],
)
def test_v2_refuses_other_serializers(
    rest: Any, topic: str, form: str, members: Any, status: int, code: int, message: str
):
    body = {"value_schema": AVRO, **members, "records": [{"value": None}]}
    answer = rest.post_v2(f"/topics/{topic}", body, form)
    assert (answer.status_code, answer.json()["error_code"]) == (status, code), answer.text
    assert message in answer.json()["message"]


def test_a_setting_frames_in_headers(
    header_rest: Any, topic: str, registry_url: str, read_topic: Callable[..., list[Any]]
):
    schemas = {"key_schema": AVRO, "value_schema": AVRO}
    record = {"key": {"id": 1}, "value": {"id": 1}}
    known = header_rest.produce(topic, [record], "avro", **schemas)
    header_rest.produce(topic, [record], "avro", **schemas, value_schema_id_serializer="PREFIX")
    data = {"type": "AVRO", "schema": AVRO, "data": {"id": 1}}
    produce_v3(header_rest, topic, {"value": data}, {"value": {**data, "schema_id_serializer": "PREFIX"}})
    header = [("__value_schema_id", header_of(registry_url, known["value_schema_id"]))]
    prefix = prefix_of(known["value_schema_id"]) + b"\x02"
    assert [(message.value(), message.headers()) for message in read_topic(topic)] == [
        (b"\x02", header),
        (prefix, None),
        (b"\x02", header),
        (prefix, None),
    ]


def test_v3_frames_as_each_record_says(rest: Any, topic: str, registry_url: str, read_topic: Callable[..., list[Any]]):
    data = {"type": "AVRO", "schema": AVRO, "data": {"id": 1}}
    in_header = {**data, "schema_id_serializer": "HEADER"}
    (first,) = produce_v3(rest, topic, {"key": in_header, "value": in_header, "headers": OWN})
    assert first["value"] == {
        "type": "AVRO",
        "subject": f"{topic}-value",
        "schema_id": first["value"]["schema_id"],
        "schema_version": 1,
        "size": 1,
    }
    schema_id = first["value"]["schema_id"]
    guid, header = guid_of(registry_url, schema_id), header_of(registry_url, schema_id)
    text = base64.b64encode(header).decode()
    # The frame's header replaces headers of its name, and a header without a frame to collide with stays.
    named = [*OWN, {"name": "__value_schema_id", "value": text}]
    reports = produce_v3(
        rest,
        topic,
        {"value": {"schema_id": schema_id, "schema_id_serializer": "HEADER", "data": {"id": 2}}, "headers": named},
        {"value": {"schema_guid": guid, "schema_id_serializer": "HEADER", "data": {"id": 3}}, "headers": named[::-1]},
        {"value": {"schema_guid": guid, "data": {"id": 4}}, "headers": OWN},
        {"value": {"schema_version": 1, "schema_id_serializer": "HEADER", "data": None}, "headers": named},
        {"value": {"type": "BINARY", "data": "Cg=="}, "headers": named},
        {"value": {"type": "AVRO", "schema_guid": guid, "data": {"id": 6}}, "headers": named},
    )
    assert [report["error_code"] for report in reports] == [200, 200, 200, 200, 200, 400]
    assert reports[-1]["message"] == (
        "Bad Request: value: readers would take the schema that the header __value_schema_id names: leave this header "
        "out, or write the frame into it with schema_id_serializer HEADER"
    )
    own = [("a", b"x"), ("a", None)]
    stored = [(message.key(), message.value(), message.headers()) for message in read_topic(topic)]
    assert stored == [
        (b"\x02", b"\x02", [*own, ("__key_schema_id", header), ("__value_schema_id", header)]),
        (None, b"\x04", [*own, ("__value_schema_id", header)]),
        (None, b"\x06", [*own[::-1], ("__value_schema_id", header)]),
        (None, prefix_of(schema_id) + b"\x08", own),
        (None, None, [*own, ("__value_schema_id", header)]),
        (None, b"\n", [*own, ("__value_schema_id", header)]),
    ]
    found = read_v3(rest, topic)
    assert found[0]["key"] == {
        "type": "AVRO",
        "schema_guid": guid,
        "schema_id_serializer": "HEADER",
        "size": 1,
        "data": {"id": 1},
    }
    assert [one["value"] and one["value"]["data"] for one in found] == [{"id": number} for number in (1, 2, 3, 4)] + [
        None,
        {"id": 5},
    ]
    assert found[3]["value"] == {"type": "AVRO", "schema_id": schema_id, "size": 6, "data": {"id": 4}}
    # What was read can be produced again as it is.
    assert [report["error_code"] for report in produce_v3(rest, topic, *found)] == [200] * 6
    again = [(message.key(), message.value(), message.headers()) for message in read_topic(topic)][6:]
    assert again == stored


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"type": "AVRO", "schema": AVRO, "schema_id_serializer": "header"},
            "there is no schema_id_serializer header; it must be one of PREFIX, HEADER.",
        ),
        ({"schema_guid": "x"}, "schema_guid must be a guid such as 89791762-2336-4186-9674-299b90a802e2 (was x)."),
        (
            {"schema_guid": "89791762-2336-4186-9674-299b90a802e2", "schema_id": 1},
            "'schema_id' and 'schema_guid' both name a schema: give one of them.",
        ),
        (
            {"type": "BINARY", "schema_id_serializer": "HEADER"},
            "'type=BINARY' cannot be used with 'schema_id_serializer'.",
        ),
        ({"type": "JSON", "schema_guid": "x"}, "'type=JSON' cannot be used with 'schema_guid'."),
    ],
)
def test_v3_refuses_what_is_no_frame(rest: Any, untouched: str, members: Any, message: str):
    (report,) = produce_v3(rest, untouched, {"value": {"data": None, **members}})
    assert report == {"error_code": 400, "message": f"Bad Request: value: {message}"}


def test_v3_does_not_know_a_guid_that_the_registry_lacks(rest: Any, untouched: str):
    guid = "89791762-2336-4186-9674-299b90a802e2"
    (report,) = produce_v3(rest, untouched, {"value": {"schema_guid": guid, "data": {"id": 1}}})
    assert report["error_code"] == 422
    assert f"Error when fetching schema by guid. schemaGuid = {guid}" in report["message"]


def test_protobuf_indexes_go_into_the_header(
    rest: Any, topic: str, kafka: str, registry_url: str, read_topic: Callable[..., list[Any]]
):
    """The third message's type is in the header, and a header without indexes is a fault of its record."""
    schema_id = httpx.post(
        f"{registry_url}/subjects/{topic}-value/versions", json={"schema": PROTO, "schemaType": "PROTOBUF"}
    ).json()["id"]
    header = header_of(registry_url, schema_id)
    producer = Producer({"bootstrap.servers": kafka})
    for indexes in (b"\x02\x02", b"\x04\x02\x00", b"\x02\x02ignored", b"", b"\x04\x02", b"\x02\x01"):
        producer.produce(topic, b"\x08\x2a", headers=[("__value_schema_id", header + indexes)])
    assert producer.flush(30) == 0
    found = [one["value"].get("data", one["value"].get("error")) for one in read_v3(rest, topic)]
    place = "The value of partition 0 at offset {} does not decode: "
    assert found == [
        {"id": 42},
        {"id": 42},
        {"id": 42},
        place.format(3) + "truncated message: message indexes needs 1 bytes, the message has 0",
        place.format(4) + "truncated message: 2 message indexes needs 3 bytes, the message has 2",
        place.format(5) + "invalid Protobuf message indexes: -1 is out of range",
    ]
    path = rest.subscribed(topic, format="protobuf", **{"decode.errors": "report"})
    values = [(one["value"], "error" in one) for one in rest.read_all(path, 6, "protobuf")]
    assert values == [({"id": 42}, False)] * 3 + [(None, True)] * 3


def test_the_header_decides_before_the_prefix(rest: Any, topic: str, kafka: str, registry_url: str):
    """A payload that begins like a frame is a payload if a header names its schema, and a guid may precede the data."""
    schema = '{"type":"record","name":"Two","fields":[{"name":"a","type":"int"},{"name":"b","type":"bytes"}]}'
    schema_id = httpx.post(f"{registry_url}/subjects/{topic}-value/versions", json={"schema": schema}).json()["id"]
    header = header_of(registry_url, schema_id)
    payload = b"\x00\x0a\x00\x00\x00\x63\x07"
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(topic, payload, headers=[("__value_schema_id", b"old"), ("__value_schema_id", header)])
    producer.produce(topic, header + payload)
    producer.produce(topic, prefix_of(schema_id) + payload, headers=[("__key_schema_id", header)])
    producer.produce(topic, prefix_of(schema_id) + payload, headers=[("__value_schema_id", None)])
    producer.produce(topic, payload, headers=[("__value_schema_id", header[:9])])
    assert producer.flush(30) == 0
    found = read_v3(rest, topic)
    named = {"type": "AVRO", "data": {"a": 0, "b": "\x00\x00\x00c\x07"}}
    guid = {"schema_guid": guid_of(registry_url, schema_id)}
    assert [one["value"] for one in found[:4]] == [
        {**named, **guid, "schema_id_serializer": "HEADER", "size": 7},
        {**named, **guid, "size": 24},
        {**named, "schema_id": schema_id, "size": 12},
        {**named, "schema_id": schema_id, "size": 12},
    ]
    path = rest.subscribed(topic, format="avro", **{"decode.errors": "report"})
    records = rest.read_all(path, 5, "avro")
    assert [one["value"] for one in records] == [named["data"]] * 4 + [None]
    assert records[4]["error"] == "value: truncated message: the schema id header needs 17 bytes, the message has 9"


def test_confluents_clients_read_and_are_read(
    rest: Any, topic: str, kafka: str, registry_url: str, read_topic: Callable[..., list[Any]]
):
    # Their deserializer refuses data of less than six bytes, even if a header has the frame.
    schema = AVRO.replace('"int"', '"string"')
    client = ConfluentClient({"url": registry_url})
    conf = {"schema.id.serializer": header_schema_id_serializer}
    producer = Producer({"bootstrap.servers": kafka})
    for number, (side, write) in enumerate(
        (
            ("value", AvroSerializer(client, schema, conf=conf)),
            (
                "key",
                JSONSerializer(
                    JSON_SCHEMA.replace("integer", "string").replace("{", '{"title":"T",', 1), client, conf=conf
                ),
            ),
        )
    ):
        headers: list[Any] = [("own", b"1")]
        data = write({"id": f"number-{number}"}, SerializationContext(topic, side, headers))
        producer.produce(topic, headers=headers, **{side: data})
    assert producer.flush(30) == 0
    values = [{"value": {"id": "number-2"}}]
    rest.produce(topic, values, "avro", value_schema=schema, value_schema_id_serializer="HEADER")
    found = read_v3(rest, topic)
    assert [(one["key"] and one["key"]["data"], one["value"] and one["value"]["data"]) for one in found] == [
        (None, {"id": "number-0"}),
        ({"id": "number-1"}, None),
        (None, {"id": "number-2"}),
    ]
    message = read_topic(topic)[2]
    read = AvroDeserializer(client)
    assert read(message.value(), SerializationContext(topic, "value", message.headers())) == {"id": "number-2"}


def test_as_ide_plug_ins_read_from_the_cloud(rest: Any, admin: Any, registry_url: str):
    topic = make_topic(admin)
    known = rest.produce(topic, [{"value": {"id": 2}}], "avro", value_schema=AVRO, value_schema_id_serializer="HEADER")
    cluster = rest.get("/v3/clusters").json()["data"][0]["cluster_id"]
    path = f"/v3/clusters/{cluster}/internal/topics/{topic}/partitions/-/records:consume_guarantee_progress"
    (partition,) = rest.post(path, json={"from_beginning": True}).json()["partition_data_list"]
    (record,) = partition["records"]
    assert record["value"] == {"id": 2}
    assert record["metadata"] == {"value_schema_guid": guid_of(registry_url, known["value_schema_id"])}
