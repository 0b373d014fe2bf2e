"""Batches of records: each entry succeeds or fails by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rest.v3.records.test_produce import AVRO, JSON

EMPTY = "Request body is empty. Data is required."


def produce(rest: Any, topic: str, content: Any, **query: Any) -> Any:
    path = f"/v3/clusters/any/topics/{topic}/records:batch"
    body = {"content": content} if isinstance(content, bytes) else {"json": content}
    return rest.post(path, headers=JSON, params=query, **body)


def test_successes_and_failures_in_order(rest: Any, topic: str) -> None:
    entries = [
        {"id": "first", "value": {"type": "JSON", "data": 1}},
        {"id": "no-partition", "partition_id": 7},
        {"id": "no-base64", "value": {"type": "BINARY", "data": "!"}},
        {"id": "last", "key": {"type": "STRING", "data": "k"}, "timestamp": 1767225600},
        {"id": "misfit", "value": {"type": "AVRO", "schema": AVRO, "data": {}}},
    ]
    answer = produce(rest, topic, {"entries": entries})
    assert answer.status_code == 207
    body = answer.json()
    assert body["successes"][0].pop("timestamp")
    assert body == {
        "successes": [
            {
                "id": "first",
                "cluster_id": "any",
                "topic_name": topic,
                "partition_id": 0,
                "offset": 0,
                "value": {"type": "JSON", "size": 1},
            },
            {
                "id": "last",
                "cluster_id": "any",
                "topic_name": topic,
                "partition_id": 0,
                "offset": 1,
                "timestamp": "2026-01-01T00:00:00Z",
                "key": {"type": "STRING", "size": 1},
            },
        ],
        "failures": [
            {"id": "no-partition", "error_code": 40402, "message": "Partition not found."},
            {"id": "no-base64", "error_code": 400, "message": "Bad Request: data=! is not a valid base64 string."},
            {
                "id": "misfit",
                "error_code": 400,
                "message": "Bad Request: value.name: expected string, got nothing (the field is missing)",
            },
        ],
    }


@pytest.mark.parametrize(
    ("body", "status", "code", "message"),
    [
        (b"", 422, 42208, EMPTY),
        (b"null", 422, 42208, EMPTY),
        (b"{}", 422, 42208, "Empty batch."),
        (b'{"entries":null}', 422, 42208, "Empty batch."),
        ({"entries": []}, 422, 42208, "Empty batch."),
        ({"entries": [{"id": str(number)} for number in range(11)]}, 422, 42208, "Too many entries in batch."),
        ({"entries": [{"id": "a"}, {"id": "a"}]}, 422, 42208, "Batch entry IDs are not distinct."),
        *(
            ({"entries": [{"id": name}]}, 422, 42208, "Batch entry identifier is not a valid string.")
            for name in (1, "", "a b", "a" * 81, None, "ä")
        ),
        ({"entries": [{}]}, 422, 42208, "Batch entry identifier is not a valid string."),
        ({"entries": [{"id": "a", "x": 1}]}, 422, 422, "Unrecognized field: x"),
        ({"entries": [{"id": "a"}], "x": 1}, 422, 422, "Unrecognized field: x"),
        ({"entries": [{"id": "a", "value": 1}]}, 400, 400, "Expected `object | null`, got `int`"),
        (b'{"entries":[', 400, 400, "Input data was truncated"),
        (
            {"entries": [{"id": "a"}, {"id": "b", "value": {"type": "AVRO"}}]},
            400,
            400,
            "Bad Request: value: with type AVRO give schema, schema_id or schema_version.",
        ),
    ],
)
def test_batches_that_are_refused(
    rest: Any, untouched: str, read_topic: Any, body: Any, status: int, code: int, message: str
) -> None:
    answer = produce(rest, untouched, body)
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    assert answer.json()["message"].startswith(message)


def test_ten_entries_with_ids_of_all_characters(rest: Any, topic: str) -> None:
    entries = [{"id": name} for name in ("a" * 80, "A-Z_0-9", *"12345678")]
    body = produce(rest, topic, {"entries": entries}).json()
    assert [success["id"] for success in body["successes"]] == [entry["id"] for entry in entries]
    assert body["failures"] == []


def test_a_slow_refusal_names_its_entry(rest: Any, topic: str) -> None:
    """Each of these values takes a worker half a second of processor time; test_time_limit.py adds such times up."""
    links = {f"d{level}": {"oneOf": [{"$ref": f"#/definitions/d{level + 1}"}] * 2} for level in range(26)}
    schema = json.dumps({"definitions": {**links, "d26": {"type": "integer"}}, "$ref": "#/definitions/d0"})
    value = {"type": "JSONSCHEMA", "schema": schema, "data": "x"}
    body = produce(rest, topic, {"entries": [{"id": str(number), "value": value} for number in range(2)]}).json()
    failures = [(failure["id"], failure["error_code"], failure["message"][:36]) for failure in body["failures"]]
    assert failures == [(name, 400, "Bad Request: value: refused by oneOf") for name in "01"]
