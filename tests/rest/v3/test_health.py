"""The health of a cluster of one broker; tests/rest/v3/brokers has one of three, with a broker that is gone."""

from __future__ import annotations

from typing import Any

from confluent_kafka.admin import AdminClient

from tests.rest.conftest import make_topic


def test_health_of_one_broker(v3: Any, rest: Any, admin: AdminClient) -> None:
    topic = make_topic(admin, partitions=2)
    rest.produce(topic, [{"value": "x" * 1000, "partition": 0}])
    health = v3.get("health")
    (broker,) = health.pop("brokers")
    counts = {name: health.pop(name) for name in ("topics_count", "partitions_count")}
    assert health == {
        "kind": "KafkaClusterHealth",
        "metadata": v3.metadata("health", "health"),
        "cluster_id": v3.cluster_id,
        "controller_id": 1,
        "offline_count": 0,
        "under_replicated_count": 0,
        "under_min_in_sync_count": 0,
        "led_by_another_count": 0,
        "partitions": [],
        "not_listed_count": 0,
        "hidden_count": 0,
    }
    assert counts["partitions_count"] > counts["topics_count"] >= 1
    (directory,) = broker.pop("log_dirs")
    shown = v3.get("brokers/1")
    assert broker == {
        "broker_id": 1,
        "is_online": True,
        "host": shown["host"],
        "port": shown["port"],
        "rack": None,
        "replicas_count": counts["partitions_count"],
        "out_of_sync_count": 0,
        "leaders_count": counts["partitions_count"],
        "preferred_leaders_count": counts["partitions_count"],
        "preferred_leaders_led_count": counts["partitions_count"],
    }
    assert directory["error"] is None
    assert directory["partitions_bytes"] > 1000
    assert 0 < directory["usable_bytes"] <= directory["total_bytes"]


def test_a_topic_that_asks_for_more_replicas_in_sync_than_it_has(v3: Any, admin: AdminClient) -> None:
    topic = make_topic(admin, **{"min.insync.replicas": "2"})
    health = v3.get("health")
    assert (health["under_min_in_sync_count"], health["under_replicated_count"]) == (1, 0)
    assert health["partitions"] == [
        {
            "topic_name": topic,
            "partition_id": 0,
            "leader_id": 1,
            "replica_ids": [1],
            "in_sync_ids": [1],
            "min_in_sync_replicas": 2,
            "is_offline": False,
            "is_under_replicated": False,
            "is_under_min_in_sync": True,
        }
    ]
    assert v3.ask("DELETE", f"topics/{topic}") == (204, None)
