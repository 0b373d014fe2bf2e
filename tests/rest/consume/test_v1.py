"""Routes that only the oldest API has."""

from __future__ import annotations

from typing import Any

import pytest

BINARY = "application/vnd.kafka.binary.v1+json"
JSON = "application/vnd.kafka.json.v1+json"
V1 = "application/vnd.kafka.v1+json"


def create(rest: Any, group: str, **config: Any) -> Any:
    return rest.post(f"/consumers/{group}", json=config, headers={"content-type": V1})


def test_the_stateless_consumer(rest: Any, topic: str) -> None:
    rest.produce(topic, [{"key": "k", "value": index} for index in range(5)])
    path = f"/topics/{topic}/partitions/0/messages"
    answer = rest.get(path, params={"offset": 3, "count": 10}, headers={"accept": JSON})
    assert answer.headers["content-type"] == JSON
    assert answer.json() == [
        {"topic": topic, "key": "k", "value": 3, "partition": 0, "offset": 3},
        {"topic": topic, "key": "k", "value": 4, "partition": 0, "offset": 4},
    ]
    answer = rest.get(path, params={"offset": 1})
    assert answer.headers["content-type"] == BINARY
    assert answer.json() == [{"topic": topic, "key": "Imsi", "value": "MQ==", "partition": 0, "offset": 1}]
    assert len(rest.get(path, params={"timestamp": "2001-01-01T00:00:00Z", "count": 3}).json()) == 3
    assert rest.get(path, params={"timestamp": "2101-01-01T00:00:00Z"}).json() == []
    assert rest.get(path, params={"offset": 5}).json() == []


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("", 400, 400),
        ("offset=1&timestamp=2001-01-01T00:00:00Z", 400, 400),
        ("offset=-1", 422, 422),
        ("offset=x", 422, 422),
        ("offset=0&count=0", 422, 422),
        ("timestamp=yesterday", 400, 400),
        ("offset=99", 500, 50002),
    ],
)
def test_reads_that_the_stateless_consumer_refuses(rest: Any, topic: str, query: str, status: int, code: int) -> None:
    answer = rest.get(f"/topics/{topic}/partitions/0/messages?{query}")
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)


def test_the_stateless_consumer_of_missing_topics_and_partitions(rest: Any, topic: str) -> None:
    assert rest.get("/topics/none/partitions/0/messages?offset=0").json()["error_code"] == 40401
    assert rest.get(f"/topics/{topic}/partitions/7/messages?offset=0").json()["error_code"] == 40402


def test_an_instance_subscribes_by_reading_and_commits_by_hand(rest: Any, topic: str) -> None:
    rest.produce(topic, [{"value": index} for index in range(3)])
    group = rest.unique("group")
    made = create(rest, group, format="json", **{"auto.offset.reset": "smallest"})
    assert made.headers["content-type"] == V1
    path = f"/consumers/{group}/instances/{made.json()['instance_id']}"
    read = rest.get(f"{path}/topics/{topic}", headers={"accept": JSON})
    assert [record["value"] for record in read.json()] == [0, 1, 2]
    other = rest.get(f"{path}/topics/other", headers={"accept": JSON})
    assert (other.status_code, other.json()["error_code"]) == (409, 40901)
    mismatch = rest.get(f"{path}/topics/{topic}", headers={"accept": BINARY})
    assert (mismatch.status_code, mismatch.json()["error_code"]) == (406, 40601)
    committed = rest.post(f"{path}/offsets", headers={"accept": V1})
    assert committed.json() == [{"topic": topic, "partition": 0, "consumed": 2, "committed": 2}]
    assert rest.delete(path).status_code == 204


def test_the_proxy_commits_only_on_request(rest: Any, topic: str) -> None:
    rest.produce(topic, [{"value": 0}])
    group = rest.unique("group")
    for _ in range(2):
        made = create(rest, group, format="json", **{"auto.offset.reset": "smallest"})
        path = f"/consumers/{group}/instances/{made.json()['instance_id']}"
        assert len(rest.get(f"{path}/topics/{topic}", headers={"accept": JSON}).json()) == 1
        rest.delete(path)


def test_a_missing_topic(rest: Any) -> None:
    group = rest.unique("group")
    made = create(rest, group)
    answer = rest.get(f"/consumers/{group}/instances/{made.json()['instance_id']}/topics/none")
    assert (answer.status_code, answer.json()) == (404, {"error_code": 40401, "message": "Topic not found."})


def test_words_of_the_other_version_are_refused(rest: Any) -> None:
    assert rest.post_v2("/consumers/g", {"auto.offset.reset": "smallest"}).json()["error_code"] == 42204
    assert create(rest, rest.unique("group"), **{"auto.offset.reset": "largest"}).status_code == 200
