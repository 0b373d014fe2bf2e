"""Refusals that all rows of v3 share: media types, methods, clusters, numbers, and bodies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from magicbyte.http.routing.rows import BodyLimit, Row
from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.v3.rows import V3_ROWS
from tests.rest.v3.conftest import V3

ROWS = [row for row in V3_ROWS if row.path != "/v3/openapi.json"]
#: The rows that read a body.
READERS = [row for row in ROWS if row.method in ("POST", "PUT", "PATCH")]
PRODUCERS = ("produceRecord", "produceRecordsBatch")
VALUES = {
    "broker": "1",
    "topic": "not-made",
    "partition": "0",
    "config": "retention.ms",
    "group": "not-there",
    "consumer": "not-there",
}
#: What a row needs in its query.
QUERIES = {"deleteKafkaAcls": "?resource_type=TOPIC&pattern_type=LITERAL&operation=READ&permission=ALLOW"}
NOT_FOUND = {"error_code": 404, "message": "HTTP 404 Not Found"}


def name_of(row: Row) -> str:
    return row.operation_id


def path_of(row: Row, **values: str) -> str:
    path = row.path
    for name, value in (VALUES | values).items():
        path = path.replace(f"{{{name}}}", value)
    return path


def ask(v3: V3, row: Row, body: bytes | None = None, headers: dict[str, str] | None = None, **values: str) -> Any:
    path = path_of(row, **{"cluster": v3.cluster_id} | values)
    return v3.client.request(row.method, path, content=body, headers=headers or {})


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_only_json_can_be_accepted(v3: V3, row: Row) -> None:
    body = b"{}" if row in READERS else None
    answer = ask(v3, row, body, {"accept": "text/html", "content-type": "application/json"})
    assert (answer.status_code, answer.content) == (406, b"")


@pytest.mark.parametrize("content_type", ["text/plain", "application/vnd.kafka.json.v2+json", None])
@pytest.mark.parametrize("row", READERS, ids=name_of)
def test_a_body_must_be_json(v3: V3, row: Row, content_type: str | None) -> None:
    answer = ask(v3, row, b"{}", {} if content_type is None else {"content-type": content_type})
    error = {"error_code": 415, "message": "HTTP 415 Unsupported Media Type"}
    assert (answer.status_code, answer.json()) == (415, error)


@pytest.mark.parametrize("row", [row for row in ROWS if row.method == "GET"], ids=name_of)
def test_another_method_is_not_allowed(v3: V3, row: Row) -> None:
    answer = v3.client.request("TRACE", path_of(row, cluster=v3.cluster_id))
    error = {"error_code": 405, "message": "HTTP 405 Method Not Allowed"}
    assert (answer.status_code, answer.json()) == (405, error)


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "{cluster}" in row.path and row.operation_id not in PRODUCERS], ids=name_of
)
def test_the_cluster_must_be_the_proxys(v3: V3, row: Row) -> None:
    """After the body and the query: these are right here."""
    path = path_of(row, cluster="other") + QUERIES.get(row.operation_id, "")
    body = BODIES[row.operation_id] if row in READERS else None
    answer = v3.client.request(row.method, path, content=body, headers={"content-type": "application/json"})
    text = "Cluster other cannot be found."
    if "/consumer-groups" in row.path:
        text = "Cluster other could not be found."
    elif row.operation_id == "getKafkaCluster":
        text = "HTTP 404 Not Found"
    assert (answer.status_code, answer.json()) == (404, {"error_code": 404, "message": text})


@pytest.mark.parametrize("row", [row for row in READERS if row.operation_id not in PRODUCERS], ids=name_of)
def test_a_wrong_body_is_refused_before_the_cluster_is_looked_up(v3: V3, row: Row) -> None:
    answer = ask(v3, row, b"{", {"content-type": "application/json"}, cluster="other")
    assert (answer.status_code, answer.json()) == (400, {"error_code": 400, "message": "Input data was truncated"})


@pytest.mark.parametrize("number", ["one", "1.0", "%31x", "99999999999"])
@pytest.mark.parametrize(
    ("row", "parameter"),
    [(row, name) for row in ROWS for name in ("broker", "partition") if f"{{{name}}}" in row.path],
    ids=lambda value: value if isinstance(value, str) else value.operation_id,
)
def test_a_path_without_a_number_is_not_there(v3: V3, row: Row, parameter: str, number: str) -> None:
    body = BODIES.get(row.operation_id) if row in READERS else None
    answer = ask(v3, row, body, {"content-type": "application/json"}, **{parameter: number})
    assert (answer.status_code, answer.json()) == (404, NOT_FOUND)


#: A right body of each row that reads one.
BODIES = {
    "updateKafkaBrokerConfig": b'{"value":"1"}',
    "updateKafkaBrokerConfigBatch": b'{"data":[]}',
    "updateKafkaClusterConfig": b'{"value":"1"}',
    "updateKafkaClusterConfigBatch": b'{"data":[]}',
    "createKafkaTopic": b'{"topic_name":"t"}',
    "updatePartitionCountKafkaTopic": b'{"partitions_count":1}',
    "updateKafkaTopicConfig": b'{"value":"1"}',
    "updateKafkaTopicConfigBatch": b'{"data":[]}',
    "updateKafkaTopicConfigMultiBatch": b'{"data":[]}',
    "deleteKafkaRecords": b'{"before_offset":0}',
    "deleteKafkaRecordsOfPartitions": b'{"data":[]}',
    "createKafkaAcls": b'{"resource_type":"TOPIC","resource_name":"t","pattern_type":"LITERAL",'
    b'"principal":"User:a","host":"*","operation":"READ","permission":"ALLOW"}',
    "batchCreateKafkaAcls": b'{"data":[]}',
    "alterKafkaConsumerGroupOffsets": b'{"data":[]}',
    "replayKafkaDeadLetters": b'{"letters":[{"partition_id":0,"offset":0}],"validate_only":true}',
    "produceRecordsBatch": b'{"entries":[{"id":"a"}]}',
    "consumeRecords": b"{}",
    "consumeRecordsOfCloud": b"{}",
    "produceRecord": b"{}",
}
#: Rows without a required body.
OPTIONAL_BODIES = ("consumeRecords", "consumeRecordsOfCloud")
EMPTY = "Payload error. Null input provided. Data is required."
EMPTY_TEXTS = {
    "createKafkaTopic": "Payload error. Request body is empty. Data is required.",
    "updatePartitionCountKafkaTopic": "Payload error. Request body is empty. Partitions_count is required.",
    "produceRecordsBatch": "Request body is empty. Data is required.",
}


def test_every_row_that_reads_a_body_has_one_here() -> None:
    assert {row.operation_id for row in READERS} == set(BODIES)


@pytest.mark.parametrize("body", [b"", b"null", b" null "])
@pytest.mark.parametrize(
    "row",
    [row for row in READERS if row.operation_id not in ("produceRecord", *OPTIONAL_BODIES)],
    ids=name_of,
)
def test_a_body_is_required(v3: V3, row: Row, body: bytes) -> None:
    answer = ask(v3, row, body, {"content-type": "application/json"})
    name = row.operation_id
    code = 42208 if name == "produceRecordsBatch" else 42206
    error = {"error_code": code, "message": EMPTY_TEXTS.get(name, EMPTY)}
    assert (answer.status_code, answer.json()) == (422, error)


@pytest.mark.parametrize("row", [row for row in READERS if row.operation_id != "produceRecord"], ids=name_of)
def test_an_unknown_member_is_named(v3: V3, row: Row) -> None:
    body = BODIES[row.operation_id]
    body = body[:-1] + (b"," if len(body) > 2 else b"") + b'"colour":1}'
    answer = ask(v3, row, body, {"content-type": "application/json"})
    assert (answer.status_code, answer.json()) == (422, {"error_code": 422, "message": "Unrecognized field: colour"})


@pytest.mark.parametrize("body", [b"{", b"[]", b"5", b'"text"', b'{"data":5}', b"\xff"])
@pytest.mark.parametrize("row", [row for row in READERS if row.operation_id != "produceRecord"], ids=name_of)
def test_a_body_of_another_shape(v3: V3, row: Row, body: bytes) -> None:
    answer = ask(v3, row, body, {"content-type": "application/json"})
    codes = (400, 422) if body == b'{"data":5}' else (400,)
    assert answer.status_code in codes
    assert answer.json()["error_code"] in (*codes, 42208)


@pytest.fixture(scope="module")
def small(kafka: str) -> Iterator[V3]:
    """A proxy that reads bodies of up to 1,000 bytes."""
    with (
        running_rest_proxy(kafka, "", properties={"request.max.bytes": "1000"}) as proxy,
        httpx.Client(base_url=proxy.url, timeout=30) as client,
    ):
        yield V3(client)


def padded(row: Row, size: int) -> bytes:
    return BODIES[row.operation_id].rjust(size)


@pytest.mark.parametrize("row", [row for row in READERS if row.body_limit is not BodyLimit.NONE], ids=name_of)
def test_a_body_over_the_limit(small: V3, row: Row) -> None:
    headers = {"content-type": "application/json"}
    error = {"error_code": 413, "message": "HTTP 413 Request Entity Too Large"}
    answer = ask(small, row, padded(row, 1001), headers)
    assert (answer.status_code, answer.json()) == (413, error)
    in_chunks = small.client.request(
        row.method,
        path_of(row, cluster=small.cluster_id),
        content=iter([padded(row, 600), b" " * 600]),
        headers=headers,
    )
    assert (in_chunks.status_code, in_chunks.json()) == (413, error)


def test_a_record_of_a_stream_over_the_limit(small: V3, topic: str) -> None:
    body = b"{}" * 600 + b'{"value":{"type":"STRING","data":"%b"}}' % (b"x" * 1000)
    reports = small.answer("POST", f"topics/{topic}/records", body).content.splitlines()
    assert len(reports) == 601, "the limit is that of each record"
    assert reports[-1] == (
        b'{"error_code":400,"message":"Bad Request: Error processing message: '
        b'Produce request size is larger than allowed threshold"}'
    )
