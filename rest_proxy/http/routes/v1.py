"""Routes that only v1 has: the stateless consumer, and reads that subscribe the instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from rest_proxy.access.decisions import rights_of
from rest_proxy.admin.cluster import Cluster
from rest_proxy.consume.parts import Reading
from rest_proxy.consume.rendering.records import render
from rest_proxy.consume.stateless.bounds import Bounds, OutOfRange
from rest_proxy.errors import (
    ALREADY_SUBSCRIBED,
    BAD_REQUEST,
    INVALID_ENTITY,
    KAFKA_ERROR,
    TOPIC_NOT_FOUND,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from rest_proxy.exchange.negotiation import negotiated_of
from rest_proxy.exchange.parameters import (
    json_response,
    long_of,
    milliseconds_of,
    shorter,
)
from rest_proxy.exchange.parts import part_of
from rest_proxy.formats.embedded import BINARY
from rest_proxy.formats.plain import Options
from rest_proxy.http import models
from rest_proxy.http.parameters.paths import OwnInstance, PartitionNumber, TopicName
from rest_proxy.http.parameters.queries import FirstInstant, FirstOffset, MaxBytesText, MostRecords, ReadToken
from rest_proxy.http.routes.topics import existing
from rest_proxy.settings import RestProxySettings

_MAX_COUNT = 100_000
_MAX_OFFSET = 2**63 - 1


@dataclass(frozen=True, slots=True)
class _Start:
    """The start of a read: an offset or an instant."""

    offset: int | None
    instant: str | None


async def _start(offset: FirstOffset = None, timestamp: FirstInstant = None) -> _Start:
    instant = timestamp or None
    if (offset is None) == (instant is None):
        raise BAD_REQUEST(detail="one of offset and timestamp has to be given, and not both")
    return _Start(offset, instant)


#: Where to begin. Raises BAD_REQUEST.
_StartOfRead = Annotated[_Start, Depends(_start)]


async def _count(start: _StartOfRead, count: MostRecords = 1) -> int:
    offset = start.offset
    if offset is not None and not 0 <= offset < _MAX_OFFSET:
        raise INVALID_ENTITY(detail=f"offset must be between 0 and {_MAX_OFFSET - 1} (was {offset})")
    if count is not None and not 1 <= count <= _MAX_COUNT:
        raise INVALID_ENTITY(detail=f"count must be between 1 and {_MAX_COUNT} (was {count})")
    return count or 1


#: How many records to read. Raises INVALID_ENTITY, also for an offset out of bounds.
_Count = Annotated[int, Depends(_count)]


async def messages(
    request: Request, *, start: _StartOfRead, count: _Count, name: TopicName, number: PartitionNumber
) -> Json[models.Records]:
    """Records of a partition from an offset or an instant, up to `count` or the end of the partition (v1).

    It needs no consumer instance.
    """
    form = negotiated_of(request).form or BINARY
    settings, reading = part_of(request, RestProxySettings), part_of(request, Reading)
    offset, instant = start.offset, start.instant
    client = client_key(request, settings.trusted_proxies)
    bounds = Bounds(count, settings.consumer_request_max_bytes, client=client)
    async with reading.reads.reader() as reader:
        if instant is not None:
            offset = (await existing(request, reader.offsets(name, {number: milliseconds_of(instant)})))[number]
        try:
            records = await existing(request, reader.read_on(name, number, offset or 0, bounds))
        except OutOfRange as error:
            raise KAFKA_ERROR(
                detail=f"The requested offset {error.offset} is not within the range of offsets of the partition."
            ) from None
        rendered = await render(
            records,
            form,
            reading.schemas,
            Options(stored=settings.avro_logical_types == "stored"),
            rights=rights_of(request),
            report_errors=True,
            blocking=reading.blocking,
        )
    return json_response(request, rendered.body)


async def read_topic(
    request: Request,
    *,
    instance: OwnInstance,
    name: TopicName,
    max_bytes: MaxBytesText = None,
    token: ReadToken = None,
) -> Json[models.Records]:
    """The next records of a topic (v1).

    The first read of an instance subscribes it, and it can read no other topic.
    """
    form = negotiated_of(request).form or BINARY
    settings = part_of(request, RestProxySettings)
    if instance.consumer.subscribed != [name]:
        if instance.consumer.mode is not None:
            raise ALREADY_SUBSCRIBED()
        try:
            await part_of(request, Cluster).partitions(name)
        except ApiError as error:
            if error.kind is UNKNOWN_TOPIC_OR_PARTITION:
                raise TOPIC_NOT_FOUND() from None
            raise
        await instance.in_turn(lambda consumer: consumer.subscribe([name]))
    body = await instance.read(
        form,
        timeout_ms=instance.config.request_timeout_ms,
        max_bytes=shorter(long_of("max_bytes", max_bytes), settings.consumer_request_max_bytes),
        token=token or None,
        rights=rights_of(request),
    )
    return json_response(request, body)
