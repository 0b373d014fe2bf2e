"""The root, brokers, topics and partitions: the same in both versions but for an error code."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from fastapi import APIRouter, Request, Response

from magicbyte.errors import ApiError
from rest_proxy import requests
from rest_proxy.cluster import Partition, partition_body
from rest_proxy.dialect import V1, Dialect
from rest_proxy.errors import PARTITION_NOT_FOUND, TOPIC_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION
from rest_proxy.http.common import json_response, partition_segment, proxy_of, segment
from rest_proxy.http.negotiation import answer_type, dialect_of, json_bytes

T = TypeVar("T")

router = APIRouter()

_STRING_MAP = requests.reader_of(dict[str, str] | None)


@router.get("/")
async def root(request: Request) -> Response:
    """Answer that the proxy is there."""
    return json_response(b"{}", answer_type(request, dialect_of(request)))


@router.post("/")
async def post_root(request: Request) -> Response:
    """Answer that the proxy is there, whatever string map is sent."""
    media_type = answer_type(request, dialect_of(request))
    requests.read(_STRING_MAP, await request.body() or b"null")
    return json_response(b"{}", media_type)


@router.get("/brokers")
async def brokers(request: Request) -> Response:
    """The brokers' ids."""
    media_type = answer_type(request, dialect_of(request))
    return json_response(json_bytes({"brokers": await proxy_of(request).cluster.broker_ids()}), media_type)


@router.get("/topics")
async def topics(request: Request) -> Response:
    """The names of the topics."""
    media_type = answer_type(request, dialect_of(request))
    return json_response(json_bytes(await proxy_of(request).cluster.topic_names()), media_type)


@router.get("/topics/{topic}")
async def topic(request: Request, topic: str) -> Response:
    """A topic with its configuration and partitions."""
    dialect = dialect_of(request)
    media_type = answer_type(request, dialect)
    cluster = proxy_of(request).cluster
    name = segment(topic)
    partitions = await existing(dialect, cluster.partitions(name))
    configs = await existing(dialect, cluster.configs(name))
    body = {"name": name, "configs": configs, "partitions": [partition_body(one) for one in partitions]}
    return json_response(json_bytes(body), media_type)


@router.get("/topics/{topic}/partitions")
async def partitions(request: Request, topic: str) -> Response:
    """A topic's partitions."""
    dialect = dialect_of(request)
    media_type = answer_type(request, dialect)
    found = await existing(dialect, proxy_of(request).cluster.partitions(segment(topic)))
    return json_response(json_bytes([partition_body(one) for one in found]), media_type)


@router.get("/topics/{topic}/partitions/{partition}")
async def partition(request: Request, topic: str, partition: str) -> Response:
    """One partition."""
    dialect = dialect_of(request)
    media_type = answer_type(request, dialect)
    found = await _one(request, dialect, topic, partition)
    return json_response(json_bytes(partition_body(found)), media_type)


@router.get("/topics/{topic}/partitions/{partition}/offsets")
async def offsets(request: Request, topic: str, partition: str) -> Response:
    """A partition's first offset and the one after its last."""
    dialect = dialect_of(request)
    media_type = answer_type(request, dialect)
    found = await _one(request, dialect, topic, partition)
    beginning, end = await proxy_of(request).cluster.offsets(segment(topic), found.partition)
    return json_response(json_bytes({"beginning_offset": beginning, "end_offset": end}), media_type)


async def _one(request: Request, dialect: Dialect, topic: str, partition: str) -> Partition:
    number = partition_segment(partition)
    for found in await existing(dialect, proxy_of(request).cluster.partitions(segment(topic))):
        if found.partition == number:
            return found
    raise PARTITION_NOT_FOUND()


async def existing(dialect: Dialect, answer: Awaitable[T]) -> T:
    """What an answer about a topic is, with the oldest API's error where there is no such topic."""
    try:
        return await answer
    except ApiError as error:
        if dialect is V1 and error.kind is UNKNOWN_TOPIC_OR_PARTITION:
            raise TOPIC_NOT_FOUND() from None
        raise
