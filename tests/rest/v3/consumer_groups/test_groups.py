"""Consumer groups, consumers, assignments and lags; groups with members, empty, and gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.rest.conftest import make_topic, unique

NOT_FOUND = {"error_code": 404, "message": "HTTP 404 Not Found"}
UNKNOWN_TOPIC = {"error_code": 40403, "message": "This server does not host this topic-partition."}


class Member:
    """A consumer of a topic with two partitions, which has committed 6 of 9 records of the first."""

    def __init__(self, kafka: str, rest: Any, admin: AdminClient, group: str) -> None:
        self.group = group
        self.topic = make_topic(admin, partitions=2)
        self.consumer = Consumer(
            {
                "bootstrap.servers": kafka,
                "group.id": group,
                "client.id": "a client",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "partition.assignment.strategy": "range",
            }
        )
        rest.produce(self.topic, [{"value": number, "partition": 0} for number in range(9)])
        assigned: list[TopicPartition] = []
        self.consumer.subscribe([self.topic], on_assign=lambda _, partitions: assigned.extend(partitions))
        while not assigned:
            self.consumer.poll(0.1)
        self.consumer.commit(offsets=[TopicPartition(self.topic, 0, 6)], asynchronous=False)

    @property
    def id(self) -> str:
        return str(self.consumer.memberid())


@pytest.fixture(scope="module")
def member(kafka: str, rest: Any, admin: AdminClient) -> Iterator[Member]:
    member = Member(kafka, rest, admin, f"{unique('group')}/with + and %")
    yield member
    member.consumer.close()


@pytest.fixture
def left(kafka: str, rest: Any, admin: AdminClient) -> Member:
    """A member that has left its group, which is empty then."""
    member = Member(kafka, rest, admin, unique("group"))
    member.consumer.close()
    return member


def path_of(member: Member) -> str:
    return f"consumer-groups/{quote(member.group, safe='')}"


def test_a_group(v3: Any, member: Member) -> None:
    path = path_of(member)
    expected = {
        "kind": "KafkaConsumerGroup",
        "metadata": v3.metadata(path, f"consumer-group={member.group}"),
        "cluster_id": v3.cluster_id,
        "consumer_group_id": member.group,
        "is_simple": False,
        "partition_assignor": "range",
        "state": "STABLE",
        "type": "CLASSIC",
        "is_mixed_consumer_group": False,
        "coordinator": v3.relation("brokers/1"),
        "consumers": v3.relation(f"{path}/consumers"),
        "lag_summary": v3.relation(f"{path}/lag-summary"),
    }
    assert v3.get(path) == expected
    listed = v3.get("consumer-groups")
    assert listed["metadata"] == {"self": f"{v3.url}/consumer-groups", "next": None}
    ids = [group["consumer_group_id"] for group in listed["data"]]
    assert ids == sorted(ids)
    assert expected in listed["data"]


def test_consumers_and_their_assignments(v3: Any, member: Member) -> None:
    path = f"{path_of(member)}/consumers"
    of_member = f"{path}/{quote(member.id, safe='')}"
    expected = {
        "kind": "KafkaConsumer",
        "metadata": v3.metadata(of_member, f"consumer-group={member.group}/consumer={member.id}"),
        "cluster_id": v3.cluster_id,
        "consumer_group_id": member.group,
        "consumer_id": member.id,
        "instance_id": None,
        "client_id": "a client",
        "assignments": v3.relation(f"{of_member}/assignments"),
    }
    assert v3.get(path) == {
        "kind": "KafkaConsumerList",
        "metadata": {"self": f"{v3.url}/{path}", "next": None},
        "data": [expected],
    }
    assert v3.get(of_member) == expected
    place = f"{member.topic}/partitions/1"
    assignment = {
        "kind": "KafkaConsumerAssignment",
        "metadata": v3.metadata(
            f"{of_member}/assignments/{place}",
            f"consumer-group={member.group}/consumer={member.id}/assignment={member.topic}/partition=1",
        ),
        "cluster_id": v3.cluster_id,
        "consumer_group_id": member.group,
        "consumer_id": member.id,
        "topic_name": member.topic,
        "partition_id": 1,
        "partition": v3.relation(f"topics/{place}"),
        "lag": v3.relation(f"{path_of(member)}/lags/{place}"),
    }
    listed = v3.get(f"{of_member}/assignments")
    assert listed["metadata"] == {"self": f"{v3.url}/{of_member}/assignments", "next": None}
    assert [item["partition_id"] for item in listed["data"]] == [0, 1]
    assert listed["data"][1] == assignment
    assert v3.get(f"{of_member}/assignments/{place}") == assignment


def test_lags_and_their_summary(v3: Any, member: Member) -> None:
    path, place = path_of(member), f"{member.topic}/partitions/0"
    lag = {
        "kind": "KafkaConsumerLag",
        "metadata": v3.metadata(
            f"{path}/lags/{place}", f"consumer-group={member.group}/lag={member.topic}/partition=0"
        ),
        "cluster_id": v3.cluster_id,
        "consumer_group_id": member.group,
        "topic_name": member.topic,
        "partition_id": 0,
        "consumer_id": member.id,
        "instance_id": None,
        "client_id": "a client",
        "current_offset": 6,
        "log_end_offset": 9,
        "lag": 3,
    }
    assert v3.get(f"{path}/lags") == {
        "kind": "KafkaConsumerLagList",
        "metadata": {"self": f"{v3.url}/{path}/lags", "next": None},
        "data": [lag],
    }
    assert v3.get(f"{path}/lags/{place}") == lag
    assert v3.get(f"{path}/lag-summary") == {
        "kind": "KafkaConsumerGroupLagSummary",
        "metadata": v3.metadata(f"{path}/lag-summary", f"consumer-group={member.group}/lag-summary"),
        "cluster_id": v3.cluster_id,
        "consumer_group_id": member.group,
        "max_lag_consumer_id": member.id,
        "max_lag_instance_id": None,
        "max_lag_client_id": "a client",
        "max_lag_topic_name": member.topic,
        "max_lag_partition_id": 0,
        "max_lag": 3,
        "total_lag": 3,
        "max_lag_consumer": v3.relation(f"{path}/consumers/{quote(member.id, safe='')}"),
        "max_lag_partition": v3.relation(f"topics/{place}"),
    }


def test_lags_by_topic_and_members_if_they_are_asked_for(v3: Any, member: Member) -> None:
    """The second partition has a member and no committed offset, so its lag is not known."""
    lag = {"topic_name": member.topic, "partitions_count": 2, "unknown_count": 1, "total_lag": 3, "max_lag": 3}
    listed = v3.get("consumer-groups?include_lags=true")["data"]
    group = next(item for item in listed if item["consumer_group_id"] == member.group)
    assert (group.pop("members_count"), group.pop("lags")) == (1, [lag])
    assert group == v3.get(path_of(member))
    whole = v3.get(f"{path_of(member)}?include_lags=true&include_members=true&include_authorized_operations=true")
    assert (whole["members_count"], whole["lags"]) == (1, [lag])
    assert whole["members"] == [
        {
            "consumer_id": member.id,
            "instance_id": None,
            "client_id": "a client",
            "host": "127.0.0.1",
            "assignments": [{"topic_name": member.topic, "partition_id": number} for number in (0, 1)],
        }
    ]
    assert {"READ", "DELETE", "DESCRIBE"} <= set(whole["authorized_operations"])


def test_lags_by_topic_of_a_group_that_only_commits(v3: Any, topic: str) -> None:
    group = unique("group")
    body = {"data": [{"topic_name": topic, "to": "latest"}]}
    assert v3.ask("POST", f"consumer-groups/{group}/offsets:alter", body)[0] == 200
    listed = {item["consumer_group_id"]: item for item in v3.get("consumer-groups?include_lags=true")["data"]}
    lag = {"topic_name": topic, "partitions_count": 1, "unknown_count": 0, "total_lag": 0, "max_lag": 0}
    assert (listed[group]["members_count"], listed[group]["lags"]) == (0, [lag])


def not_found(text: str) -> dict[str, Any]:
    return {"error_code": 404, "message": text}


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("consumer-groups/unknown", NOT_FOUND),
        ("consumer-groups/unknown/consumers", not_found("Consumer Group unknown does not exist.")),
        ("consumer-groups/unknown/consumers/x", NOT_FOUND),
        ("consumer-groups/unknown/consumers/x/assignments", not_found("Consumer Group unknown does not exist.")),
        ("consumer-groups/unknown/consumers/x/assignments/t/partitions/0", NOT_FOUND),
        ("consumer-groups/unknown/lags", not_found("Consumer Group unknown could not be found.")),
        ("consumer-groups/unknown/lag-summary", not_found("Consumer Group unknown could not be found.")),
        ("consumer-groups/unknown/lags/t/partitions/0", NOT_FOUND),
        ("{group}/consumers/x", NOT_FOUND),
        ("{group}/consumers/x/assignments", not_found("Consumer x does not exist.")),
        ("{group}/consumers/{member}/assignments/{topic}/partitions/7", NOT_FOUND),
        ("{group}/lags/{topic}/partitions/1", NOT_FOUND),
    ],
)
def test_requests_for_missing_resources(v3: Any, member: Member, path: str, error: Any) -> None:
    names = {"group": path_of(member), "member": quote(member.id, safe=""), "topic": member.topic}
    assert v3.ask("GET", path.format(**names)) == (404, error)


def test_another_cluster(rest: Any) -> None:
    answer = rest.get("/v3/clusters/other/consumer-groups")
    assert (answer.status_code, answer.json()) == (404, not_found("Cluster other could not be found."))


def test_a_group_without_commits(v3: Any, kafka: str, topic: str) -> None:
    group = unique("group")
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": group, "enable.auto.commit": False})
    consumer.subscribe([topic])
    while not consumer.assignment():
        consumer.poll(0.1)
    for path in ("lags", "lag-summary"):
        assert v3.ask("GET", f"consumer-groups/{group}/{path}") == (
            404,
            not_found("Consumer group offsets could not be found."),
        )
    consumer.close()


def test_a_topic_that_is_gone_does_not_break_the_lags_of_the_others(
    v3: Any, kafka: str, admin: AdminClient, left: Member
) -> None:
    gone = make_topic(admin)
    alter = f"consumer-groups/{left.group}/offsets:alter"
    assert v3.ask("POST", alter, {"data": [{"topic_name": gone, "to": "latest"}]})[0] == 200
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": left.group})
    consumer.close()
    assert v3.ask("DELETE", f"topics/{gone}") == (204, None)
    lags = v3.get(f"consumer-groups/{left.group}/lags")["data"]
    shown = [(lag["topic_name"], lag["log_end_offset"], lag["lag"]) for lag in lags]
    # The broker may forget the commits of a deleted topic meanwhile.
    assert shown in ([(left.topic, 9, 3)], [(left.topic, 9, 3), (gone, None, None)])
    assert v3.get(f"consumer-groups/{left.group}/lag-summary")["total_lag"] == 3


def test_an_empty_group_is_altered_and_deleted(v3: Any, left: Member) -> None:
    path = f"consumer-groups/{left.group}"
    group = v3.get(path)
    assert (group["state"], group["is_simple"], group["partition_assignor"]) == ("EMPTY", False, "")
    changes = ("previous_offset", "requested_offset", "log_start_offset", "skipped", "repeated")
    for target, current, change in (
        ({"to": "earliest"}, 0, (6, 0, 0, 0, 6)),
        ({"to": "latest"}, 9, (0, 9, 0, 9, 0)),
        ({"shift_by": -2}, 7, (9, 7, 0, 0, 2)),
        ({"offset": 4}, 4, (7, 4, 0, 0, 3)),
        ({"offset": 99}, 9, (4, 99, 0, 5, 0)),
        ({"timestamp": "2001-01-01T00:00:00Z"}, 0, (9, 0, 0, 0, 9)),
        ({"timestamp": 32503680000000}, 9, (0, 9, 0, 9, 0)),
    ):
        body = {"data": [{"topic_name": left.topic, "partition_id": 0, **target}]}
        before = v3.get(f"{path}/lags")["data"]
        status, checked = v3.ask("POST", f"{path}/offsets:alter", {**body, "validate_only": True})
        assert v3.get(f"{path}/lags")["data"] == before
        assert v3.ask("POST", f"{path}/offsets:alter", body) == (status, checked)
        assert (status, checked["kind"], [lag["current_offset"] for lag in checked["data"]]) == (
            200,
            "KafkaConsumerLagList",
            [current],
        )
        assert [tuple(lag.pop(name) for name in changes) for lag in checked["data"]] == [change]
        assert v3.get(f"{path}/lags") == checked
    whole = v3.ask("POST", f"{path}/offsets:alter", {"data": [{"topic_name": left.topic, "to": "earliest"}]})[1]
    assert [(lag["partition_id"], lag["lag"]) for lag in whole["data"]] == [(0, 9), (1, 0)]
    assert [(lag["previous_offset"], lag["skipped"]) for lag in whole["data"]] == [(9, 0), (None, None)]
    assert v3.ask("DELETE", f"{path}/lags/{left.topic}/partitions/0") == (204, None)
    assert [lag["partition_id"] for lag in v3.get(f"{path}/lags")["data"]] == [1]
    assert v3.ask("DELETE", path) == (204, None)
    assert v3.ask("GET", path) == (404, NOT_FOUND)
    assert v3.ask("DELETE", path) == (404, not_found("The group id does not exist."))


def test_a_group_with_members_is_neither_altered_nor_deleted(v3: Any, member: Member) -> None:
    path = path_of(member)
    has_members = f"Consumer Group {member.group} has members; alter its offsets when it has none."
    body = {"data": [{"topic_name": member.topic, "to": "earliest"}]}
    for dry in (True, False):
        assert v3.ask("POST", f"{path}/offsets:alter", {**body, "validate_only": dry}) == (
            409,
            {"error_code": 409, "message": has_members},
        )
    assert v3.ask("DELETE", path) == (409, {"error_code": 409, "message": "The group is not empty."})
    text = "Deleting offsets of a topic while the consumer group is subscribed to it."
    assert v3.ask("DELETE", f"{path}/lags/{member.topic}/partitions/0") == (409, {"error_code": 409, "message": text})
    assert v3.get(f"{path}/lags")["data"][0]["current_offset"] == 6


@pytest.mark.parametrize(
    ("target", "status", "error"),
    [
        ({}, 400, {"error_code": 400, "message": "Bad Request: data[0]: give one of offset, timestamp, to, shift_by"}),
        (
            {"to": "end"},
            400,
            {"error_code": 400, "message": "Bad Request: data[0].to: end is none of earliest, latest"},
        ),
        (
            {"to": "latest", "partition_id": 9},
            404,
            {"error_code": 40402, "message": "Partition not found."},
        ),
        ({"to": "latest", "topic_name": "not-there"}, 404, UNKNOWN_TOPIC),
        (
            {"timestamp": "yesterday"},
            400,
            {"error_code": 400, "message": "Bad Request: timestamp=yesterday is not an ISO-8601 instant."},
        ),
    ],
)
def test_refused_alterations(v3: Any, untouched: str, target: Any, status: int, error: Any) -> None:
    body = {"data": [{"topic_name": untouched, **target}]}
    assert v3.ask("POST", f"consumer-groups/{unique('group')}/offsets:alter", body) == (status, error)
