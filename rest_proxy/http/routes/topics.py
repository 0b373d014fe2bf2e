"""Routes of the root, brokers, topics and partitions; they differ between the versions only in an error code."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from rest_proxy.access.decisions import rights_of
from rest_proxy.admin.cluster import Cluster, partition_body
from rest_proxy.admin.topics import Partition
from rest_proxy.errors import PARTITION_NOT_FOUND, TOPIC_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION
from rest_proxy.exchange.dialect import V1
from rest_proxy.exchange.negotiation import json_bytes, negotiated_of
from rest_proxy.exchange.parameters import json_response
from rest_proxy.exchange.parts import part_of
from rest_proxy.http import models
from rest_proxy.http.parameters.bodies import StringMapBody
from rest_proxy.http.parameters.paths import PartitionNumber, TopicName

T = TypeVar("T")


async def root(request: Request) -> Json[models.Empty]:
    """Does nothing; shows that the proxy is there."""
    return json_response(request, b"{}")


async def post_root(request: Request, *, _body: StringMapBody) -> Json[models.Empty]:
    """Does nothing with a map of strings."""
    return json_response(request, b"{}")


async def brokers(request: Request) -> Json[models.Brokers]:
    """The brokers' ids."""
    return json_response(request, json_bytes({"brokers": await part_of(request, Cluster).broker_ids()}))


async def topics(request: Request) -> Json[models.Names]:
    """The names of all topics but Kafka's own."""
    names, rights = await part_of(request, Cluster).topic_names(), rights_of(request)
    if rights is not None:
        names = [name for name in names if rights.may("DESCRIBE", "TOPIC", name)]
    return json_response(request, json_bytes(names))


async def topic(request: Request, *, name: TopicName) -> Json[models.Topic]:
    """A topic with its configuration and partitions."""
    cluster = part_of(request, Cluster)
    partitions = await existing(request, cluster.partitions(name))
    rights = rights_of(request)
    may_see = rights is None or rights.may("DESCRIBE_CONFIGS", "TOPIC", name)
    configs = await existing(request, cluster.configs(name)) if may_see else {}
    body = {"name": name, "configs": configs, "partitions": [partition_body(partition) for partition in partitions]}
    return json_response(request, json_bytes(body))


async def partitions(request: Request, *, topic: TopicName) -> Json[models.Partitions]:
    """A topic's partitions."""
    partitions = await existing(request, part_of(request, Cluster).partitions(topic))
    return json_response(request, json_bytes([partition_body(partition) for partition in partitions]))


async def partition(request: Request, *, number: PartitionNumber, topic: TopicName) -> Json[models.Partition]:
    """One partition."""
    return json_response(request, json_bytes(partition_body(await _partition_of(request, topic, number))))


async def offsets(request: Request, *, number: PartitionNumber, topic: TopicName) -> Json[models.OffsetRange]:
    """A partition's first offset and its log end offset."""
    await _partition_of(request, topic, number)
    beginning, end = await part_of(request, Cluster).offsets(topic, number)
    return json_response(request, json_bytes({"beginning_offset": beginning, "end_offset": end}))


async def _partition_of(request: Request, topic: str, number: int) -> Partition:
    for partition in await existing(request, part_of(request, Cluster).partitions(topic)):
        if partition.number == number:
            return partition
    raise PARTITION_NOT_FOUND()


async def existing(request: Request, answer: Awaitable[T]) -> T:
    """Await an answer about a topic; if there is no such topic, raise the error of the request's version."""
    try:
        return await answer
    except ApiError as error:
        if negotiated_of(request).dialect is V1 and error.kind is UNKNOWN_TOPIC_OR_PARTITION:
            raise TOPIC_NOT_FOUND() from None
        raise
