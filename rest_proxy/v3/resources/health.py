"""The health of the cluster in one answer: brokers, partitions that are in trouble, log directories; ours."""

from __future__ import annotations

from magicbyte.http.routing.response import Json
from rest_proxy.admin.health import BrokerHealth, ClusterHealth, LogDirectory, PartitionHealth, cluster_health
from rest_proxy.v3 import models
from rest_proxy.v3.call import Admin, Call, ClusterCall
from rest_proxy.v3.envelopes import Item, answer, item

#: How many partitions in trouble are listed; all are counted.
_MOST_LISTED = 500


async def get(call: ClusterCall, *, admin: Admin) -> Json[models.KafkaClusterHealth]:
    """The health of the cluster: its brokers' shares, and the partitions that are in trouble.

    All partitions are counted. Those of topics that the sender may not describe are not listed.
    """
    health = await cluster_health(admin)
    partitions = health.partitions
    fields = {
        "cluster_id": call.cluster_id,
        "controller_id": health.controller,
        "topics_count": health.topics,
        "partitions_count": len(partitions),
        "offline_count": sum(partition.is_offline for partition in partitions),
        "under_replicated_count": sum(partition.is_under_replicated for partition in partitions),
        "under_min_in_sync_count": sum(partition.is_under_min_in_sync for partition in partitions),
        "led_by_another_count": sum(partition.is_led_by_another for partition in partitions),
        "brokers": [_broker(broker) for broker in health.brokers],
        **_listed(call, health),
    }
    return answer(item("KafkaClusterHealth", call.links.url("health"), call.links.crn("health"), fields))


def _listed(call: Call, health: ClusterHealth) -> Item:
    """The partitions in trouble, the worst first, and how many are not listed."""
    troubled = [
        partition
        for partition in health.partitions
        if partition.is_offline or partition.is_under_replicated or partition.is_under_min_in_sync
    ]
    visible = [partition for partition in troubled if call.visible("DESCRIBE", "TOPIC", partition.topic)]
    visible.sort(key=lambda partition: (not partition.is_offline, not partition.is_under_min_in_sync))
    return {
        "partitions": [_partition(partition) for partition in visible[:_MOST_LISTED]],
        "not_listed_count": len(visible) - len(visible[:_MOST_LISTED]),
        "hidden_count": len(troubled) - len(visible),
    }


def _broker(broker: BrokerHealth) -> Item:
    node = broker.node
    return {
        "broker_id": broker.id,
        "is_online": node is not None,
        "host": None if node is None else node.host or None,
        "port": None if node is None or node.port < 0 else node.port,
        "rack": None if node is None else node.rack,
        "replicas_count": broker.replicas,
        "out_of_sync_count": broker.out_of_sync,
        "leaders_count": broker.leaders,
        "preferred_leaders_count": broker.preferred,
        "preferred_leaders_led_count": broker.preferred_led,
        "log_dirs": None if broker.log_directories is None else [_directory(each) for each in broker.log_directories],
    }


def _directory(directory: LogDirectory) -> Item:
    return {
        "path": directory.path,
        "error": directory.error or None,
        "partitions_bytes": directory.size,
        "total_bytes": directory.total,
        "usable_bytes": directory.usable,
    }


def _partition(health: PartitionHealth) -> Item:
    partition = health.partition
    return {
        "topic_name": health.topic,
        "partition_id": partition.number,
        "leader_id": partition.leader,
        "replica_ids": partition.replicas,
        "in_sync_ids": sorted(partition.in_sync),
        "min_in_sync_replicas": health.min_in_sync,
        "is_offline": health.is_offline,
        "is_under_replicated": health.is_under_replicated,
        "is_under_min_in_sync": health.is_under_min_in_sync,
    }
