"""Partitions of topics, and their offsets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.responses import Response

from magicbyte.http.errors import NOT_FOUND
from magicbyte.kit.errors import ApiError
from rest_proxy.admin import offsets, topics
from rest_proxy.admin.client import Place
from rest_proxy.admin.offsets import OffsetAt
from rest_proxy.admin.topics import Partition, Topic
from rest_proxy.errors import BAD_REQUEST, PARTITION_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION
from rest_proxy.exchange.parameters import milliseconds_of
from rest_proxy.v3.call import Call
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation

_BOTH = "earliest_and_latest"
#: Types of offsets that the reference lacks, requested one by one.
_SPECIAL = {
    "earliest": offsets.EARLIEST,
    "latest": offsets.LATEST,
    "max_timestamp": offsets.MAX_TIMESTAMP,
    "earliest_local": offsets.EARLIEST_LOCAL,
    "latest_tiered": offsets.LATEST_TIERED,
}
_ISOLATION = {"read_uncommitted": False, "read_committed": True}


async def list_all(call: Call) -> Response:
    """A topic's partitions by number."""
    topic = await topics.topic(await call.admin(), call.segment("topic"))
    url = call.links.url("topics", topic.name, "partitions")
    items = [_item(call, topic, partition) for partition in topic.partitions]
    return answer(collection("KafkaPartition", url, items))


async def get(call: Call) -> Response:
    """One partition."""
    topic, partition = await partition_of(call)
    return answer(_item(call, topic, partition))


async def partition_of(call: Call, missing: Callable[[], ApiError] = NOT_FOUND) -> tuple[Topic, Partition]:
    """The topic and partition that the path names.

    Args:
        call: The request.
        missing: Makes the error if the topic has no such partition.

    Raises:
        ApiError: NOT_FOUND if the path has no number; UNKNOWN_TOPIC_OR_PARTITION; the error of `missing`.
    """
    name, number = call.segment("topic"), call.integer("partition")
    try:
        topic = await topics.topic(await call.admin(), name)
    except ApiError as error:
        if error.kind is not UNKNOWN_TOPIC_OR_PARTITION:
            raise
        text = f"This server does not host topic-partition {number} for topic {name}"
        raise UNKNOWN_TOPIC_OR_PARTITION(detail=text) from None
    for partition in topic.partitions:
        if partition.number == number:
            return topic, partition
    raise missing()


async def offset(call: Call) -> Response:
    """The offsets of one partition."""
    topic, partition = await partition_of(call, PARTITION_NOT_FOUND)
    (offsets_item,) = await _offset_items(call, topic, [partition])
    return answer(offsets_item)


async def all_offsets(call: Call) -> Response:
    """The offsets of all partitions of a topic."""
    topic = await topics.topic(await call.admin(), call.segment("topic"))
    items = await _offset_items(call, topic, topic.partitions)
    url = call.links.url("topics", topic.name, "partitions", "-", "offset")
    return answer(collection("KafkaPartitionWithOffsets", url, items))


async def _offset_items(call: Call, topic: Topic, partitions: list[Partition] | tuple[Partition, ...]) -> list[Item]:
    offset_type = call.query("offset_type") or _BOTH
    read_committed = _isolation(call)
    admin = await call.admin()
    places = [Place(topic.name, partition.number) for partition in partitions]
    if offset_type == _BOTH:
        earliest, latest = await asyncio.gather(
            offsets.list_offsets(admin, dict.fromkeys(places, offsets.EARLIEST)),
            offsets.list_offsets(admin, dict.fromkeys(places, offsets.LATEST), read_committed=read_committed),
        )
        return [
            _with_offsets(
                call,
                place,
                offset_type,
                earliest_offset=_answered(earliest[place]).offset,
                latest_offset=_answered(latest[place]).offset,
            )
            for place in places
        ]
    time = _SPECIAL.get(offset_type.lower())
    if time is None:
        time = _instant(offset_type)
    answers = await offsets.list_offsets(admin, dict.fromkeys(places, time), read_committed=read_committed)
    return [
        _with_offsets(
            call,
            place,
            offset_type,
            offset=_answered(answers[place]).offset,
            timestamp=_answered(answers[place]).timestamp,
        )
        for place in places
    ]


def _instant(text: str) -> int:
    try:
        return milliseconds_of(text)
    except ApiError:
        raise BAD_REQUEST(detail=f"offset_type:{text[:80]} is invalid") from None


def _isolation(call: Call) -> bool:
    text = call.query("isolation") or "read_uncommitted"
    if text not in _ISOLATION:
        raise BAD_REQUEST(detail=f"isolation:{text[:80]} is invalid; use {' or '.join(_ISOLATION)}")
    return _ISOLATION[text]


def _answered(answered: OffsetAt | ApiError) -> OffsetAt:
    if isinstance(answered, ApiError):
        raise answered
    return answered


def _with_offsets(call: Call, place: Place, offset_type: str, **fields: int | None) -> Item:
    links = call.links
    url = links.url("topics", place.topic, "partitions", place.partition, "offset")
    crn = links.crn(("topic", place.topic), ("partition", place.partition), ("offset_type", offset_type))
    members = {"cluster_id": call.cluster_id, "topic_name": place.topic, "partition_id": place.partition, **fields}
    return item("KafkaPartitionWithOffsets", url, crn, members)


def _item(call: Call, topic: Topic, partition: Partition) -> Item:
    links = call.links
    url = links.url("topics", topic.name, "partitions", partition.number)
    leader = None if partition.leader is None else relation(f"{url}/replicas/{partition.leader}")
    fields = {
        "cluster_id": call.cluster_id,
        "topic_name": topic.name,
        "partition_id": partition.number,
        "leader": leader,
        "replicas": relation(f"{url}/replicas"),
        "reassignment": relation(f"{url}/reassignment"),
    }
    return item("KafkaPartition", url, links.crn(("topic", topic.name), ("partition", partition.number)), fields)
