"""Consumer instances: made, subscribed or assigned, read, committed, sought and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from urllib.parse import quote

from starlette.responses import Response

from magicbyte.http.routing.request import Request
from magicbyte.kit.kafka import may_be_group
from rest_proxy.admin.cluster import is_topic_name
from rest_proxy.consume.buffer import Place, Position
from rest_proxy.consume.configuration import instance_config, kafka_config
from rest_proxy.consume.consumer import PolledConsumer
from rest_proxy.consume.instances import Instance
from rest_proxy.consume.patterns import to_posix
from rest_proxy.errors import INVALID_ENTITY, KAFKA_BAD_REQUEST, PARTITION_NOT_FOUND
from rest_proxy.http import bodies
from rest_proxy.http.access import require_topics, rights_of
from rest_proxy.http.common import json_response, long_query, milliseconds_of, no_content, proxy_of, segment
from rest_proxy.http.dialect import V1
from rest_proxy.http.negotiation import json_bytes, spoken
from rest_proxy.http.urls import base_url
from rest_proxy.proxy import Proxy

_CONFIG = bodies.reader_of(bodies.ConsumerConfig | None)
_SUBSCRIPTION = bodies.reader_of(bodies.Subscription)
_OFFSETS = bodies.reader_of(bodies.Offsets)
_POSITIONS = bodies.reader_of(bodies.Positions)
_PLACES = bodies.reader_of(bodies.Places)
_MAX_OFFSET = 2**63 - 1


async def create(request: Request) -> Response:
    """Make an instance; it joins its group when it is subscribed."""
    dialect = spoken(request).dialect
    proxy = proxy_of(request)
    asked: bodies.ConsumerConfig = bodies.read(_CONFIG, await request.body() or b"null") or bodies.ConsumerConfig()
    group_id = segment(request, "group")
    if not may_be_group(group_id):
        raise INVALID_ENTITY(detail="a group must not begin with whitespace")
    config = instance_config(asked, proxy.settings, first_version=dialect is V1)
    name = asked.id or asked.name or _own_name(proxy, group_id)
    if "\0" in name:  # no path could name it
        raise INVALID_ENTITY(detail="a name must not hold a null character")
    client = kafka_config(asked, config, proxy.settings, group_id, first_version=dialect is V1)

    owner = request.principal.name

    def make() -> Instance:
        consumer = PolledConsumer(
            client,
            asyncio.get_running_loop(),
            buffer_bytes=proxy.settings.consumer_buffer_bytes,
        )
        return Instance(owner, group_id, name, config, consumer, proxy.schemas, proxy.blocking)

    await proxy.instances.add(owner, group_id, name, make)
    base_uri = (
        f"{base_url(request, proxy.settings)}/consumers/{quote(group_id, safe='')}/instances/{quote(name, safe='')}"
    )
    return json_response(request, json_bytes({"instance_id": name, "base_uri": base_uri}))


async def delete(request: Request) -> Response:
    """Close an instance; with auto-commit, what was delivered is committed."""
    group, instance = segment(request, "group"), segment(request, "instance")
    await proxy_of(request).instances.remove(request.principal.name, group, instance)
    return no_content()


async def subscribe(request: Request) -> Response:
    """Subscribe to topics or to a pattern; to neither does nothing, and topics win, as in the reference."""
    wanted = bodies.read(_SUBSCRIPTION, await request.body())
    found = instance_of(request)
    if wanted.topics:
        topics = list(dict.fromkeys(wanted.topics))
        # The reference takes them and fails with this at the first read.
        if wrong := [topic for topic in topics if not is_topic_name(topic)]:
            raise KAFKA_BAD_REQUEST(detail=f"Invalid topics: [{', '.join(wrong)}]")
        require_topics(request, "READ", *topics)
        await found.in_turn(lambda consumer: consumer.subscribe(topics))
    elif wanted.topics is not None:
        await found.in_turn(lambda consumer: consumer.unsubscribe())
    elif wanted.topic_pattern is not None:
        pattern = to_posix(wanted.topic_pattern)
        # The broker matches all that the proxy may read, so this is for who may read every topic.
        require_topics(request, "READ", "*")
        await found.in_turn(lambda consumer: consumer.subscribe([pattern], pattern=True))
    return no_content()


async def subscription(request: Request) -> Response:
    """The topics that the instance is subscribed to, those that its pattern matches included."""
    found = instance_of(request)
    topics = await found.in_turn(lambda consumer: consumer.subscription())
    return json_response(request, json_bytes({"topics": topics}))


async def unsubscribe(request: Request) -> Response:
    """Leave all topics, or the partitions assigned by hand."""
    await instance_of(request).in_turn(lambda consumer: consumer.unsubscribe())
    return no_content()


async def records(request: Request) -> Response:
    """The next records; with `token`, the last ones again where it is the token they were read with."""
    form = spoken(request).form
    found = instance_of(request)
    timeout_ms = long_query(request, "timeout")
    max_bytes = long_query(request, "max_bytes")
    settings = proxy_of(request).settings
    body = await found.read(
        form,
        timeout_ms=shorter(timeout_ms, found.config.request_timeout_ms),
        max_bytes=shorter(max_bytes, settings.consumer_request_max_bytes),
        token=request.query_params.get("token") or None,
        require_topics=readable(request),
    )
    return json_response(request, body)


def readable(request: Request) -> Callable[[Iterable[str]], None] | None:
    """What raises if records of some topics may not be given to whoever sends a request; None if there are no rules."""
    rights = rights_of(request)
    return None if rights is None else partial(rights.require_topics, "READ")


async def commit(request: Request) -> Response:
    """Commit the records of these offsets, or all that were delivered; `async=true` does not wait for the brokers."""
    dialect = spoken(request).dialect
    body = await request.body()
    asked = None if bodies.is_null(body) else bodies.read(_OFFSETS, body).offsets
    require_topics(request, "READ", *(one.topic for one in asked or ()))
    found = instance_of(request)
    if dialect is V1:
        return json_response(request, json_bytes(_as_v1(await found.commit(None))))
    # An offset in the body is that of a record, which counts as read; Kafka's is that of the next (spec section 4).
    positions = None if asked is None else [_position(one, after=1) for one in asked]
    wait = (request.query_params.get("async") or "false").lower() != "true"
    await found.commit(positions, wait=wait)
    return json_response(request, b"[]")


async def committed(request: Request) -> Response:
    """The committed offsets of the partitions in the body; those never committed are left out."""
    body = await request.body()
    if bodies.is_null(body):
        raise PARTITION_NOT_FOUND()
    places = _places(bodies.read(_PLACES, body))
    require_topics(request, "READ", *(topic for topic, _ in places))
    found = instance_of(request)
    offsets = [
        {"topic": one.topic, "partition": one.partition, "offset": one.offset, "metadata": one.metadata}
        for one in (await found.committed(places) if places else ())
    ]
    return json_response(request, json_bytes({"offsets": offsets}))


async def seek(request: Request) -> Response:
    """Continue at these offsets and times."""
    asked = bodies.read(_POSITIONS, await request.body())
    positions = [_position(one) for one in asked.offsets or ()]
    instants = [_instant(one) for one in asked.timestamps or ()]
    require_topics(request, "READ", *(one.topic for one in (*positions, *instants)))
    found = instance_of(request)
    if positions:
        await found.in_turn(lambda consumer: consumer.seek(positions))
    if instants:
        await found.in_turn(lambda consumer: consumer.seek_to_times(instants))
    return no_content()


async def seek_to_beginning(request: Request) -> Response:
    """Continue at the first records there are."""
    return await _with_places(request, PolledConsumer.seek_to_beginning)


async def seek_to_end(request: Request) -> Response:
    """Continue after the last records there are."""
    return await _with_places(request, PolledConsumer.seek_to_end)


async def assign(request: Request) -> Response:
    """Read these partitions and no others."""
    return await _with_places(request, PolledConsumer.assign)


async def _with_places(
    request: Request,
    operation: Callable[[PolledConsumer, list[Place]], Awaitable[None]],
) -> Response:
    places = _places(bodies.read(_PLACES, await request.body()))
    require_topics(request, "READ", *(topic for topic, _ in places))
    await instance_of(request).in_turn(lambda consumer: operation(consumer, places))
    return no_content()


async def assignments(request: Request) -> Response:
    """The partitions that are read now."""
    found = await instance_of(request).in_turn(lambda consumer: consumer.assignment())
    body = {"partitions": [{"topic": topic, "partition": partition} for topic, partition in found]}
    return json_response(request, json_bytes(body))


def _own_name(proxy: Proxy, group: str) -> str:
    """A new name whose owner is this node, so that no request of its client need be passed on from here."""
    while True:
        name = proxy.instances.new_name()
        if proxy.peers is None or proxy.peers.owns(group, name):
            return name


def _as_v1(committed: Sequence[Position]) -> list[dict[str, object]]:
    """Commits as the oldest API tells them: by the last record, not by the one after it."""
    return [
        {"topic": one.topic, "partition": one.partition, "consumed": one.offset - 1, "committed": one.offset - 1}
        for one in committed
    ]


def instance_of(request: Request) -> Instance:
    """The instance that a path names."""
    group, instance = segment(request, "group"), segment(request, "instance")
    return proxy_of(request).instances.get(request.principal.name, group, instance)


def shorter(asked: int | None, bound: int) -> int:
    """What was asked for within a bound; the bound where nothing sensible was."""
    return bound if asked is None or asked <= 0 else min(asked, bound)


def _places(asked: bodies.Places) -> list[Place]:
    places = list(dict.fromkeys((one.topic, one.partition) for one in asked.partitions or ()))
    for topic, partition in places:
        _check(topic, partition)
    return places


def _position(asked: bodies.OffsetPlace, after: int = 0) -> Position:
    _check(asked.topic, asked.partition)
    if not 0 <= asked.offset < _MAX_OFFSET:
        raise INVALID_ENTITY(detail=f"offset must be between 0 and {_MAX_OFFSET - 1} (was {asked.offset})")
    return Position(asked.topic, asked.partition, asked.offset + after, asked.metadata or "")


def _instant(asked: bodies.TimestampPlace) -> Position:
    _check(asked.topic, asked.partition)
    return Position(asked.topic, asked.partition, milliseconds_of(asked.timestamp))


def _check(topic: str, partition: int) -> None:
    if not topic or "\0" in topic:
        raise INVALID_ENTITY(detail="topic must not be empty" if not topic else "topic must not hold a null character")
    if not 0 <= partition < 2**31:
        raise INVALID_ENTITY(detail=f"partition must be between 0 and {2**31 - 1} (was {partition})")
