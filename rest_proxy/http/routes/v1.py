"""Routes that only v1 has: the stateless consumer, and reads that subscribe the instance."""

from __future__ import annotations

from starlette.responses import Response

from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.request import Request
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
from rest_proxy.exchange.negotiation import spoken
from rest_proxy.exchange.parameters import (
    json_response,
    long_query,
    milliseconds_of,
    partition_segment,
    segment,
    shorter,
)
from rest_proxy.exchange.parts import part_of
from rest_proxy.formats.embedded import BINARY
from rest_proxy.formats.plain import Options
from rest_proxy.http.routes.consumers import instance_of
from rest_proxy.http.routes.topics import existing
from rest_proxy.settings import RestProxySettings

_MAX_COUNT = 100_000
_MAX_OFFSET = 2**63 - 1


async def messages(request: Request) -> Response:
    """Records of a partition from an offset or an instant, up to `count` or the end of the partition."""
    form = spoken(request).form or BINARY
    settings, reading = part_of(request, RestProxySettings), part_of(request, Reading)
    offset = long_query(request, "offset")
    instant = request.query_params.get("timestamp") or None
    if (offset is None) == (instant is None):
        raise BAD_REQUEST(detail="one of offset and timestamp has to be given, and not both")
    count = long_query(request, "count")
    if offset is not None and not 0 <= offset < _MAX_OFFSET:
        raise INVALID_ENTITY(detail=f"offset must be between 0 and {_MAX_OFFSET - 1} (was {offset})")
    if count is not None and not 1 <= count <= _MAX_COUNT:
        raise INVALID_ENTITY(detail=f"count must be between 1 and {_MAX_COUNT} (was {count})")
    name, number = segment(request, "topic"), partition_segment(request)
    client = client_key(request, settings.trusted_proxies)
    bounds = Bounds(count or 1, settings.consumer_request_max_bytes, client=client)
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


async def read_topic(request: Request) -> Response:
    """The next records of a topic; the first read of an instance subscribes it, and it can read no other topic."""
    form = spoken(request).form or BINARY
    instance, settings = instance_of(request), part_of(request, RestProxySettings)
    name = segment(request, "topic")
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
        max_bytes=shorter(long_query(request, "max_bytes"), settings.consumer_request_max_bytes),
        token=request.query_params.get("token") or None,
        rights=rights_of(request),
    )
    return json_response(request, body)
