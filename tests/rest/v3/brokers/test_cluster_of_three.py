"""Replicas, reassignments, coordinators, and brokers that are down, on a cluster of three brokers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.admin.lazy_client import LazyAdminClient
from tests.rest.conftest import Rest, unique
from tests.rest.v3.brokers.kafka_cluster import KafkaCluster, kafka_cluster
from tests.rest.v3.conftest import V3
from tests.waiting import until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def brokers() -> Iterator[KafkaCluster]:
    with kafka_cluster() as brokers:
        yield brokers


@pytest.fixture(scope="module")
def three(brokers: KafkaCluster, registry_url: str) -> Iterator[V3]:
    with (
        running_rest_proxy(brokers.bootstrap_servers, registry_url) as proxy,
        Rest(base_url=proxy.url, timeout=60) as client,
    ):
        until(lambda: client.get("/v3/clusters").status_code == 200)
        v3 = V3(client)
        until(lambda: len(v3.get("brokers")["data"]) == 3)
        yield v3


def make(v3: V3, **assignments: list[int]) -> str:
    name = unique("topic")
    replicas = {number.removeprefix("p"): nodes for number, nodes in assignments.items()}
    status, topic = v3.ask("POST", "topics", {"topic_name": name, "replicas_assignments": replicas})
    assert (status, topic.get("replication_factor")) == (201, len(replicas["0"])), topic
    return name


def test_brokers_and_their_racks(three: V3, brokers: KafkaCluster) -> None:
    shown = [(item["broker_id"], item["port"], item["rack"]) for item in three.get("brokers")["data"]]
    assert shown == [(node, port, f"rack-{node}") for node, port in brokers.ports.items()]
    assert len(three.get("brokers/-/configs")["data"]) > 750


def test_replicas_in_the_order_of_assignment(three: V3) -> None:
    topic = make(three, p0=[3, 1, 2], p1=[2, 3, 1])
    path = f"topics/{topic}/partitions/0/replicas"
    until(lambda: all(item["is_in_sync"] for item in three.get(path)["data"]))
    shown = [(item["broker_id"], item["is_leader"]) for item in three.get(path)["data"]]
    assert shown == [(3, True), (1, False), (2, False)]
    for node in (1, 2, 3):
        of_broker = three.get(f"brokers/{node}/partition-replicas")["data"]
        places = [(item["partition_id"], item["is_leader"]) for item in of_broker if item["topic_name"] == topic]
        assert places == [(0, node == 3), (1, node == 2)]


def test_partitions_without_a_leader_and_a_broker_that_comes_back(three: V3, brokers: KafkaCluster) -> None:
    topic, other = make(three, p0=[3]), make(three, p0=[2])
    group = unique("group")
    body = {"data": [{"topic_name": name, "to": "latest"} for name in (topic, other)]}
    assert three.ask("POST", f"consumer-groups/{group}/offsets:alter", body)[0] == 200
    brokers.kill(3)
    path = f"topics/{topic}/partitions/0"
    until(lambda: three.get(path)["leader"] is None)
    assert [item["is_in_sync"] for item in three.get(f"{path}/replicas")["data"]] in ([True], [False])
    status, error = three.ask("GET", f"{path}/offset")
    assert (status, error["error_code"]) == (500, 50003)
    # The broker that coordinates the group from now on may not have read its offsets yet.
    until(lambda: three.ask("GET", f"consumer-groups/{group}/lags")[0] == 200)
    lags = {lag["topic_name"]: lag["lag"] for lag in three.get(f"consumer-groups/{group}/lags")["data"]}
    assert lags == {topic: None, other: 0}
    assert three.get(f"consumer-groups/{group}/lag-summary")["total_lag"] == 0
    assert three.ask("GET", "brokers/3/configs") == (404, {"error_code": 404, "message": "Broker 3 cannot be found."})
    brokers.restart(3)
    until(lambda: three.ask("GET", f"{path}/offset")[0] == 200)
    until(lambda: len(three.get("brokers")["data"]) == 3)
    assert three.get("brokers/3/configs/broker.id")["value"] == "3"


def test_health_of_a_cluster_with_a_broker_that_is_gone(three: V3, brokers: KafkaCluster) -> None:
    alone, both = make(three, p0=[3]), make(three, p0=[3, 2])
    minimum = {"data": [{"name": "min.insync.replicas", "value": "2"}]}
    assert three.ask("POST", f"topics/{both}/configs:alter", minimum) == (204, None)
    until(lambda: all(item["is_in_sync"] for item in three.get(f"topics/{both}/partitions/0/replicas")["data"]))
    until(lambda: three.get("health")["under_replicated_count"] == 0)
    before = three.get("health")
    assert (before["controller_id"], before["offline_count"], before["partitions"]) == (1, 0, [])
    assert [(broker["broker_id"], broker["is_online"], broker["rack"]) for broker in before["brokers"]] == [
        (node, True, f"rack-{node}") for node in (1, 2, 3)
    ]
    brokers.kill(3)
    try:

        def troubled() -> dict[str, Any]:
            return {row["topic_name"]: row for row in three.get("health")["partitions"]}

        until(lambda: {alone, both} <= set(troubled()))
        until(lambda: troubled()[both]["leader_id"] == 2 and troubled()[alone]["is_offline"])
        health = three.get("health")
        assert health["hidden_count"] == 0
        assert health["offline_count"] == sum(row["is_offline"] for row in health["partitions"]) >= 1
        row = troubled()[both]
        assert (row["replica_ids"], row["in_sync_ids"], row["min_in_sync_replicas"]) == ([3, 2], [2], 2)
        assert (row["is_offline"], row["is_under_replicated"], row["is_under_min_in_sync"]) == (False, True, True)
        assert health["led_by_another_count"] >= 1
        gone = next(broker for broker in health["brokers"] if broker["broker_id"] == 3)
        assert (gone["is_online"], gone["host"], gone["log_dirs"], gone["leaders_count"]) == (False, None, None, 0)
        assert gone["out_of_sync_count"] >= 1
        assert gone["preferred_leaders_count"] > gone["preferred_leaders_led_count"] == 0
    finally:
        brokers.restart(3)
        until(lambda: len(three.get("brokers")["data"]) == 3)


def requests_under_way(v3: V3) -> int:
    """The number of requests that the proxy serves, besides this one."""
    name = 'magicbyte_http_requests_in_progress{app="rest"} '
    lines = v3.client.get("/metrics").text.splitlines()
    return next(int(float(line.removeprefix(name))) for line in lines if line.startswith(name)) - 1


@pytest.mark.parametrize("path", ["partitions/0/records?offset=0", "records?offset=earliest"])
def test_a_leader_that_moves_while_a_read_waits(three: V3, brokers: KafkaCluster, path: str) -> None:
    topic = make(three, p0=[2, 3])
    partition = f"topics/{topic}/partitions/0"
    until(lambda: all(item["is_in_sync"] for item in three.get(f"{partition}/replicas")["data"]))
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(three.get, f"topics/{topic}/{path}&max_wait_ms=50000")
        until(lambda: requests_under_way(three) == 1)
        brokers.kill(2)
        try:
            until(lambda: three.get(partition)["leader"] == three.relation(f"{partition}/replicas/3"))
            report = three.answer("POST", f"topics/{topic}/records", {"value": {"type": "STRING", "data": "x"}}).json()
            assert (report["error_code"], report["offset"]) == (200, 0)
            assert [record["value"]["data"] for record in reading.result(60)["data"]] == ["x"]
        finally:
            brokers.restart(2)
            until(lambda: len(three.get("brokers")["data"]) == 3)


def test_a_read_of_a_partition_without_a_leader(three: V3, brokers: KafkaCluster) -> None:
    topic = make(three, p0=[3], p1=[2])
    brokers.kill(3)
    try:
        until(lambda: three.get(f"topics/{topic}/partitions/0")["leader"] is None)
        path = f"topics/{topic}/partitions"
        assert [item["leader"] is None for item in three.get(path)["data"]] == [True, False]
        status, error = three.ask("GET", f"{path}/0/records")
        assert (status, error["error_code"]) == (500, 50003)
        assert three.get(f"{path}/1/records")["data"] == [], "the other partition is read"
    finally:
        brokers.restart(3)
        until(lambda: len(three.get("brokers")["data"]) == 3)


def test_a_reassignment_that_is_under_way(three: V3, brokers: KafkaCluster) -> None:
    topic = make(three, p0=[1])
    three.client.produce(topic, [{"value": "x"}])  # type: ignore[attr-defined]
    # A reassignment to a broker that is gone does not end. The throttles of brokers take effect some time after they
    # are set, so a throttled one may have ended.
    brokers.kill(3)
    asyncio.run(reassign(brokers, topic, [2, 3]))
    path = f"topics/{topic}/partitions/0/reassignment"
    expected = {
        "kind": "KafkaReassignment",
        "metadata": three.metadata(path, f"topic={topic}/partition=0/reassignment"),
        "cluster_id": three.cluster_id,
        "topic_name": topic,
        "partition_id": 0,
        "adding_replicas": [2, 3],
        "removing_replicas": [1],
        "replicas": three.relation(f"topics/{topic}/partitions/0/replicas"),
    }
    until(lambda: three.ask("GET", path) == (200, expected))
    for listed in (f"topics/{topic}/partitions/-/reassignment", "topics/-/partitions/-/reassignment"):
        assert three.get(listed) == {
            "kind": "KafkaReassignmentList",
            "metadata": {"self": f"{three.url}/{listed}", "next": None},
            "data": [expected],
        }
    brokers.restart(3)
    until(lambda: three.ask("GET", path)[0] == 404)
    until(lambda: [item["broker_id"] for item in three.get(f"topics/{topic}/partitions/0/replicas")["data"]] == [2, 3])
    until(lambda: len(three.get("brokers")["data"]) == 3)


async def reassign(brokers: KafkaCluster, topic: str, replicas: list[int]) -> None:
    lazy = LazyAdminClient({"bootstrap.servers": brokers.bootstrap_servers})
    admin = await lazy()
    partitions = [{"partition_index": 0, "replicas": replicas}]
    values = {"timeout": admin.broker_timeout, "topics": [{"name": topic, "partitions": partitions}]}
    response: Any = await admin.ask_controller("alter_partition_reassignments", values)
    assert response.error_code == 0
    await lazy.close()
