"""Groups of the new protocol, alone and beside classic ones, mixed groups, and share groups."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, ShareConsumer
from confluent_kafka.admin import AdminClient

from magicbyte.testing import temporary_broker
from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.admin.lazy_client import LazyAdminClient
from tests.rest.conftest import Rest, make_topic, unique
from tests.rest.v3.conftest import V3


@pytest.fixture(scope="module")
def modern() -> Iterator[tuple[V3, str]]:
    """A proxy before a broker that has finalized the new group protocols."""
    with temporary_broker() as broker:
        for feature in ("group.version", "share.version"):
            asyncio.run(finalize(broker.bootstrap_servers, feature))
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


@pytest.fixture
def join(modern: tuple[V3, str]) -> Iterator[Callable[..., Consumer]]:
    """Makes a consumer join a group, and closes it after the test."""
    consumers: list[Consumer] = []

    def joined(topic: str, group: str, protocol: str, **config: str) -> Consumer:
        consumer = Consumer(
            {"bootstrap.servers": modern[1], "group.id": group, "group.protocol": protocol}
            | {"auto.offset.reset": "earliest"}
            | {name.replace("_", "."): value for name, value in config.items()}
        )
        consumers.append(consumer)
        consumer.subscribe([topic])
        while not consumer.assignment():
            for member in consumers:
                member.poll(0.1)
        return consumer

    yield joined
    for consumer in consumers:
        consumer.close()


def test_groups_of_both_protocols_beside_each_other(modern: tuple[V3, str], join: Callable[..., Consumer]) -> None:
    v3, bootstrap_servers = modern
    topic = make_topic(AdminClient({"bootstrap.servers": bootstrap_servers}))
    names = {protocol: unique(protocol) for protocol in ("classic", "consumer")}
    for protocol, group in names.items():
        join(topic, group, protocol)
    listed = {group["consumer_group_id"]: group for group in v3.get("consumer-groups")["data"]}
    for protocol, group in names.items():
        shown = v3.get(f"consumer-groups/{group}")
        assert shown == listed[group]
        assert (shown["type"], shown["state"]) == (protocol.upper(), "STABLE")
        (member,) = v3.get(f"consumer-groups/{group}/consumers")["data"]
        path = member["assignments"]["related"]
        (assignment,) = v3.client.get(path).json()["data"]
        assert (assignment["topic_name"], assignment["partition_id"]) == (topic, 0)
        body = {"data": [{"topic_name": topic, "to": "latest"}]}
        assert v3.ask("POST", f"consumer-groups/{group}/offsets:alter", body)[0] == 409
        assert v3.ask("DELETE", f"consumer-groups/{group}")[0] == 409


def test_a_group_with_members_of_both_protocols(modern: tuple[V3, str], join: Callable[..., Consumer]) -> None:
    v3, bootstrap_servers = modern
    topic = make_topic(AdminClient({"bootstrap.servers": bootstrap_servers}), partitions=2)
    group = unique("mixed")
    classic = join(topic, group, "classic", client_id="of the old", partition_assignment_strategy="range")
    assert v3.get(f"consumer-groups/{group}")["is_mixed_consumer_group"] is False
    # The group is upgraded when a member of the new protocol joins it.
    new = join(topic, group, "consumer", client_id="of the new")
    shown = v3.get(f"consumer-groups/{group}")
    assert (shown["type"], shown["is_mixed_consumer_group"]) == ("CONSUMER", True)
    members = {item["client_id"]: item["consumer_id"] for item in v3.get(f"consumer-groups/{group}/consumers")["data"]}
    assert members == {"of the old": classic.memberid(), "of the new": new.memberid()}


async def groups_of(bootstrap_servers: str) -> list[tuple[str, str]]:
    """All groups with their types, as the broker lists them."""
    lazy = LazyAdminClient({"bootstrap.servers": bootstrap_servers})
    response: Any = await (await lazy()).ask("list_groups", {})
    await lazy.close()
    return [(group.group_id, group.group_type) for group in response.groups]


def test_share_groups_are_not_consumer_groups(modern: tuple[V3, str]) -> None:
    v3, bootstrap_servers = modern
    topic, group = make_topic(AdminClient({"bootstrap.servers": bootstrap_servers})), unique("share")
    consumer = ShareConsumer({"bootstrap.servers": bootstrap_servers, "group.id": group})
    consumer.subscribe([topic])
    while (group, "share") not in asyncio.run(groups_of(bootstrap_servers)):
        consumer.poll(0.1)
    assert group not in {item["consumer_group_id"] for item in v3.get("consumer-groups")["data"]}
    assert v3.ask("GET", f"consumer-groups/{group}")[0] == 404
    consumer.close()
