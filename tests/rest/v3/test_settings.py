"""Settings of v3: rate limits, versions that are switched off, resource names; and groups of the new protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient

from magicbyte.testing import temporary_broker
from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.admin.lazy_client import LazyAdminClient
from rest_proxy.settings import RestProxySettings
from tests.rest.conftest import Rest, make_topic, unique
from tests.rest.v3.conftest import V3

BASE = {"bootstrap.servers": "localhost:9092"}


def test_rate_limits_and_the_authority(kafka: str) -> None:
    properties = {
        "rate.limit.enable": "true",
        "rate.limit.permits.per.sec": "1",
        "rate.limit.costs": "api.v3.brokers.list=0,api.v3.topics.list=1",
        "confluent.resource.name.authority": "example.com",
    }
    with running_rest_proxy(kafka, "", properties=properties) as proxy, httpx.Client(base_url=proxy.url) as client:
        cluster = client.get("/v3/clusters").json()["data"][0]
        assert cluster["metadata"]["resource_name"] == f"crn://example.com/kafka={cluster['cluster_id']}"
        path = f"/v3/clusters/{cluster['cluster_id']}"
        answers = [client.get(f"{path}/topics") for _ in range(10)]
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert (refused.status_code, refused.json(), refused.headers["retry-after"]) == (
            429,
            {
                "error_code": 429,
                "message": "Request rate limit exceeded: The rate limit of requests per second has been exceeded.",
            },
            "1",
        )
        assert {client.get(f"{path}/brokers").status_code for _ in range(5)} == {200}


@pytest.mark.parametrize(
    ("properties", "served", "gone"),
    [
        ({"api.v3.enable": "false"}, "/topics", "/v3/clusters"),
        ({"api.v2.enable": "false"}, "/v3/clusters", "/topics"),
        ({"api.endpoints.blocklist": "api.v3.clusters.list"}, "/topics", "/v3/clusters"),
    ],
    ids=str,
)
def test_versions_that_are_switched_off(properties: dict[str, str], served: str, gone: str) -> None:
    from rest_proxy.app import create_app  # noqa: PLC0415  what it needs takes long to import

    table = create_app(RestProxySettings.from_properties(BASE | properties)).table
    assert table.find("GET", served.encode()).row.operation_id in ("topics", "listKafkaClusters")
    row = table.find("GET", gone.encode()).row
    assert row.path == "none" or row.handler.__name__ == "refuse"


@pytest.mark.parametrize("costs", ["api.v3.topics.list", "api.v3.topics.list=many"])
def test_costs_that_are_no_numbers(costs: str) -> None:
    with pytest.raises(ValueError, match=r"^rate\.limit\.costs: "):
        RestProxySettings.from_properties(BASE | {"rate.limit.costs": costs})


@pytest.fixture(scope="module")
def modern() -> Iterator[tuple[V3, str]]:
    """A proxy before a broker that has finalized the new group protocol."""
    with temporary_broker() as broker:
        asyncio.run(finalize(broker.bootstrap_servers, "group.version"))
        with (
            running_rest_proxy(broker.bootstrap_servers, "") as proxy,
            Rest(base_url=proxy.url, timeout=30) as client,
        ):
            yield V3(client), broker.bootstrap_servers


async def finalize(bootstrap_servers: str, feature: str) -> None:
    lazy = LazyAdminClient({"bootstrap.servers": bootstrap_servers})
    admin = await lazy()
    updates = [{"feature": feature, "max_version_level": 1, "upgrade_type": 1}]
    values = {"timeout": admin.broker_timeout, "feature_updates": updates, "validate_only": False}
    response: Any = await admin.ask_controller("update_features", values)
    assert response.error_code == 0
    await lazy.close()


def test_a_group_of_the_new_protocol(modern: tuple[V3, str]) -> None:
    v3, bootstrap_servers = modern
    topic, group = make_topic(AdminClient({"bootstrap.servers": bootstrap_servers}), partitions=2), unique("group")
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": group,
            "group.protocol": "consumer",
            "group.instance.id": "one",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    while not consumer.assignment():
        consumer.poll(0.1)
    shown = v3.get(f"consumer-groups/{group}")
    members = {name: shown[name] for name in ("type", "state", "partition_assignor", "is_mixed_consumer_group")}
    assert members == {
        "type": "CONSUMER",
        "state": "STABLE",
        "partition_assignor": "uniform",
        "is_mixed_consumer_group": False,
    }
    assert shown in v3.get("consumer-groups")["data"]
    (member,) = v3.get(f"consumer-groups/{group}/consumers")["data"]
    assert (member["consumer_id"], member["instance_id"]) == (consumer.memberid(), "one")
    assignments = v3.client.get(member["assignments"]["related"]).json()["data"]
    assert [(item["topic_name"], item["partition_id"]) for item in assignments] == [(topic, 0), (topic, 1)]
    consumer.close()
