"""Consumer instances: what is delivered, what is committed, and what comes again."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer

from magicbyte.testing.servers import running_rest_proxy

JSON = {"accept": "application/vnd.kafka.json.v2+json"}


def values(records: list[dict[str, Any]]):
    return [record["value"] for record in records]


def places(topic: str, *partitions: int):
    return {"partitions": [{"topic": topic, "partition": partition} for partition in partitions]}


def committed(rest: Any, path: str, topic: str, partition: int = 0):
    answer = rest.request(
        "GET",
        f"{path}/offsets",
        json=places(topic, partition),
        headers={"content-type": "application/vnd.kafka.v2+json"},
    )
    assert answer.status_code == 200, answer.text
    offsets = answer.json()["offsets"]
    return offsets[0]["offset"] if offsets else None


def test_the_life_cycle_of_an_instance(rest: Any, topic: str, proxy_url: str):
    rest.produce(topic, [{"key": "k", "value": {"a": 1}}, {"value": None}])
    group = rest.unique("group")
    made = rest.post_v2(f"/consumers/{group}", {"name": "one", "format": "json", "auto.offset.reset": "earliest"})
    path = f"/consumers/{group}/instances/one"
    assert made.json() == {"instance_id": "one", "base_uri": f"{proxy_url}{path}"}
    assert rest.post_v2(f"{path}/subscription", {"topics": [topic]}).status_code == 204
    assert rest.get(f"{path}/subscription").json() == {"topics": [topic]}
    answer = rest.get(f"{path}/records", headers=JSON)
    assert answer.headers["content-type"] == "application/vnd.kafka.json.v2+json"
    assert answer.json() == [
        {"topic": topic, "key": "k", "value": {"a": 1}, "partition": 0, "offset": 0},
        {"topic": topic, "key": None, "value": None, "partition": 0, "offset": 1},
    ]
    assert rest.get(f"{path}/assignments").json() == places(topic, 0)
    assert rest.post_v2(f"{path}/offsets").json() == []
    assert committed(rest, path, topic) == 2
    assert rest.delete(path).status_code == 204
    gone = rest.get(f"{path}/records", headers=JSON)
    assert (gone.status_code, gone.json()) == (404, {"error_code": 40403, "message": "Consumer instance not found."})


def test_the_first_read_is_not_empty(rest: Any, topic: str):
    rest.produce(topic, [{"value": 1}])
    path = rest.subscribed(topic)
    assert values(rest.read(path)) == [1]


def test_a_read_returns_as_soon_as_there_is_data(rest: Any, topic: str):
    # Longer than the client waits for an answer.
    path = rest.subscribed(topic, **{"consumer.request.timeout.ms": 200_000})
    assert rest.read(path, timeout=300) == []
    rest.produce(topic, [{"value": 1}])
    assert values(rest.read(path)) == [1]


def test_fetch_min_bytes_waits_for_more(rest: Any, topic: str):
    path = rest.subscribed(topic, **{"fetch.min.bytes": 1000})
    rest.produce(topic, [{"value": "x" * 100}])
    started = time.monotonic()
    assert len(rest.read(path, timeout=700)) == 1
    assert time.monotonic() - started > 0.6


def test_the_proxy_does_not_commit_buffered_records(rest: Any, topic: str):
    rest.produce(topic, [{"value": index} for index in range(10)])
    path = rest.subscribed(topic)
    assert values(rest.read(path, max_bytes=3)) == [0, 1, 2]
    rest.post_v2(f"{path}/offsets")
    assert committed(rest, path, topic) == 3
    assert values(rest.read(path, max_bytes=2)) == [3, 4]
    assert committed(rest, path, topic) == 3


def test_an_explicit_commit_is_of_the_records_offset(rest: Any, topic: str):
    rest.produce(topic, [{"value": index} for index in range(5)])
    path = rest.subscribed(topic)
    rest.read_all(path, 5)
    body = {"offsets": [{"topic": topic, "partition": "0", "offset": 1, "metadata": "note"}]}
    assert rest.post_v2(f"{path}/offsets", body).json() == []
    found = rest.request("GET", f"{path}/offsets", json=places(topic, 0), headers={"content-type": JSON["accept"]})
    assert found.json() == {"offsets": [{"topic": topic, "partition": 0, "offset": 2, "metadata": "note"}]}
    assert rest.post_v2(f"{path}/offsets", {"offsets": []}).json() == []


def test_auto_commit_waits_until_the_batch_is_settled(rest: Any, topic: str):
    rest.produce(topic, [{"value": index} for index in range(4)])
    group = rest.unique("group")
    path = rest.subscribed(topic, group)
    assert values(rest.read(path, max_bytes=2)) == [0, 1]
    rest.delete(path)
    path = rest.subscribed(topic, group)
    assert values(rest.read_all(path, 2)) == [2, 3]


def test_without_auto_commit_nothing_is_committed(rest: Any, topic: str):
    rest.produce(topic, [{"value": 1}])
    group = rest.unique("group")
    for _ in range(2):
        path = rest.subscribed(topic, group, **{"auto.commit.enable": "false"})
        assert values(rest.read_all(path, 1)) == [1]
        rest.delete(path)


def test_a_token_brings_the_same_batch_again_until_it_is_settled(rest: Any, topic: str):
    rest.produce(topic, [{"value": index} for index in range(6)])
    path = rest.subscribed(topic, **{"auto.commit.enable": "false"})
    first = rest.read(path, token="a", max_bytes=2)
    assert values(first) == [0, 1]
    assert rest.read(path, token="a") == first
    assert values(rest.read(path, token="b", max_bytes=2)) == [2, 3]
    assert rest.post_v2(f"{path}/offsets").status_code == 200
    assert values(rest.read(path, token="b")) == [4, 5]


def test_a_record_over_max_bytes_still_comes(rest: Any, topic: str):
    rest.produce(topic, [{"value": "x" * 1000}, {"value": 1}])
    path = rest.subscribed(topic)
    assert len(rest.read(path, max_bytes=10)) == 1
    assert values(rest.read(path, max_bytes=10)) == [1]


def test_a_record_that_does_not_decode_blocks_as_in_the_reference(rest: Any, topic: str):
    rest.produce(topic, [{"value": "MQ=="}, {"value": "e30g"}, {"value": "e3s="}, {"value": "Mg=="}], "binary")
    path = rest.subscribed(topic)
    assert values(rest.read(path)) == [1, {}]
    for _ in range(2):
        bad = rest.get(f"{path}/records", headers=JSON)
        assert (bad.status_code, bad.json()["error_code"]) == (408, 40801)
        assert bad.json()["message"].startswith(
            f"Error deserializing key/value for partition {topic}-0 at offset 2. "
            "If needed, please seek past the record to continue consumption."
        )
    seek = {"offsets": [{"topic": topic, "partition": 0, "offset": 3}]}
    assert rest.post_v2(f"{path}/positions", seek).status_code == 204
    assert values(rest.read_all(path, 1)) == [2]


def test_a_record_that_does_not_decode_is_its_own_error_by_option(rest: Any, topic: str):
    rest.produce(topic, [{"value": "MQ=="}, {"value": "e3s="}, {"value": "Mg=="}], "binary")
    path = rest.subscribed(topic, **{"decode.errors": "report"})
    records = rest.read_all(path, 3)
    assert values(records) == [1, None, 2]
    assert records[1]["error_code"] == 40801
    assert records[1]["error"].startswith("value: not JSON")


def test_seeking(rest: Any, topic: str):
    rest.produce(topic, [{"value": index} for index in range(5)])
    path = rest.subscribed(topic)
    # Straight after the subscription: the assignment is waited for.
    assert rest.post_v2(f"{path}/positions/end", places(topic, 0)).status_code == 204
    rest.produce(topic, [{"value": 5}])
    assert values(rest.read_all(path, 1)) == [5]
    assert rest.post_v2(f"{path}/positions/beginning", places(topic, 0)).status_code == 204
    assert values(rest.read_all(path, 6)) == [0, 1, 2, 3, 4, 5]
    by_offset = {"offsets": [{"topic": topic, "partition": 0, "offset": 4}]}
    assert rest.post_v2(f"{path}/positions", by_offset).status_code == 204
    assert values(rest.read_all(path, 2)) == [4, 5]
    past = {"timestamps": [{"topic": topic, "partition": 0, "timestamp": "2001-01-01T00:00:00Z"}]}
    assert rest.post_v2(f"{path}/positions", past).status_code == 204
    assert values(rest.read_all(path, 6)) == [0, 1, 2, 3, 4, 5]
    future = {"timestamps": [{"topic": topic, "partition": 0, "timestamp": "2101-01-01T00:00:00Z"}]}
    assert rest.post_v2(f"{path}/positions", future).status_code == 204
    rest.produce(topic, [{"value": 6}])
    assert values(rest.read_all(path, 1)) == [6]
    unassigned = rest.post_v2(f"{path}/positions/end", places(topic, 7))
    assert (unassigned.status_code, unassigned.json()) == (
        409,
        {"error_code": 40903, "message": f"Illegal state: No current assignment for partition {topic}-7"},
    )


def test_a_commit_writes_the_position_after_a_seek(rest: Any, topic: str):
    rest.produce(topic, [{"value": index} for index in range(5)])
    path = rest.subscribed(topic)
    rest.read_all(path, 5)
    rest.post_v2(f"{path}/positions", {"offsets": [{"topic": topic, "partition": 0, "offset": 2}]})
    rest.post_v2(f"{path}/offsets")
    assert committed(rest, path, topic) == 2


def test_partitions_assigned_by_hand(rest: Any, wide_topic: str):
    rest.produce(wide_topic, [{"value": index, "partition": index} for index in range(7)])
    path = rest.instance(rest.unique("group"), **{"auto.commit.enable": "false"})
    assert rest.post_v2(f"{path}/assignments", places(wide_topic, 2, 4)).status_code == 204
    assert sorted(values(rest.read_all(path, 2))) == [2, 4]
    assert rest.post_v2(f"{path}/assignments", places(wide_topic, 4, 6)).status_code == 204
    assert rest.get(f"{path}/assignments").json() == places(wide_topic, 4, 6)
    assert values(rest.read_all(path, 1)) == [6]
    subscribed = rest.post_v2(f"{path}/subscription", {"topics": [wide_topic]})
    assert (subscribed.status_code, subscribed.json()) == (
        409,
        {
            "error_code": 40903,
            "message": "Illegal state: Subscription to topics, partitions and pattern are mutually exclusive",
        },
    )
    assert rest.delete(f"{path}/subscription").status_code == 204
    assert rest.get(f"{path}/assignments").json() == {"partitions": []}
    assert rest.post_v2(f"{path}/subscription", {"topics": [wide_topic]}).status_code == 204
    assert len(rest.read_all(path, 7)) == 7


def test_a_pattern_matches_whole_names(rest: Any, topic: str):
    rest.produce(topic, [{"value": 1}])
    rest.produce(f"{topic}-more", [{"value": 2}])
    path = rest.instance(rest.unique("group"))
    pattern = topic.replace("topic", "t(?:op)+?[\\w]c").replace("-", "\\-")
    assert rest.post_v2(f"{path}/subscription", {"topic_pattern": pattern}).status_code == 204
    assert values(rest.read_all(path, 1)) == [1]
    assert rest.get(f"{path}/subscription").json() == {"topics": [topic]}
    for refused in ("(", "(?=x)", "a++", "\\1", "*"):
        answer = rest.post_v2(f"{path}/subscription", {"topic_pattern": refused})
        assert (answer.status_code, answer.json()["error_code"]) == (422, 42204)


def test_without_a_place_to_begin_reads_say_so_until_one_is_sought(rest: Any, topic: str):
    rest.produce(topic, [{"value": index} for index in range(3)])
    path = rest.subscribed(topic, **{"auto.offset.reset": "none"})
    for _ in range(2):
        answer = rest.get(f"{path}/records?timeout=5000", headers=JSON)
        assert (answer.status_code, answer.json()["error_code"]) == (500, 50002)
        assert "no previously committed offset available" in answer.json()["message"]
    seek = {"offsets": [{"topic": topic, "partition": 0, "offset": 1}]}
    assert rest.post_v2(f"{path}/positions", seek).status_code == 204
    assert values(rest.read_all(path, 2)) == [1, 2]


def test_empty_bodies(rest: Any):
    path = rest.instance(rest.unique("group"))
    nothing = {"error_code": 422, "message": "the request's body must not be null (was null)"}
    for operation in ("subscription", "assignments", "positions", "positions/beginning", "positions/end"):
        for body in (b"", b"null"):
            assert rest.post_v2(f"{path}/{operation}", body).json() == nothing
    assert rest.post_v2(f"{path}/offsets", b"null").json() == []
    null = rest.request("GET", f"{path}/offsets", content=b"null", headers={"content-type": JSON["accept"]})
    assert (null.status_code, null.json()["error_code"]) == (404, 40402)


def test_names_that_no_topic_can_have(rest: Any):
    path = rest.instance(rest.unique("group"))
    for name in ("", "a b", "..", "x" * 250, "ü"):
        answer = rest.post_v2(f"{path}/subscription", {"topics": ["good", name]})
        assert (answer.status_code, answer.json()) == (
            400,
            {"error_code": 40002, "message": f"Invalid topics: [{name}]"},
        )


def test_an_empty_subscription_does_nothing(rest: Any, topic: str):
    path = rest.instance(rest.unique("group"))
    assert rest.post_v2(f"{path}/subscription", {}).status_code == 204
    assert rest.get(f"{path}/subscription").json() == {"topics": []}


@pytest.mark.parametrize(
    ("config", "status", "code", "message"),
    [
        ({"format": "xml"}, 422, 422, "Invalid format type."),
        ({"format": "string"}, 422, 422, "Invalid format type."),
        ({"nope": 1}, 422, 422, "Unrecognized field: nope"),
        (
            {"fetch.min.bytes": -2},
            422,
            40001,
            "Invalid consumer configuration. It does not abide by the constraints: "
            "fetch.min.bytes must be between -1 and 10000000 (was -2)",
        ),
        (
            {"auto.offset.reset": "middle"},
            422,
            42204,
            "Invalid consumer configuration: Invalid value middle for configuration auto.offset.reset: "
            "String must be one of: earliest, latest, none",
        ),
        (
            {"auto.commit.enable": "perhaps"},
            422,
            42204,
            "Invalid consumer configuration: Invalid value perhaps for configuration auto.commit.enable: "
            "Expected value to be either true or false",
        ),
        (
            {"isolation.level": "serial"},
            422,
            42204,
            "Invalid consumer configuration: Invalid value serial for configuration isolation.level: "
            "String must be one of: read_uncommitted, read_committed",
        ),
        ({"name": "a\0"}, 422, 422, "a name must not hold a null character"),
        ({"name": 5}, 400, 400, "Expected `str | null`, got `int` - at `$.name`"),
    ],
)
def test_configurations_that_are_refused(rest: Any, config: dict[str, Any], status: int, code: int, message: str):
    answer = rest.post_v2(f"/consumers/{rest.unique('group')}", config)
    assert (answer.status_code, answer.json()) == (status, {"error_code": code, "message": message})


@pytest.mark.parametrize("group", ["%20", "%20g", "%09", "%0B", "%0A"])
def test_groups_that_begin_with_whitespace_are_refused(rest: Any, group: str):
    answer = rest.post_v2(f"/consumers/{group}")
    assert (answer.status_code, answer.json()) == (
        422,
        {"error_code": 422, "message": "a group must not begin with whitespace"},
    )


def test_a_name_is_taken_once(rest: Any):
    group = rest.unique("group")
    assert rest.post_v2(f"/consumers/{group}", {"id": "same", "name": "other"}).json()["instance_id"] == "same"
    again = rest.post_v2(f"/consumers/{group}", {"name": "same"})
    assert (again.status_code, again.json()) == (
        409,
        {
            "error_code": 40902,
            "message": "Consumer with specified consumer ID already exists in the specified consumer group.",
        },
    )
    assert rest.post_v2(f"/consumers/{group}").status_code == 200


def test_the_format_is_the_instances(rest: Any, topic: str):
    path = rest.subscribed(topic, format="JSON")
    mismatch = {
        "error_code": 40601,
        "message": "The requested embedded data format does not match the deserializer for this consumer instance",
    }
    for accept in ("application/vnd.kafka.binary.v2+json", "application/vnd.kafka.v2+json", "*/*"):
        answer = rest.get(f"{path}/records", headers={"accept": accept})
        assert (answer.status_code, answer.json()) == (406, mismatch)
    assert rest.get(f"{path}/records?timeout=1", headers={"accept": "application/json"}).json() == []
    assert rest.get(f"{path}/records", headers={"accept": "text/html"}).content == b""


def test_isolation_by_instance(rest: Any, topic: str, kafka: str):
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions(10)
    for value, ending in ((b"1", producer.commit_transaction), (b"2", producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.flush(10)
        ending(10)
    seen = rest.subscribed(topic)
    assert values(rest.read_all(seen, 2)) == [1, 2]
    path = rest.subscribed(topic, **{"isolation.level": "read_committed"})
    assert values(rest.read_all(path, 1)) == [1]
    assert rest.read(path, timeout=500) == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("DELETE", "", None),
        ("POST", "/subscription", {"topics": ["t"]}),
        ("GET", "/subscription", None),
        ("DELETE", "/subscription", None),
        ("GET", "/records", None),
        ("POST", "/offsets", None),
        ("GET", "/offsets", {"partitions": [{"topic": "t", "partition": 0}]}),
        ("POST", "/positions", {}),
        ("POST", "/positions/beginning", {}),
        ("POST", "/positions/end", {}),
        ("POST", "/assignments", {}),
        ("GET", "/assignments", None),
    ],
)
def test_a_missing_instance(rest: Any, method: str, path: str, body: Any):
    headers = {"content-type": "application/vnd.kafka.v2+json"} if body is not None else {}
    answer = rest.request(method, f"/consumers/g/instances/none{path}", json=body, headers=headers)
    assert (answer.status_code, answer.json()) == (
        404,
        {"error_code": 40403, "message": "Consumer instance not found."},
    )


def test_names_with_slashes_and_spaces(rest: Any, topic: str):
    rest.produce(topic, [{"value": 1}])
    group = rest.unique("a/b c")
    made = rest.post_v2(
        f"/consumers/{group.replace('/', '%2F')}",
        {"name": "x/y ü", "format": "json", "auto.offset.reset": "earliest"},
    )
    uri = made.json()["base_uri"]
    assert rest.post_v2(f"{uri}/subscription", {"topics": [topic]}).status_code == 204
    assert values(rest.read_all(uri, 1)) == [1]


def test_committed_offsets_need_a_body(rest: Any, topic: str):
    path = rest.subscribed(topic)
    answer = rest.get(f"{path}/offsets")
    assert (answer.status_code, answer.json()) == (404, {"error_code": 40402, "message": "Partition not found."})
    assert committed(rest, path, topic) is None


def test_a_client_may_have_so_many_instances(kafka: str):
    properties = {"magicbyte.consumer.instances.max.per.client": "2"}
    with running_rest_proxy(kafka, "", properties=properties) as proxy, httpx.Client(base_url=proxy.url) as client:
        content = {"headers": {"content-type": "application/vnd.kafka.v2+json"}, "json": {"format": "json"}}
        made = [client.post("/consumers/so-many", **content) for _ in range(3)]
        assert [answer.status_code for answer in made] == [200, 200, 429]
        assert made[2].json()["message"] == (
            "No further consumer instance fits on this node:"
            " this client has 2 (magicbyte.consumer.instances.max.per.client)."
        )
        assert client.delete(made[0].json()["base_uri"]).status_code == 204
        assert client.post("/consumers/so-many", **content).status_code == 200
