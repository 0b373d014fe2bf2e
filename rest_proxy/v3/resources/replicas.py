"""Replicas of partitions, by partition and by broker, as the cluster's metadata shows them."""

from __future__ import annotations

from functools import partial

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.response import Json
from rest_proxy.admin import topics
from rest_proxy.admin.client import PartitionId
from rest_proxy.admin.topics import Partition, Topic
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE
from rest_proxy.v3 import models
from rest_proxy.v3.call import Admin, Call, ClusterCall
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation
from rest_proxy.v3.parameters.paths import BrokerId, PartitionNumber, PartitionPlace, TopicName
from rest_proxy.v3.resources.partitions import partition_of


async def list_all(call: ClusterCall, *, place: PartitionPlace) -> Json[models.KafkaReplicaList]:
    """A partition's replicas in the order of assignment."""
    text = f"Partition {place.partition} of topic {place.topic} could not be found on cluster {call.cluster_id}."
    topic, partition = await partition_of(call, place, partial(NOT_FOUND_BECAUSE, detail=text))
    url = call.links.url("topics", topic.name, "partitions", partition.number, "replicas")
    items = [_item(call, topic, partition, broker) for broker in partition.replicas]
    return answer(collection("KafkaReplica", url, items))


async def get(
    call: ClusterCall, *, broker: BrokerId, topic: TopicName, number: PartitionNumber
) -> Json[models.KafkaReplica]:
    """One replica of a partition."""
    described, partition = await partition_of(call, PartitionId(topic, number))
    if broker not in partition.replicas:
        raise NOT_FOUND()
    return answer(_item(call, described, partition, broker))


async def list_of_broker(call: ClusterCall, *, admin: Admin, broker: BrokerId) -> Json[models.KafkaReplicaList]:
    """The replicas on a broker, by topic and partition, of the topics that the sender may describe."""
    if broker not in await admin.nodes():
        raise NOT_FOUND_BECAUSE(detail=f"Broker {broker} cannot be found.")
    items = [
        _item(call, topic, partition, broker)
        for topic in await topics.all_topics(admin)
        if call.visible("DESCRIBE", "TOPIC", topic.name)
        for partition in topic.partitions
        if broker in partition.replicas
    ]
    return answer(collection("KafkaReplica", call.links.url("brokers", broker, "partition-replicas"), items))


def _item(call: Call, topic: Topic, partition: Partition, broker: int) -> Item:
    links = call.links
    crn = links.crn(("topic", topic.name), ("partition", partition.number), ("replica", broker))
    fields = {
        "cluster_id": call.cluster_id,
        "topic_name": topic.name,
        "partition_id": partition.number,
        "broker_id": broker,
        "is_leader": broker == partition.leader,
        "is_in_sync": broker in partition.in_sync,
        "broker": relation(links.url("brokers", broker)),
    }
    url = links.url("topics", topic.name, "partitions", partition.number, "replicas", broker)
    return item("KafkaReplica", url, crn, fields)
