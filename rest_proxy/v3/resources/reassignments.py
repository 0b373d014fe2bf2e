"""Partition reassignments in progress."""

from __future__ import annotations

from starlette.responses import Response

from magicbyte.http.errors import NOT_FOUND
from magicbyte.kit.errors import ApiError
from rest_proxy.admin import reassignments, topics
from rest_proxy.admin.client import Place
from rest_proxy.admin.reassignments import Reassignment
from rest_proxy.errors import UNKNOWN_TOPIC_OR_PARTITION
from rest_proxy.v3.call import Call
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation


async def list_all(call: Call) -> Response:
    """All reassignments of the cluster."""
    url = call.links.url("topics", "-", "partitions", "-", "reassignment")
    moving = await reassignments.reassignments(await call.admin(), None)
    return answer(collection("KafkaReassignment", url, [_item(call, reassignment) for reassignment in moving]))


async def list_of_topic(call: Call) -> Response:
    """The reassignments of a topic; none if there is no such topic."""
    admin, name = await call.admin(), call.segment("topic")
    try:
        partitions = (await topics.topic(admin, name)).partitions
    except ApiError as error:
        if error.kind is not UNKNOWN_TOPIC_OR_PARTITION:
            raise
        partitions = ()
    moving = await reassignments.reassignments(admin, [Place(name, partition.number) for partition in partitions])
    url = call.links.url("topics", name, "partitions", "-", "reassignment")
    return answer(collection("KafkaReassignment", url, [_item(call, reassignment) for reassignment in moving]))


async def get(call: Call) -> Response:
    """The reassignment of a partition."""
    place = Place(call.segment("topic"), call.integer("partition"))
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
