"""Routes of the root, brokers, topics and partitions; they differ between the versions only in an error code."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from starlette.responses import Response

from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from rest_proxy.access.decisions import rights_of
from rest_proxy.admin.cluster import Cluster, partition_body
from rest_proxy.admin.topics import Partition
from rest_proxy.errors import PARTITION_NOT_FOUND, TOPIC_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION
from rest_proxy.exchange import bodies
from rest_proxy.exchange.dialect import V1
from rest_proxy.exchange.negotiation import json_bytes, spoken
from rest_proxy.exchange.parameters import json_response, partition_segment, segment
from rest_proxy.exchange.parts import part_of

T = TypeVar("T")

_STRING_MAP = bodies.reader_of(dict[str, str] | None)


async def root(request: Request) -> Response:
    """The root: always an empty object."""
    return json_response(request, b"{}")


async def post_root(request: Request) -> Response:
    """The root with POST: accepts a map of strings, and answers an empty object."""
    bodies.read(_STRING_MAP, await request.body() or b"null")
    return json_response(request, b"{}")


async def brokers(request: Request) -> Response:
    """The brokers' ids."""
    return json_response(request, json_bytes({"brokers": await part_of(request, Cluster).broker_ids()}))


async def topics(request: Request) -> Response:
    """The names of the topics."""
    names, rights = await part_of(request, Cluster).topic_names(), rights_of(request)
    if rights is not None:
        names = [name for name in names if rights.may("DESCRIBE", "TOPIC", name)]
    return json_response(request, json_bytes(names))


async def topic(request: Request) -> Response:
    """A topic with its configuration and partitions."""
    cluster = part_of(request, Cluster)
    name = segment(request, "topic")
    partitions = await existing(request, cluster.partitions(name))
    rights = rights_of(request)
    may_see = rights is None or rights.may("DESCRIBE_CONFIGS", "TOPIC", name)
    configs = await existing(request, cluster.configs(name)) if may_see else {}
    body = {"name": name, "configs": configs, "partitions": [partition_body(partition) for partition in partitions]}
    return json_response(request, json_bytes(body))


async def partitions(request: Request) -> Response:
    """A topic's partitions."""
    partitions = await existing(request, part_of(request, Cluster).partitions(segment(request, "topic")))
    return json_response(request, json_bytes([partition_body(partition) for partition in partitions]))


async def partition(request: Request) -> Response:
    """One partition."""
    return json_response(request, json_bytes(partition_body(await _partition_of(request))))


async def offsets(request: Request) -> Response:
    """A partition's first offset and its log end offset."""
    number = (await _partition_of(request)).number
    beginning, end = await part_of(request, Cluster).offsets(segment(request, "topic"), number)
    return json_response(request, json_bytes({"beginning_offset": beginning, "end_offset": end}))


async def _partition_of(request: Request) -> Partition:
    number = partition_segment(request)
    for partition in await existing(request, part_of(request, Cluster).partitions(segment(request, "topic"))):
        if partition.number == number:
            return partition
    raise PARTITION_NOT_FOUND()


async def existing(request: Request, answer: Awaitable[T]) -> T:
    """Await an answer about a topic; if there is no such topic, raise the error of the request's version."""
    try:
        return await answer
    except ApiError as error:
        if spoken(request).dialect is V1 and error.kind is UNKNOWN_TOPIC_OR_PARTITION:
            raise TOPIC_NOT_FOUND() from None
        raise
