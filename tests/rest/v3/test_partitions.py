"""Partitions, offsets, replicas, reassignments and deleted records."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rest.conftest import unique

NOT_FOUND = {"error_code": 404, "message": "HTTP 404 Not Found"}
UNKNOWN = {"error_code": 40403, "message": "This server does not host this topic-partition."}
NO_PARTITION = {"error_code": 40402, "message": "Partition not found."}


def partition(v3: Any, topic: str, number: int) -> dict[str, Any]:
    path = f"topics/{topic}/partitions/{number}"
    return {
        "kind": "KafkaPartition",
        "metadata": v3.metadata(path, f"topic={topic}/partition={number}"),
        "cluster_id": v3.cluster_id,
        "topic_name": topic,
        "partition_id": number,
        "leader": v3.relation(f"{path}/replicas/1"),
        "replicas": v3.relation(f"{path}/replicas"),
        "reassignment": v3.relation(f"{path}/reassignment"),
    }


def replica(v3: Any, topic: str, number: int) -> dict[str, Any]:
    path = f"topics/{topic}/partitions/{number}/replicas/1"
    return {
        "kind": "KafkaReplica",
        "metadata": v3.metadata(path, f"topic={topic}/partition={number}/replica=1"),
        "cluster_id": v3.cluster_id,
        "topic_name": topic,
        "partition_id": number,
        "broker_id": 1,
        "is_leader": True,
        "is_in_sync": True,
        "broker": v3.relation("brokers/1"),
    }


def test_partitions(v3: Any, wide_topic: str) -> None:
    assert v3.get(f"topics/{wide_topic}/partitions") == {
        "kind": "KafkaPartitionList",
        "metadata": {"self": f"{v3.url}/topics/{wide_topic}/partitions", "next": None},
        "data": [partition(v3, wide_topic, number) for number in range(7)],
    }
    assert v3.get(f"topics/{wide_topic}/partitions/3") == partition(v3, wide_topic, 3)


def test_replicas(v3: Any, wide_topic: str) -> None:
    path = f"topics/{wide_topic}/partitions/3/replicas"
    assert v3.get(path) == {
        "kind": "KafkaReplicaList",
        "metadata": {"self": f"{v3.url}/{path}", "next": None},
        "data": [replica(v3, wide_topic, 3)],
    }
    assert v3.get(f"{path}/1") == replica(v3, wide_topic, 3)
    listed = v3.get("brokers/1/partition-replicas")
    assert listed["kind"] == "KafkaReplicaList"
    assert listed["metadata"] == {"self": f"{v3.url}/brokers/1/partition-replicas", "next": None}
    places = [(item["topic_name"], item["partition_id"]) for item in listed["data"]]
    assert places == sorted(places)
    assert [item for item in listed["data"] if item["topic_name"] == wide_topic] == [
        replica(v3, wide_topic, number) for number in range(7)
    ]


def test_no_reassignment_is_under_way(v3: Any, topic: str) -> None:
    for path in (f"topics/{topic}/partitions/-/reassignment", "topics/-/partitions/-/reassignment"):
        assert v3.get(path) == {
            "kind": "KafkaReassignmentList",
            "metadata": {"self": f"{v3.url}/{path}", "next": None},
            "data": [],
        }
    assert v3.get(f"topics/{unique('topic')}/partitions/-/reassignment")["data"] == []


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("topics/{topic}/partitions/1", NOT_FOUND),
        ("topics/{topic}/partitions/-1", NOT_FOUND),
        ("topics/{topic}/partitions/x", NOT_FOUND),
        (
            "topics/{unknown}/partitions/0",
            {"error_code": 40403, "message": "This server does not host topic-partition 0 for topic {unknown}"},
        ),
        ("topics/{topic}/partitions/1/offset", NO_PARTITION),
        (
            "topics/{unknown}/partitions/0/offset",
            {"error_code": 40403, "message": "This server does not host topic-partition 0 for topic {unknown}"},
        ),
        ("topics/{unknown}/partitions/-/offset", UNKNOWN),
        (
            "topics/{topic}/partitions/1/replicas",
            {"error_code": 404, "message": "Partition 1 of topic {topic} could not be found on cluster {cluster}."},
        ),
        ("topics/{topic}/partitions/0/replicas/7", NOT_FOUND),
        ("topics/{topic}/partitions/1/replicas/1", NOT_FOUND),
        ("brokers/7/partition-replicas", {"error_code": 404, "message": "Broker 7 cannot be found."}),
        ("topics/{topic}/partitions/0/reassignment", NOT_FOUND),
    ],
)
def test_requests_for_missing_resources(v3: Any, untouched: str, path: str, error: dict[str, Any]) -> None:
    names = {"topic": untouched, "unknown": "not-there", "cluster": v3.cluster_id}
    expected = {**error, "message": error["message"].format(**names)}
    assert v3.ask("GET", path.format(**names)) == (404, expected)


def offsets(v3: Any, topic: str, offset_type: str, **members: Any) -> dict[str, Any]:
    path = f"topics/{topic}/partitions/0/offset"
    return {
        "kind": "KafkaPartitionWithOffsets",
        "metadata": v3.metadata(path, f"topic={topic}/partition=0/offset_type={offset_type}"),
        "cluster_id": v3.cluster_id,
        "topic_name": topic,
        "partition_id": 0,
        **members,
    }


def test_offsets_and_deleted_records(v3: Any, rest: Any, topic: str) -> None:
    path = f"topics/{topic}/partitions/0"
    rest.produce(topic, [{"value": number} for number in range(5)])
    both = "earliest_and_latest"
    assert v3.get(f"{path}/offset") == offsets(v3, topic, both, earliest_offset=0, latest_offset=5)
    assert v3.ask("POST", f"{path}/records:delete", {"before_offset": 2}) == (
        200,
        offsets(v3, topic, "earliest", earliest_offset=2),
    )
    expected = offsets(v3, topic, both, earliest_offset=2, latest_offset=5)
    assert v3.get(f"{path}/offset?offset_type={both}&isolation=read_committed") == expected
    assert v3.get(f"topics/{topic}/partitions/-/offset")["data"] == [expected]
    for offset_type, offset in (("earliest", 2), ("latest", 5), ("2001-01-01T00:00:00Z", 2)):
        answer = v3.get(f"{path}/offset?offset_type={offset_type}")
        assert (answer["offset"], set(answer) - set(expected)) == (offset, {"offset", "timestamp"})
    assert v3.get(f"{path}/offset?offset_type=max_timestamp")["offset"] in range(5)
    future = v3.get(f"{path}/offset?offset_type=2999-01-01T00:00:00Z")
    assert (future["offset"], future["timestamp"]) == (None, None)
    assert v3.ask(
        "POST",
        f"topics/{topic}/partitions/-/records:delete",
        {
            "data": [
                {"partition_id": 0, "before_offset": "latest"},
                {"partition_id": 1, "before_offset": 0},
            ]
        },
    ) == (
        207,
        {
            "successes": [{"partition_id": 0, "earliest_offset": 5}],
            "failures": [{"partition_id": 1, **UNKNOWN}],
        },
    )


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        (
            {"before_offset": 9},
            400,
            {"error_code": 40002, "message": "Offset out of range."},
        ),
        ({"before_offset": -1}, 400, {"error_code": 40002, "message": "before_offset: -1 is below 0"}),
        (
            {"before_offset": "first"},
            400,
            {"error_code": 400, "message": 'before_offset: first is neither an offset nor "latest"'},
        ),
        ("", 422, {"error_code": 42206, "message": "Payload error. Null input provided. Data is required."}),
    ],
)
def test_refused_deletions_of_records(v3: Any, untouched: str, body: Any, status: int, error: Any) -> None:
    assert v3.ask("POST", f"topics/{untouched}/partitions/0/records:delete", body) == (status, error)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("offset_type=newest", "Bad Request: offset_type:newest is invalid"),
        ("isolation=none", "Bad Request: isolation:none is invalid; use read_uncommitted or read_committed"),
    ],
)
def test_refused_types_of_offsets(v3: Any, untouched: str, query: str, message: str) -> None:
    path = f"topics/{untouched}/partitions/0/offset?{query}"
    assert v3.ask("GET", path) == (400, {"error_code": 400, "message": message})
