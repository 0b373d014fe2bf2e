"""The root, brokers, topics and partitions, and what is answered to requests that no route takes."""

from __future__ import annotations

from typing import Any

import pytest

V2 = "application/vnd.kafka.v2+json"
V1 = "application/vnd.kafka.v1+json"
PARTITION = {"partition": 0, "leader": 1, "replicas": [{"broker": 1, "leader": True, "in_sync": True}]}


def test_the_root(rest: Any) -> None:
    assert (rest.get("/").status_code, rest.get("/").content) == (200, b"{}")
    assert rest.post_v2("/", {"any": "thing"}).content == b"{}"
    assert rest.post_v2("/", {"any": 5}).status_code == 400


def test_brokers(rest: Any) -> None:
    assert rest.get("/brokers").json() == {"brokers": [1]}


def test_topics_without_kafkas_own(rest: Any, topic: str) -> None:
    rest.read(rest.subscribed(topic), timeout=1)
    names = rest.get("/topics").json()
    assert topic in names
    assert "__consumer_offsets" not in names
    assert names == sorted(names)


def test_a_topic(rest: Any, topic: str) -> None:
    found = rest.get(f"/topics/{topic}").json()
    assert list(found) == ["name", "configs", "partitions"]
    assert found["name"] == topic
    assert found["configs"]["cleanup.policy"] == "delete"
    assert found["partitions"] == [PARTITION]
    assert rest.get(f"/topics/{topic}/partitions").json() == [PARTITION]
    assert rest.get(f"/topics/{topic}/partitions/0").json() == PARTITION


def test_offsets_of_a_partition(rest: Any, topic: str) -> None:
    rest.produce(topic, [{"value": 1}, {"value": 2}])
    assert rest.get(f"/topics/{topic}/partitions/0/offsets").json() == {"beginning_offset": 0, "end_offset": 2}


@pytest.mark.parametrize(
    ("path", "version", "code", "message"),
    [
        ("/topics/none", "v2", 40403, "This server does not host this topic-partition."),
        ("/topics/none", "v1", 40401, "Topic not found."),
        ("/topics/none/partitions", "v2", 40403, "This server does not host this topic-partition."),
        ("/topics/none/partitions", "v1", 40401, "Topic not found."),
        ("/topics/none/partitions/0", "v1", 40401, "Topic not found."),
        ("/topics/{topic}/partitions/7", "v2", 40402, "Partition not found."),
        ("/topics/{topic}/partitions/7/offsets", "v2", 40402, "Partition not found."),
        ("/topics/{topic}/partitions/seven", "v2", 404, "HTTP 404 Not Found"),
        ("/topics/{topic}/partitions/-1", "v2", 404, "HTTP 404 Not Found"),
        ("/topics/{topic}/partitions/99999999999999999999", "v2", 404, "HTTP 404 Not Found"),
        ("/nowhere", "v2", 404, "HTTP 404 Not Found"),
    ],
)
def test_requests_for_missing_resources(
    rest: Any, topic: str, path: str, version: str, code: int, message: str
) -> None:
    media_type = f"application/vnd.kafka.{version}+json"
    answer = rest.get(path.format(topic=topic), headers={"accept": media_type})
    assert (answer.status_code, answer.json()) == (404, {"error_code": code, "message": message})
    assert answer.headers["content-type"] == media_type


def test_the_wrong_verb(rest: Any) -> None:
    answer = rest.put("/topics")
    assert (answer.status_code, answer.json()) == (405, {"error_code": 405, "message": "HTTP 405 Method Not Allowed"})


def test_a_slash_at_the_end_and_head(rest: Any, topic: str) -> None:
    assert rest.get(f"/topics/{topic}/partitions/").json() == [PARTITION]
    body = {"records": [{"value": 1}]}
    assert rest.post_v2(f"/topics/{topic}/", body, "json").json()["offsets"][0]["offset"] == 0
    for path in ("/", "/topics", f"/topics/{topic}/", "/health/live"):
        head = rest.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == str(len(rest.get(path).content))
    assert rest.head("/topics/none").status_code == 404
    # To read records moves an instance on: not without an answer.
    assert rest.head("/consumers/g/instances/i/records").status_code == 405


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, V2),
        ("*/*", V2),
        ("application/*", V2),
        (V2, V2),
        (V1, V1),
        (f"{V1}, {V2};q=0.5", V1),
        (f"{V1};q=0.5, {V2}", V2),
        ("application/vnd.kafka+json", "application/vnd.kafka+json"),
        ("application/json", "application/json"),
        ("text/html", None),
        (f"{V2};q=0", None),
    ],
)
def test_the_accept_header_decides_the_media_type(rest: Any, accept: str | None, media_type: str | None) -> None:
    request = rest.build_request("GET", "/topics")
    del request.headers["accept"]
    if accept is not None:
        request.headers["accept"] = accept
    answer = rest.send(request)
    if media_type is None:
        assert (answer.status_code, answer.content) == (406, b"")
        assert "content-type" not in answer.headers
    else:
        assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)


def test_health_and_metrics(rest: Any, topic: str) -> None:
    assert rest.get("/health/live").json() == {"status": "live"}
    assert rest.get("/health/ready").json() == {"status": "ready"}
    rest.produce(topic, [{"value": 1}])
    lines = rest.get("/metrics").text.splitlines()
    counted = 'magicbyte_http_requests_total{app="rest",method="POST",route="/topics/{topic}",status="200"} '
    assert any(line.startswith(counted) for line in lines)
    assert "magicbyte_rest_buffered_bytes 0.0" in lines
    assert not any(topic in line for line in lines)


def test_every_get_is_counted(rest: Any) -> None:
    def counted() -> float:
        name = 'magicbyte_http_requests_total{app="rest",method="GET",route="/topics",status="200"} '
        lines = rest.get("/metrics").text.splitlines()
        return sum(float(line.removeprefix(name)) for line in lines if line.startswith(name))

    before = counted()
    for _ in range(5):
        rest.get("/topics")
    assert counted() == before + 5
