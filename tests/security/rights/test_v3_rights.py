"""The rules of v3 on a real proxy and broker: what lists leave out, and what bodies name."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.http.routing.access import Resource
from magicbyte.testing import running_rest_proxy
from rest_proxy.v3.rows import V3_ROWS
from tests.security.rights.rule_servers import properties_in
from tests.topics import create_topics

PREFIX = f"v3-{uuid.uuid4()}-"
OPEN, SEALED, GROUP, SEALED_GROUP = (f"{PREFIX}{name}" for name in ("open", "sealed", "group", "sealed-group"))
RULES = f"""
allow User:reader DESCRIBE TOPIC LITERAL {OPEN}
allow User:reader DESCRIBE_CONFIGS TOPIC LITERAL {OPEN}
allow User:reader DESCRIBE GROUP LITERAL {GROUP}
allow User:reader READ GROUP LITERAL {GROUP}
allow User:reader READ TOPIC LITERAL {OPEN}
allow User:maker CREATE TOPIC PREFIXED {PREFIX}
allow User:any-maker CREATE CLUSTER LITERAL kafka-cluster
allow User:changer ALTER_CONFIGS TOPIC LITERAL {OPEN}
"""
PEOPLE = ("admin", "reader", "maker", "any-maker", "changer", "nobody")

Ask = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def ask(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    folder = tmp_path_factory.mktemp("v3-rights")
    properties = properties_in(folder, people=PEOPLE, rules=RULES)
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, *[NewTopic(name, 1) for name in (OPEN, SEALED)])
    with (
        running_rest_proxy(kafka, "", properties=properties) as proxy,
        httpx.Client(base_url=proxy.url, timeout=30) as client,
    ):
        answer = client.get("/v3/clusters", auth=("admin", "mbs_admin")).json()
        cluster = f"/v3/clusters/{answer['data'][0]['cluster_id']}"

        def ask(who: str, method: str, path: str, body: Any = None) -> httpx.Response:
            return client.request(method, f"{cluster}/{path}", json=body, auth=(who, f"mbs_{who}"))

        for group in (GROUP, SEALED_GROUP):
            body = {"data": [{"topic_name": name, "to": "latest"} for name in (OPEN, SEALED)]}
            made = ask("admin", "POST", f"consumer-groups/{group}/offsets:alter", body)
            assert made.status_code == 200, made.text
        yield ask


@pytest.mark.parametrize(
    "row", [row for row in V3_ROWS if row.access.resource is not Resource.SERVER], ids=lambda row: row.operation_id
)
def test_every_row_asks_for_its_right(ask: Ask, row: Any) -> None:
    names = {"topic": SEALED, "group": SEALED_GROUP, "consumer": "x", "config": "x", "broker": "1", "partition": "0"}
    path = row.path.removeprefix("/v3/clusters/{cluster}").format(cluster="", **names).strip("/")
    if row.path == "/v3/clusters":
        path = ".."
    bodies = {
        "createKafkaTopic": {"topic_name": SEALED},
        "updateKafkaTopicConfigMultiBatch": {"data": [{"topic_name": SEALED, "configs": []}]},
    }
    answer = ask("nobody", row.method, path, bodies.get(row.operation_id))
    if row.access.filters:
        assert (answer.status_code, answer.json()["data"]) == (200, [])
    else:
        assert (answer.status_code, answer.json()["error_code"]) == (403, 40301)


def listed(answer: httpx.Response, member: str) -> set[str]:
    assert answer.status_code == 200, answer.text
    return {item[member] for item in answer.json()["data"]}


def test_lists_omit_invisible_resources(ask: Ask) -> None:
    assert listed(ask("reader", "GET", "topics"), "topic_name") == {OPEN}
    assert listed(ask("reader", "GET", "topics/-/configs"), "topic_name") == {OPEN}
    assert listed(ask("reader", "GET", "brokers/1/partition-replicas"), "topic_name") == {OPEN}
    assert listed(ask("reader", "GET", "consumer-groups"), "consumer_group_id") == {GROUP}
    assert listed(ask("reader", "GET", f"consumer-groups/{GROUP}/lags"), "topic_name") == {OPEN}
    summary = ask("reader", "GET", f"consumer-groups/{GROUP}/lag-summary").json()
    assert summary["max_lag_topic_name"] == OPEN
    assert listed(ask("admin", "GET", f"consumer-groups/{GROUP}/lags"), "topic_name") == {OPEN, SEALED}


def test_the_id_of_the_cluster_is_no_secret(ask: Ask) -> None:
    """Every path of v3 has it, and Kafka tells it to every client."""
    (item,) = ask("nobody", "GET", "..").json()["data"]
    assert item == ask("admin", "GET", "..").json()["data"][0]
    assert ask("nobody", "GET", "").status_code == 403


def test_authorized_operations_are_those_of_the_sender(ask: Ask) -> None:
    query = "include_authorized_operations=true"
    for who, expected in (
        ("reader", ["DESCRIBE", "DESCRIBE_CONFIGS", "READ"]),
        ("changer", None),
        ("admin", ["ALTER", "ALTER_CONFIGS", "CREATE", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "READ", "WRITE"]),
    ):
        listed = {item["topic_name"]: item for item in ask(who, "GET", f"topics?{query}").json()["data"]}
        assert (listed[OPEN]["authorized_operations"] if OPEN in listed else None) == expected
    assert ask("reader", "GET", f"topics/{OPEN}?{query}").json()["authorized_operations"] == [
        "DESCRIBE",
        "DESCRIBE_CONFIGS",
        "READ",
    ]
    assert ask("reader", "GET", f"consumer-groups/{GROUP}?{query}").json()["authorized_operations"] == [
        "DESCRIBE",
        "READ",
    ]


def test_lags_by_topic_omit_invisible_topics(ask: Ask) -> None:
    for who, topics in (("reader", [OPEN]), ("admin", [OPEN, SEALED])):
        groups = {
            group["consumer_group_id"]: group
            for group in ask(who, "GET", "consumer-groups?include_lags=true").json()["data"]
        }
        assert [lag["topic_name"] for lag in groups[GROUP]["lags"]] == topics
        assert (SEALED_GROUP in groups) == (who == "admin")


def test_names_in_bodies_need_their_rights(ask: Ask) -> None:
    for who, name, status in (
        ("maker", f"{PREFIX}made", 200),
        ("maker", f"x-{PREFIX}", 403),
        ("any-maker", f"x-{PREFIX}", 200),
        ("reader", f"{PREFIX}made", 403),
    ):
        assert ask(who, "POST", "topics", {"topic_name": name, "validate_only": True}).status_code == status
    change = {"configs": [{"name": "retention.ms", "value": "1"}]}
    for topics, status in (([OPEN], 204), ([OPEN, SEALED], 403)):
        body = {"data": [{"topic_name": topic, **change} for topic in topics], "validate_only": True}
        assert ask("changer", "POST", "topics/-/configs:alter", body).status_code == status
    for topic, status in ((OPEN, 200), (SEALED, 403)):
        body = {"data": [{"topic_name": topic, "to": "latest"}], "validate_only": True}
        assert ask("reader", "POST", f"consumer-groups/{GROUP}/offsets:alter", body).status_code == status
