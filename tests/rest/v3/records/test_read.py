"""Reading without state: pages by offset, time or cursor, and as Confluent's IDE plug-ins ask."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from confluent_kafka import Producer

from rest_proxy.consume.stateless.cursor import read_cursor, write_cursor
from tests.rest.conftest import make_topic
from tests.rest.v3.records.test_produce import AVRO, JSON, USER


def path(cluster: str, topic: str, partition: int = 0) -> str:
    return f"{cluster}/topics/{topic}/partitions/{partition}/records"


def write(kafka: str, topic: str, *values: bytes | None, partition: int = 0, **settings: Any) -> None:
    producer = Producer({"bootstrap.servers": kafka, "linger.ms": 50, **settings})
    for value in values:
        producer.produce(topic, value, partition=partition, timestamp=1767225600000)
    assert producer.flush(30) == 0


def read(rest: Any, path: str, **query: Any) -> Any:
    answer = rest.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def offsets(page: Any) -> list[int]:
    return [record["offset"] for record in page["data"]]


def test_a_client_can_produce_read_records_again(rest: Any, cluster: str, topic: str) -> None:
    records = f"{cluster}/topics/{topic}/records"
    first = {
        "headers": [{"name": "h", "value": "aGk="}, {"name": "n", "value": None}],
        "key": {"type": "STRING", "data": "k"},
        "value": {"type": "AVRO", "schema": AVRO, "data": USER},
        "timestamp": "2026-01-01T00:00:00.5Z",
    }
    known = rest.post(records, json=first).json()["value"]["schema_id"]
    page = read(rest, path(cluster, topic))
    url = f"{str(rest.base_url).rstrip('/')}{path(cluster, topic)}"
    record = {
        "topic_name": topic,
        "partition_id": 0,
        "offset": 0,
        "timestamp": "2026-01-01T00:00:00.500Z",
        "timestamp_type": "CREATE_TIME",
        "headers": first["headers"],
        "key": {"type": "STRING", "size": 1, "data": "k"},
        "value": {"type": "AVRO", "schema_id": known, "size": 9, "data": USER},
    }
    assert page == {
        "kind": "KafkaRecordList",
        "metadata": {"self": url, "next": f"{url}?offset=1"},
        "next_offset": 1,
        "earliest_offset": 0,
        "latest_offset": 1,
        "data": [record],
    }
    assert rest.post(records, json=page["data"][0]).json()["error_code"] == 200
    assert read(rest, path(cluster, topic), offset=1)["data"] == [record | {"offset": 1}]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (b'{"a": 1.50}', {"type": "JSON", "size": 11, "data": {"a": 1.5}}),
        (b"text", {"type": "STRING", "size": 4, "data": "text"}),
        (b"", {"type": "STRING", "size": 0, "data": ""}),
        (b"\xff", {"type": "BINARY", "size": 1, "data": "/w=="}),
        (b"\x00\x00\x01\x86\x9f\xff", {"type": "BINARY", "size": 6, "data": "AAABhp//"}),
    ],
)
def test_types_that_the_proxy_detects(
    rest: Any, cluster: str, topic: str, kafka: str, value: bytes | None, shown: Any
) -> None:
    write(kafka, topic, value)
    assert read(rest, path(cluster, topic))["data"][0]["value"] == shown


def test_types_that_the_client_requests(rest: Any, cluster: str, topic: str, kafka: str) -> None:
    write(kafka, topic, b'{"a":1}', b"\xff")
    first, second = read(rest, path(cluster, topic), value_type="STRING")["data"]
    assert first["value"] == {"type": "STRING", "size": 7, "data": '{"a":1}'}
    text = "The value of partition 0 at offset 1 does not decode: not UTF-8"
    assert second["value"] == {"error_code": 40801, "error": text, "raw": "/w=="}
    failed = rest.get(path(cluster, topic), params={"value_type": "STRING", "decode_errors": "fail"})
    assert (failed.status_code, failed.json()) == (408, {"error_code": 40801, "message": text})
    assert read(rest, path(cluster, topic), value_type="AVRO")["data"][0]["value"]["error_code"] == 40801


def test_pages_by_number_size_and_time(rest: Any, cluster: str, topic: str, kafka: str) -> None:
    write(kafka, topic, *(b"x" * 1000 for _ in range(20)))
    records = path(cluster, topic)
    page = read(rest, records, offset=5, max_records=3)
    assert (offsets(page), page["next_offset"], page["latest_offset"]) == ([5, 6, 7], 8, 20)
    assert offsets(rest.get(page["metadata"]["next"]).json()) == [8, 9, 10]
    assert offsets(read(rest, records, max_bytes=1)) == [0], "one record always comes"
    assert offsets(read(rest, records, max_bytes=2500)) == [0, 1]
    assert offsets(read(rest, records, timestamp="2026-01-01T00:00:00Z", max_records=1)) == [0]
    assert offsets(read(rest, records, timestamp=1767225600001)) == []
    assert read(rest, records, offset="latest")["next_offset"] == 20


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_batches_from_within(rest: Any, cluster: str, topic: str, kafka: str, compression: str) -> None:
    write(kafka, topic, *(b"%d" % number for number in range(50)), **{"compression.type": compression})
    page = read(rest, path(cluster, topic), offset=47)
    assert [record["value"]["data"] for record in page["data"]] == [47, 48, 49]


def test_transactions(rest: Any, cluster: str, topic: str, kafka: str) -> None:
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions()
    for value, is_committed in ((b"1", True), (b"2", False), (b"3", True)):
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.flush()
        (producer.commit_transaction if is_committed else producer.abort_transaction)()
    producer.begin_transaction()
    producer.produce(topic, b"4")
    producer.flush()
    page = read(rest, path(cluster, topic))
    assert (offsets(page), page["next_offset"]) == ([0, 2, 4, 6], 7)
    page = read(rest, path(cluster, topic), isolation="read_committed")
    assert (offsets(page), page["next_offset"], page["latest_offset"]) == ([0, 4], 6, 6)
    page = read(rest, path(cluster, topic), isolation="read_committed", offset=1, max_records=1)
    assert (offsets(page), page["next_offset"]) == ([4], 6)
    producer.abort_transaction()


def test_waiting_for_a_record(rest: Any, cluster: str, topic: str, wide_topic: str, kafka: str) -> None:
    began = time.monotonic()
    assert read(rest, path(cluster, topic), max_wait_ms=300)["data"] == []
    assert time.monotonic() - began >= 0.3
    pages: list[Any] = []
    readers = [
        threading.Thread(target=lambda: pages.append(read(rest, path(cluster, topic), max_wait_ms=25000)))
        for _ in range(5)
    ]
    whole = threading.Thread(
        target=lambda: pages.append(read(rest, f"{cluster}/topics/{wide_topic}/records", max_wait_ms=25000))
    )
    for reader in (*readers, whole):
        reader.start()
    write(kafka, topic, b"1")
    write(kafka, wide_topic, b"1", partition=5)
    for reader in (*readers, whole):
        reader.join()
    assert [len(page["data"]) for page in pages] == [1] * 6


def test_all_partitions_with_a_cursor(rest: Any, cluster: str, wide_topic: str, kafka: str) -> None:
    for partition in (0, 3, 6):
        write(kafka, wide_topic, *(b"%d" % number for number in range(10)), partition=partition)
    records = f"{cluster}/topics/{wide_topic}/records"
    page = read(rest, records, max_records=6)
    assert [(one["partition_id"], one["offset"]) for one in page["data"]] == [
        (0, 0), (0, 1), (3, 0), (3, 1), (6, 0), (6, 1),
    ]  # fmt: skip
    seen = list(page["data"])
    while page["data"]:
        page = rest.get(page["metadata"]["next"]).json()
        seen += page["data"]
    assert sorted((one["partition_id"], one["offset"]) for one in seen) == [
        (partition, offset) for partition in (0, 3, 6) for offset in range(10)
    ]
    assert read(rest, records, cursor=page["cursor"])["data"] == []


def test_cursors() -> None:
    places = {0: 0, 1: 127, 2: 128, 3: 2**62}
    cursor = write_cursor("t", places)
    assert cursor == "AVqoAH-AAYCAgICAgICAQA"
    assert read_cursor("t", cursor) == places


@pytest.mark.parametrize(
    ("query", "status", "error"),
    [
        ("offset=x", 400, (400, "Bad Request: offset must be between 0 and 9223372036854775807 (was x).")),
        ("offset=1&timestamp=1", 400, (400, "Bad Request: only one of offset and timestamp can be given.")),
        ("timestamp=now", 400, (400, "Bad Request: timestamp=now is not an ISO-8601 instant.")),
        ("max_records=0", 400, (400, "Bad Request: max_records must be between 1 and 10000 (was 0).")),
        ("max_wait_ms=60001", 400, (400, "Bad Request: max_wait_ms must be between 0 and 60000 (was 60001).")),
        (
            "isolation=none",
            400,
            (400, "Bad Request: isolation must be one of read_uncommitted, read_committed (was none)."),
        ),
        (
            "key_type=TEXT",
            400,
            (400, "Bad Request: key_type must be one of BINARY, STRING, JSON, AVRO, JSONSCHEMA, PROTOBUF (was TEXT)."),
        ),
    ],
)
def test_reads_that_are_refused(
    rest: Any, cluster: str, untouched: str, query: str, status: int, error: tuple[int, str]
) -> None:
    answer = rest.get(f"{path(cluster, untouched)}?{query}")
    assert (answer.status_code, answer.json()) == (status, {"error_code": error[0], "message": error[1]})


def test_offsets_outside_the_log(rest: Any, cluster: str, topic: str, kafka: str, admin: Any) -> None:
    write(kafka, topic, b"1", b"2", b"3")
    rest.post(f"{path(cluster, topic)}:delete", json={"before_offset": 2})
    for offset in (0, 4):
        answer = rest.get(path(cluster, topic), params={"offset": offset})
        assert (answer.status_code, answer.json()) == (
            416,
            {
                "error_code": 41601,
                "message": f"Offset {offset} of partition 0 is out of range: the log has 2 to 3.",
                "partition_id": 0,
                "earliest_offset": 2,
                "latest_offset": 3,
            },
        )
    assert offsets(read(rest, path(cluster, topic), offset=0, out_of_range="earliest")) == [2]
    assert read(rest, path(cluster, topic), offset=9, out_of_range="latest")["next_offset"] == 3


def test_requests_for_missing_resources(rest: Any, cluster: str, topic: str) -> None:
    for missing, code in ((path(cluster, "none"), 40403), (path(cluster, topic, 7), 40402)):
        answer = rest.get(missing)
        assert (answer.status_code, answer.json()["error_code"]) == (404, code)
    other = rest.get(f"{cluster}/topics/{topic}/records", params={"cursor": write_cursor("other", {0: 0})})
    assert (other.status_code, other.json()["error_code"]) == (400, 400)


def test_as_ide_plug_ins_read(rest: Any, cluster: str, wide_topic: str, kafka: str) -> None:
    write(kafka, wide_topic, b'{"a":1}', b"text", b"\xff", None, b"long" * 10, partition=2)
    consume = f"{cluster}/topics/{wide_topic}/partitions/-/consume"
    answer = rest.post(consume, json={"from_beginning": True, "message_max_bytes": 30})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["cluster_id"], body["topic_name"]) == (cluster.rpartition("/")[2], wide_topic)
    assert [(one["partition_id"], one["next_offset"]) for one in body["partition_data_list"]] == [
        (partition, 5 if partition == 2 else 0) for partition in range(7)
    ]
    records = body["partition_data_list"][2]["records"]
    assert records[0] == {
        "partition_id": 2,
        "offset": 0,
        "timestamp": 1767225600000,
        "timestamp_type": "CREATE_TIME",
        "headers": [],
        "key": None,
        "value": {"a": 1},
        "exceeded_fields": {"key": False, "value": False},
    }
    assert [one["value"] for one in records] == [{"a": 1}, "text", {"__raw__": "/w=="}, None, None]
    assert [one["exceeded_fields"]["value"] for one in records] == [False] * 4 + [True]
    for request, expected in (
        ({}, []),
        ({"offsets": [{"partition_id": 2, "offset": 3}]}, [3, 4]),
        ({"offsets": [{"partition_id": 2, "offset": 99}]}, []),
        ({"timestamp": 1767225600000, "max_poll_records": 1}, [0]),
    ):
        (partition,) = [
            one for one in rest.post(consume, json=request).json()["partition_data_list"] if one["partition_id"] == 2
        ]
        assert [one["offset"] for one in partition["records"]] == expected
    assert rest.post(consume, content=b"", headers=JSON).status_code == 200
    assert rest.post(consume, json={"x": 1}).json()["message"] == "Unrecognized field: x"
    assert rest.post(consume, json={"max_poll_records": 0}).status_code == 400


def test_as_ide_plug_ins_read_from_the_cloud(rest: Any, cluster: str, topic: str) -> None:
    record = {"headers": [{"name": "h", "value": "aGk="}], "value": {"type": "AVRO", "schema": AVRO, "data": USER}}
    known = rest.post(f"{cluster}/topics/{topic}/records", json=record).json()["value"]["schema_id"]
    consume = f"/kafka{cluster}/internal/topics/{topic}/partitions/-/records:consume_guarantee_progress"
    for query, shown in (("?return_raw_base64_records=true", "__raw__"), ("", "name")):
        (partition,) = rest.post(f"{consume}{query}", json={"from_beginning": True}).json()["partition_data_list"]
        (one,) = partition["records"]
        assert one["headers"] == [{"key": "h", "name": "h", "value": "aGk="}]
        assert list(one["value"]) == [shown]
        assert one.get("metadata") == (None if query else {"value_schema_id": known})


def test_the_stateless_consumer_answers_at_once(rest: Any, admin: Any, kafka: str) -> None:
    topic = make_topic(admin)
    write(kafka, topic, b"1")
    times = []
    for _ in range(5):
        began = time.monotonic()
        assert rest.get(f"/topics/{topic}/partitions/0/messages?offset=0").status_code == 200
        times.append(time.monotonic() - began)
    assert min(times) < 0.4, "it took half a second while consumers were assigned anew"
