"""Partitions of topics, and their offsets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import Depends

from magicbyte.http.errors import NOT_FOUND
from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from rest_proxy.admin import offsets, topics
from rest_proxy.admin.client import PartitionId
from rest_proxy.admin.offsets import OffsetAt
from rest_proxy.admin.topics import Partition, Topic
from rest_proxy.errors import BAD_REQUEST, PARTITION_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION
from rest_proxy.exchange.parameters import milliseconds_of
from rest_proxy.v3 import models
from rest_proxy.v3.call import Admin, Call, ClusterCall
from rest_proxy.v3.envelopes import Item, answer, collection, item
from rest_proxy.v3.links import relation
from rest_proxy.v3.parameters.paths import PartitionPlace, TopicName
from rest_proxy.v3.parameters.queries import IsCommitted, OffsetType

_BOTH = "earliest_and_latest"
#: Types of offsets that the reference lacks, requested one by one.
_SPECIAL = {
    "earliest": offsets.EARLIEST,
    "latest": offsets.LATEST,
    "max_timestamp": offsets.MAX_TIMESTAMP,
    "earliest_local": offsets.EARLIEST_LOCAL,
    "latest_tiered": offsets.LATEST_TIERED,
}


async def list_all(call: ClusterCall, *, admin: Admin, topic: TopicName) -> Json[models.KafkaPartitionList]:
    """A topic's partitions by number."""
    described = await topics.topic(admin, topic)
    url = call.links.url("topics", topic, "partitions")
    items = [_item(call, described, partition) for partition in described.partitions]
    return answer(collection("KafkaPartition", url, items))


async def get(call: ClusterCall, *, place: PartitionPlace) -> Json[models.KafkaPartition]:
    """One partition."""
    topic, partition = await partition_of(call, place)
    return answer(_item(call, topic, partition))


async def partition_of(
    call: Call, place: PartitionId, missing: Callable[[], ApiError] = NOT_FOUND
) -> tuple[Topic, Partition]:
    """A partition and its topic.

    Args:
        call: The request.
        place: The partition.
        missing: Makes the error if the topic has no such partition.

    Raises:
        ApiError: UNKNOWN_TOPIC_OR_PARTITION; the error of `missing`.
    """
    try:
        topic = await topics.topic(await call.admin(), place.topic)
    except ApiError as error:
        if error.kind is not UNKNOWN_TOPIC_OR_PARTITION:
            raise
        text = f"This server does not host topic-partition {place.partition} for topic {place.topic}"
        raise UNKNOWN_TOPIC_OR_PARTITION(detail=text) from None
    for partition in topic.partitions:
        if partition.number == place.partition:
            return topic, partition
    raise missing()


async def _existing_place(call: ClusterCall, place: PartitionPlace) -> PartitionId:
    await partition_of(call, place, PARTITION_NOT_FOUND)
    return place


async def _places_of_topic(admin: Admin, topic: TopicName) -> Sequence[PartitionId]:
    return [PartitionId(topic, partition.number) for partition in (await topics.topic(admin, topic)).partitions]


#: The partition in the path, which exists. Raises UNKNOWN_TOPIC_OR_PARTITION and PARTITION_NOT_FOUND.
_ExistingPlace = Annotated[PartitionId, Depends(_existing_place)]
#: The partitions of the topic in the path.
_PlacesOfTopic = Annotated[Sequence[PartitionId], Depends(_places_of_topic)]


async def offset(
    call: ClusterCall, *, place: _ExistingPlace, read_committed: IsCommitted = None, offset_type: OffsetType = None
) -> Json[models.KafkaPartitionWithOffsets]:
    """Offsets of a partition."""
    (offsets_item,) = await offset_items(call, [place], offset_type, read_committed=bool(read_committed))
    return answer(offsets_item)


async def all_offsets(
    call: ClusterCall,
    *,
    topic: TopicName,
    places: _PlacesOfTopic,
    read_committed: IsCommitted = None,
    offset_type: OffsetType = None,
) -> Json[models.KafkaPartitionWithOffsetsList]:
    """Offsets of all partitions of a topic."""
    items = await offset_items(call, places, offset_type, read_committed=bool(read_committed))
    url = call.links.url("topics", topic, "partitions", "-", "offset")
    return answer(collection("KafkaPartitionWithOffsets", url, items))


async def offset_items(
    call: Call, places: Sequence[PartitionId], offset_type: str | None = None, *, read_committed: bool = False
) -> list[Item]:
    """The items of partitions with their offsets.

    Args:
        call: The request.
        places: The partitions, which exist.
        offset_type: Which offset; None for the earliest and the latest.
        read_committed: Whether the latest offset is that of the first open transaction.

    Raises:
        ApiError: BAD_REQUEST for no type of offsets; Kafka's error.
    """
    offset_type = offset_type or _BOTH
    admin = await call.admin()
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


def _answered(answered: OffsetAt | ApiError) -> OffsetAt:
    if isinstance(answered, ApiError):
        raise answered
    return answered


def _with_offsets(call: Call, place: PartitionId, offset_type: str, **fields: int | None) -> Item:
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
