"""Topics: shapes, what is created and altered, and each refusal."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from tests.rest.conftest import make_topic, unique


def described(v3: Any, name: str, **members: Any) -> dict[str, Any]:
    return {
        "kind": "KafkaTopic",
        "metadata": v3.metadata(f"topics/{name}", f"topic={name}"),
        "cluster_id": v3.cluster_id,
        "topic_name": name,
        "is_internal": False,
        "replication_factor": 1,
        "partitions_count": 1,
        "partitions": v3.relation(f"topics/{name}/partitions"),
        "configs": v3.relation(f"topics/{name}/configs"),
        "partition_reassignments": v3.relation(f"topics/{name}/partitions/-/reassignment"),
        "authorized_operations": [],
        **members,
    }


def test_the_life_cycle_of_a_topic(v3: Any, admin: AdminClient) -> None:
    name = unique("topic")
    body = {
        "topic_name": name,
        "partitions_count": 3,
        "replication_factor": 1,
        "configs": [{"name": "retention.ms", "value": 1000}, {"name": "cleanup.policy", "value": "compact"}],
    }
    made = v3.answer("POST", "topics", body)
    expected = described(v3, name, partitions_count=3)
    assert (made.status_code, made.json(), made.headers["location"]) == (201, expected, f"{v3.url}/topics/{name}")
    assert v3.get(f"topics/{name}") == expected
    assert v3.get(f"topics/{name}/configs/retention.ms")["value"] == "1000"
    assert v3.ask("PATCH", f"topics/{name}", {"partitions_count": 5}) == (200, described(v3, name, partitions_count=5))
    assert len(admin.list_topics(name).topics[name].partitions) == 5
    assert v3.ask("DELETE", f"topics/{name}") == (204, None)
    assert v3.ask("GET", f"topics/{name}") == (404, UNKNOWN)


UNKNOWN = {"error_code": 40403, "message": "This server does not host this topic-partition."}


def test_topics_by_name_without_internal_ones(v3: Any, admin: AdminClient) -> None:
    second, first = make_topic(admin), make_topic(admin, partitions=2)
    listed = v3.get("topics")
    names = [topic["topic_name"] for topic in listed["data"]]
    assert listed["kind"] == "KafkaTopicList"
    assert listed["metadata"] == {"self": f"{v3.url}/topics", "next": None}
    assert names == sorted(names)
    assert "__consumer_offsets" not in names
    by_name = dict(zip(names, listed["data"], strict=True))
    assert by_name[first] == described(v3, first, partitions_count=2)
    assert by_name[second] == described(v3, second)


@pytest.mark.parametrize("parameter", ["includeAuthorizedOperations", "include_authorized_operations"])
def test_authorized_operations_if_they_are_asked_for(v3: Any, topic: str, parameter: str) -> None:
    operations = ["ALTER", "ALTER_CONFIGS", "CREATE", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "READ", "WRITE"]
    assert v3.get(f"topics/{topic}?{parameter}=true")["authorized_operations"] == operations
    listed = v3.get(f"topics?{parameter}=true")["data"]
    assert next(item for item in listed if item["topic_name"] == topic)["authorized_operations"] == operations


def test_offsets_if_they_are_asked_for(v3: Any, topic: str) -> None:
    for value in ("a", "b"):
        v3.ask("POST", f"topics/{topic}/records", {"value": {"type": "STRING", "data": value}, "partition_id": 0})
    offsets = v3.get(f"topics/{topic}?include_offsets=true")["offsets"]
    assert offsets == v3.get(f"topics/{topic}/partitions/-/offset")["data"]
    assert (offsets[0]["partition_id"], offsets[0]["earliest_offset"], offsets[0]["latest_offset"]) == (0, 0, 2)
    assert "offsets" not in v3.get(f"topics/{topic}")


def test_an_internal_topic_by_name(v3: Any) -> None:
    v3.ask("POST", "consumer-groups/g/offsets:alter", {"data": []})  # makes the topic of offsets
    assert v3.get("topics/__consumer_offsets")["is_internal"] is True


def test_defaults_of_the_broker(v3: Any) -> None:
    name = unique("topic")
    assert v3.ask("POST", "topics", {"topic_name": name}) == (201, described(v3, name))


def test_assignments_win_over_both_counts(v3: Any) -> None:
    name = unique("topic")
    body = {
        "topic_name": name,
        "partitions_count": 7,
        "replication_factor": 3,
        "replicas_assignments": {"0": [1], "1": [1]},
    }
    assert v3.ask("POST", "topics", body) == (201, described(v3, name, partitions_count=2))


def test_validate_only_creates_nothing(v3: Any) -> None:
    name = unique("topic")
    checked = v3.answer("POST", "topics", {"topic_name": name, "partitions_count": 4, "validate_only": True})
    assert (checked.status_code, checked.json()) == (200, described(v3, name, partitions_count=4))
    assert checked.headers["location"] == f"{v3.url}/topics/{name}"
    assert v3.ask("GET", f"topics/{name}") == (404, UNKNOWN)


EMPTY = {"error_code": 42206, "message": "Payload error. Request body is empty. Data is required."}
INVALID_NAME = {"error_code": 42206, "message": "Payload error. Invalid topic name."}


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ("", 422, EMPTY),
        ("null", 422, EMPTY),
        ({"topic_name": "a b"}, 422, INVALID_NAME),
        ({"topic_name": ".."}, 422, INVALID_NAME),
        ({"topic_name": "a" * 250}, 422, INVALID_NAME),
        ({"topic_name": "t", "colour": 1}, 422, {"error_code": 422, "message": "Unrecognized field: colour"}),
        (
            {"topic_name": "t", "partitions_count": 0},
            400,
            {"error_code": 40002, "message": "Number of partitions was set to an invalid non-positive value."},
        ),
        (
            {"topic_name": "t", "configs": [{"name": "colour", "value": "red"}]},
            400,
            {"error_code": 40002, "message": "Unknown topic config name: colour"},
        ),
        (
            {"topic_name": "t", "configs": [{"name": "retention.ms", "value": "x"}]},
            400,
            {
                "error_code": 40002,
                "message": "Invalid value x for configuration retention.ms: Not a number of type LONG",
            },
        ),
        (
            {"topic_name": "t", "configs": [{"name": "retention.ms", "value": "1"}] * 2},
            400,
            {"error_code": 40002, "message": "configs: retention.ms is given more than once"},
        ),
        (
            {"topic_name": "t", "replicas_assignments": {"1": [1]}},
            400,
            {
                "error_code": 40002,
                "message": "partitions should be a consecutive 0-based integer sequence",
            },
        ),
    ],
    ids=str,
)
def test_refused_creations(v3: Any, body: Any, status: int, error: Any) -> None:
    if isinstance(body, dict) and body["topic_name"] == "t":
        body = {**body, "topic_name": unique("topic")}
    assert v3.ask("POST", "topics", body) == (status, error)


@pytest.mark.parametrize(
    "body", ["{", '{"partitions_count": 1}', '{"topic_name": null}', '{"topic_name": "t", "partitions_count": "many"}']
)
def test_bodies_of_another_shape(v3: Any, body: str) -> None:
    status, error = v3.ask("POST", "topics", body)
    assert (status, error["error_code"]) == (400, 400)


def test_the_parser_accepts_scalars_in_quotes_and_text_after_the_body(v3: Any) -> None:
    name = unique("topic")
    body = f'{{"topic_name": "{name}", "partitions_count": "2"}} and more'
    assert v3.ask("POST", "topics", body) == (201, described(v3, name, partitions_count=2))


def test_more_replicas_than_brokers(v3: Any) -> None:
    status, error = v3.ask("POST", "topics", {"topic_name": unique("topic"), "replication_factor": 5})
    assert (status, error["error_code"]) == (400, 40002)
    assert error["message"].startswith("Unable to replicate the partition 5 time(s): ")


def test_creating_an_existing_topic(v3: Any, untouched: str) -> None:
    error = {"error_code": 40002, "message": f"Topic '{untouched}' already exists."}
    assert v3.ask("POST", "topics", {"topic_name": untouched}) == (400, error)


def test_refused_growth(v3: Any, wide_topic: str) -> None:
    path = f"topics/{wide_topic}"
    empty = {"error_code": 42206, "message": "Payload error. Request body is empty. Partitions_count is required."}
    fewer = f"The topic {wide_topic} currently has 7 partition(s); 2 would not be an increase."
    assert v3.ask("PATCH", path, "") == (422, empty)
    assert v3.ask("PATCH", path, {"partitions_count": 2}) == (400, {"error_code": 40002, "message": fewer})
    same = {"error_code": 40002, "message": "Topic already has 7 partition(s)."}
    assert v3.ask("PATCH", path, {"partitions_count": 7}) == (400, same)
    assert v3.ask("PATCH", f"topics/{unique('topic')}", {"partitions_count": 2}) == (404, UNKNOWN)


def test_the_cluster_is_checked_before_anything_changes(rest: Any, v3: Any, topic: str) -> None:
    answer = rest.patch(f"/v3/clusters/other/topics/{topic}", json={"partitions_count": 3})
    assert (answer.status_code, answer.json()["message"]) == (404, "Cluster other cannot be found.")
    assert v3.get(f"topics/{topic}")["partitions_count"] == 1


@pytest.mark.parametrize("path", ["topics/{name}", "topics/{name}/partitions", "topics/{name}/configs"])
def test_unknown_topics(v3: Any, path: str) -> None:
    assert v3.ask("GET", path.format(name=unique("topic"))) == (404, UNKNOWN)


def test_deleting_an_unknown_topic(v3: Any) -> None:
    assert v3.ask("DELETE", f"topics/{unique('topic')}") == (404, UNKNOWN)


def test_media_types_of_bodies(v3: Any, topic: str) -> None:
    error = {"error_code": 415, "message": "HTTP 415 Unsupported Media Type"}
    for headers in ({"content-type": "text/plain"}, {}):
        answer = v3.client.post(f"{v3.path}/topics", content=b"{}", headers=headers)
        assert (answer.status_code, answer.json()) == (415, error)
