"""Configurations of topics, brokers and the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from tests.rest.conftest import make_topic, unique
from tests.waiting import until

NOT_FOUND = {"error_code": 404, "message": "HTTP 404 Not Found"}
UNKNOWN_TOPIC = {"error_code": 40403, "message": "This server does not host this topic-partition."}
BAD_VALUE = {
    "error_code": 40002,
    "message": "Invalid value x for configuration retention.ms: Not a number of type LONG",
}
EMPTY = {"error_code": 42206, "message": "Payload error. Null input provided. Data is required."}
#: A property that has no effect on the other tests of the run.
CLUSTER_CONFIG = "log.cleaner.threads"


def test_a_topics_configuration(v3: Any, topic: str) -> None:
    path = f"topics/{topic}/configs"
    listed = v3.get(path)
    names = [config["name"] for config in listed["data"]]
    assert (listed["kind"], listed["metadata"]) == (
        "KafkaTopicConfigList",
        {"self": f"{v3.url}/{path}", "next": None},
    )
    assert len(names) > 30
    assert names == sorted(names)
    expected = {
        "kind": "KafkaTopicConfig",
        "metadata": v3.metadata(f"{path}/max.message.bytes", f"topic={topic}/config=max.message.bytes"),
        "cluster_id": v3.cluster_id,
        "topic_name": topic,
        "name": "max.message.bytes",
        "value": "1048588",
        "is_default": True,
        "is_read_only": False,
        "is_sensitive": False,
        "source": "DEFAULT_CONFIG",
        "synonyms": [{"name": "message.max.bytes", "value": "1048588", "source": "DEFAULT_CONFIG"}],
    }
    assert v3.get(f"{path}/max.message.bytes") == expected
    assert expected in listed["data"]


def test_a_topics_property_is_set_and_reset(v3: Any, topic: str) -> None:
    path = f"topics/{topic}/configs/max.message.bytes"
    assert v3.ask("PUT", path, {"value": "1000"}) == (204, None)
    until(lambda: v3.get(path)["value"] == "1000")
    config = v3.get(path)
    assert (config["is_default"], config["source"]) == (False, "DYNAMIC_TOPIC_CONFIG")
    assert config["synonyms"] == [
        {"name": "max.message.bytes", "value": "1000", "source": "DYNAMIC_TOPIC_CONFIG"},
        {"name": "message.max.bytes", "value": "1048588", "source": "DEFAULT_CONFIG"},
    ]
    for _ in range(2):  # What is at its default can be reset too.
        assert v3.ask("DELETE", path) == (204, None)
        until(lambda: v3.get(path)["source"] == "DEFAULT_CONFIG")


def values(v3: Any, path: str, *names: str) -> list[str]:
    return [v3.get(f"{path}/{name}")["value"] for name in names]


def test_changes_of_a_topic_are_made_together_or_not_at_all(v3: Any, topic: str) -> None:
    path, names = f"topics/{topic}/configs", ("retention.ms", "cleanup.policy")
    changes = [{"name": "retention.ms", "value": 1000}, {"name": "cleanup.policy", "value": "compact"}]
    assert v3.ask("POST", f"{path}:alter", {"data": changes, "validate_only": True}) == (204, None)
    assert values(v3, path, *names) == ["604800000", "delete"]
    assert v3.ask("POST", f"{path}:alter", {"data": changes}) == (204, None)
    until(lambda: values(v3, path, *names) == ["1000", "compact"])
    refused = [{"name": "cleanup.policy", "operation": "DELETE"}, {"name": "retention.ms", "value": "x"}]
    assert v3.ask("POST", f"{path}:alter", {"data": refused}) == (400, BAD_VALUE)
    assert v3.ask("POST", f"{path}:alter", {"data": refused, "validate_only": True}) == (400, BAD_VALUE)
    assert values(v3, path, *names) == ["1000", "compact"]
    reset = [{"name": "cleanup.policy", "operation": "DELETE"}, {"name": "retention.ms", "value": "5"}]
    assert v3.ask("POST", f"{path}:alter", {"data": reset}) == (204, None)
    until(lambda: values(v3, path, *names) == ["5", "delete"])


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error"),
    [
        ("GET", "topics/{topic}/configs/colour", None, 404, NOT_FOUND),
        ("GET", "brokers/1/configs/colour", None, 404, NOT_FOUND),
        ("GET", "broker-configs/colour", None, 404, NOT_FOUND),
        ("PUT", "topics/{topic}/configs/colour", {"value": "red"}, 404, "TOPIC {topic}"),
        ("DELETE", "topics/{topic}/configs/colour", None, 404, "TOPIC {topic}"),
        ("POST", "topics/{topic}/configs:alter", {"data": [{"name": "colour", "value": "red"}]}, 404, "TOPIC {topic}"),
        ("PUT", "brokers/1/configs/colour", {"value": "red"}, 404, "BROKER 1"),
        ("DELETE", "brokers/1/configs/colour", None, 404, "BROKER 1"),
        ("POST", "brokers/1/configs:alter", {"data": [{"name": "colour", "value": "red"}]}, 404, "BROKER 1"),
        ("DELETE", "broker-configs/colour", None, 404, None),
        ("PUT", "topics/{topic}/configs/retention.ms", {"value": "x"}, 400, BAD_VALUE),
        ("PUT", "topics/{topic}/configs/retention.ms", "", 422, EMPTY),
        ("POST", "topics/{topic}/configs:alter", "null", 422, EMPTY),
        ("POST", "topics/-/configs:alter", "null", 422, EMPTY),
        ("POST", "brokers/1/configs:alter", "", 422, EMPTY),
        ("POST", "broker-configs:alter", "", 422, EMPTY),
        ("GET", "topics/not-there/configs/retention.ms", None, 404, UNKNOWN_TOPIC),
        ("PUT", "topics/not-there/configs/retention.ms", {"value": "1"}, 404, UNKNOWN_TOPIC),
        ("GET", "brokers/7/configs", None, 404, {"error_code": 404, "message": "Broker 7 cannot be found."}),
        (
            "PUT",
            "brokers/7/configs/x",
            {"value": "1"},
            404,
            {"error_code": 404, "message": "Broker 7 cannot be found."},
        ),
    ],
)
def test_refusals(v3: Any, untouched: str, method: str, path: str, body: Any, status: int, error: Any) -> None:
    if not isinstance(error, dict):
        whose = "" if error is None else f" for {error.format(topic=untouched)}"
        text = f"Config colour cannot be found{whose} in cluster {v3.cluster_id}."
        error = {"error_code": 404, "message": text}
    assert v3.ask(method, path.format(topic=untouched), body) == (status, error)


def test_null_is_no_value(v3: Any, untouched: str) -> None:
    status, error = v3.ask("PUT", f"topics/{untouched}/configs/retention.ms", {"value": None})
    assert (status, error["error_code"]) == (400, 40002)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"name": "retention.ms", "value": "1", "operation": "set"}, 400),
        ({"name": "retention.ms", "value": "1", "operation": "APPEND"}, 400),
        ({"value": "1"}, 400),
        ({"name": "retention.ms", "value": "1", "colour": 1}, 422),
    ],
)
def test_changes_of_another_shape(v3: Any, untouched: str, change: Any, status: int) -> None:
    answer = v3.ask("POST", f"topics/{untouched}/configs:alter", {"data": [change]})
    assert (answer[0], answer[1]["error_code"]) == (status, status)


def test_a_brokers_configuration(v3: Any) -> None:
    path = "brokers/1/configs"
    listed = v3.get(path)
    names = [config["name"] for config in listed["data"]]
    assert (listed["kind"], len(names) > 250, names == sorted(names)) == ("KafkaBrokerConfigList", True, True)
    assert v3.get(f"{path}/message.max.bytes") == {
        "kind": "KafkaBrokerConfig",
        "metadata": v3.metadata(f"{path}/message.max.bytes", "broker=1/config=message.max.bytes"),
        "cluster_id": v3.cluster_id,
        "broker_id": 1,
        "name": "message.max.bytes",
        "value": "1048588",
        "is_default": True,
        "is_read_only": False,
        "is_sensitive": False,
        "source": "DEFAULT_CONFIG",
        "synonyms": [{"name": "message.max.bytes", "value": "1048588", "source": "DEFAULT_CONFIG"}],
    }
    assert v3.get("brokers/-/configs")["data"] == listed["data"]
    read_only = v3.ask("PUT", f"{path}/log.dirs", {"value": "/nowhere"})
    assert (read_only[0], read_only[1]["error_code"]) == (400, 40002)


@pytest.fixture
def cluster_config(v3: Any) -> Iterator[str]:
    """A property that is at its default before and after the test."""
    yield CLUSTER_CONFIG
    for path in ("broker-configs", "brokers/1/configs"):
        v3.ask("POST", f"{path}:alter", {"data": [{"name": CLUSTER_CONFIG, "operation": "DELETE"}]})


def test_a_property_of_the_cluster_and_of_a_broker(v3: Any, cluster_config: str) -> None:
    path, of_broker = f"broker-configs/{cluster_config}", f"brokers/1/configs/{cluster_config}"
    assert v3.ask("GET", path) == (404, NOT_FOUND)
    for dry in ("broker-configs", "brokers/1/configs"):
        body = {"data": [{"name": cluster_config, "value": "2"}], "validate_only": True}
        assert v3.ask("POST", f"{dry}:alter", body) == (204, None)
    assert v3.get(of_broker)["source"] == "DEFAULT_CONFIG"
    assert v3.ask("PUT", path, {"value": "2"}) == (204, None)
    expected = {
        "kind": "KafkaClusterConfig",
        "metadata": v3.metadata(path, f"broker-config={cluster_config}"),
        "cluster_id": v3.cluster_id,
        "config_type": "BROKER",
        "name": cluster_config,
        "value": "2",
        "is_default": False,
        "is_read_only": False,
        "is_sensitive": False,
        "source": "DYNAMIC_DEFAULT_BROKER_CONFIG",
        "synonyms": [{"name": cluster_config, "value": "2", "source": "DYNAMIC_DEFAULT_BROKER_CONFIG"}],
    }
    until(lambda: v3.ask("GET", path) == (200, expected))
    assert expected in v3.get("broker-configs")["data"]
    assert v3.ask("PUT", of_broker, {"value": "3"}) == (204, None)
    until(
        lambda: (
            [synonym["source"] for synonym in v3.get(of_broker)["synonyms"]]
            == ["DYNAMIC_BROKER_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG", "DEFAULT_CONFIG"]
        )
    )
    assert v3.ask("DELETE", of_broker) == (204, None)
    assert v3.ask("DELETE", path) == (204, None)
    until(lambda: v3.ask("DELETE", path)[0] == 404)


def test_configurations_of_all_topics(v3: Any, admin: AdminClient) -> None:
    topic = make_topic(admin, **{"retention.ms": "777"})
    listed = v3.get("topics/-/configs")
    assert listed["metadata"] == {"self": f"{v3.url}/topics/-/configs", "next": None}
    places = [(config["topic_name"], config["name"]) for config in listed["data"]]
    assert places == sorted(places)
    by_place = dict(zip(places, listed["data"], strict=True))
    assert by_place[topic, "retention.ms"]["value"] == "777"


def test_several_topics(v3: Any, admin: AdminClient) -> None:
    good, bad = make_topic(admin), make_topic(admin)
    path = "topics/-/configs:alter"

    def changes(topic: str, value: str, name: str = "retention.ms") -> dict[str, Any]:
        return {"topic_name": topic, "configs": [{"name": name, "value": value}]}

    def retention(topic: str) -> str:
        return str(v3.get(f"topics/{topic}/configs/retention.ms")["value"])

    both = {"data": [changes(good, "11"), changes(bad, "12")]}
    assert v3.ask("POST", path, {**both, "validate_only": True}) == (204, None)
    assert (retention(good), retention(bad)) == ("604800000", "604800000")
    assert v3.ask("POST", path, both) == (204, None)
    until(lambda: (retention(good), retention(bad)) == ("11", "12"))
    assert v3.ask("POST", path, {"data": [changes(good, "21"), changes(bad, "x")]}) == (
        207,
        {"failures": [{"topic_name": bad, **BAD_VALUE}]},
    )
    until(lambda: (retention(good), retention(bad)) == ("21", "12"))
    unknown_name = f"Config colour cannot be found for TOPIC {bad} in cluster {v3.cluster_id}."
    for refused, status, error in (
        (changes(bad, "red", "colour"), 404, {"error_code": 404, "message": unknown_name}),
        (changes(unique("topic"), "1"), 404, UNKNOWN_TOPIC),
        (
            changes(good, "1"),
            400,
            {"error_code": 40002, "message": f"data: the topic {good} is given more than once"},
        ),
    ):
        assert v3.ask("POST", path, {"data": [changes(good, "31"), refused]}) == (status, error)
    assert retention(good) == "21"
    assert v3.ask("POST", path, {"data": []}) == (204, None)
