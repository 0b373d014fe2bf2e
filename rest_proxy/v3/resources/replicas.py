"""Replicas of partitions, by partition and by broker, as the cluster's metadata shows them."""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from magicbyte.http.errors import NOT_FOUND
from rest_proxy.admin import topics
from rest_proxy.admin.topics import Partition, Topic
from rest_proxy.errors import NOT_FOUND as NOT_FOUND_BECAUSE
from rest_proxy.v3.call import Call
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation
from rest_proxy.v3.resources.partitions import partition_of


async def list_all(call: Call) -> Response:
    """A partition's replicas in the order of assignment."""
    name, number = call.segment("topic"), call.integer("partition")
    text = f"Partition {number} of topic {name} could not be found on cluster {call.cluster_id}."
    topic, partition = await partition_of(call, partial(NOT_FOUND_BECAUSE, detail=text))
    url = call.links.url("topics", topic.name, "partitions", partition.number, "replicas")
    items = [_item(call, topic, partition, broker) for broker in partition.replicas]
    return answer(collection("KafkaReplica", url, items))


async def get(call: Call) -> Response:
    """One replica of a partition."""
    broker = call.integer("broker")
    topic, partition = await partition_of(call)
    if broker not in partition.replicas:
        raise NOT_FOUND()
    return answer(_item(call, topic, partition, broker))


async def list_of_broker(call: Call) -> Response:
    """The replicas on a broker, by topic and partition, of the topics that the sender may describe."""
    admin, broker = await call.admin(), call.integer("broker")
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
