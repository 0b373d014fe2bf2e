"""Partition reassignments in progress."""

from __future__ import annotations

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from rest_proxy.admin import reassignments, topics
from rest_proxy.admin.client import PartitionId
from rest_proxy.admin.reassignments import Reassignment
from rest_proxy.errors import UNKNOWN_TOPIC_OR_PARTITION
from rest_proxy.v3 import models
from rest_proxy.v3.call import Admin, Call, ClusterCall
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation
from rest_proxy.v3.parameters.paths import PartitionPlace, TopicName


async def list_all(call: ClusterCall) -> Json[models.KafkaReassignmentList]:
    """All reassignments of the cluster."""
    url = call.links.url("topics", "-", "partitions", "-", "reassignment")
    moving = await reassignments.reassignments(await call.admin(), None)
    return answer(collection("KafkaReassignment", url, [_item(call, reassignment) for reassignment in moving]))


async def list_of_topic(call: ClusterCall, *, admin: Admin, topic: TopicName) -> Json[models.KafkaReassignmentList]:
    """The reassignments of a topic; none if there is no such topic."""
    try:
        partitions = (await topics.topic(admin, topic)).partitions
    except ApiError as error:
        if error.kind is not UNKNOWN_TOPIC_OR_PARTITION:
            raise
        partitions = ()
    moving = await reassignments.reassignments(
        admin, [PartitionId(topic, partition.number) for partition in partitions]
    )
    url = call.links.url("topics", topic, "partitions", "-", "reassignment")
    return answer(collection("KafkaReassignment", url, [_item(call, reassignment) for reassignment in moving]))


async def get(call: ClusterCall, *, place: PartitionPlace) -> Json[models.KafkaReassignment]:
    """The reassignment of a partition that is in progress."""
    moving = await reassignments.reassignments(await call.admin(), [place])
    if not moving:
        raise NOT_FOUND()
    return answer(_item(call, moving[0]))


def _item(call: Call, reassignment: Reassignment) -> Item:
    links, (topic, number) = call.links, reassignment.place
    url = links.url("topics", topic, "partitions", number)
    fields = {
        "cluster_id": call.cluster_id,
        "topic_name": topic,
        "partition_id": number,
        "adding_replicas": reassignment.adding,
        "removing_replicas": reassignment.removing,
        "replicas": relation(f"{url}/replicas"),
    }
    crn = links.crn(("topic", topic), ("partition", number), "reassignment")
    return item("KafkaReassignment", f"{url}/reassignment", crn, fields)
