"""Routes of consumer instances: create, subscribe or assign, read, commit, seek and delete."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import Depends
from starlette.responses import Response

from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json, NoContent
from magicbyte.kit.kafka.client_settings import may_be_group, may_be_topic
from rest_proxy.access.decisions import require_topics, rights_of
from rest_proxy.consume.consumers.buffer import PartitionId, Position
from rest_proxy.consume.consumers.configuration import instance_config, kafka_config
from rest_proxy.consume.consumers.consumer import PolledConsumer
from rest_proxy.consume.consumers.instances import Instance, Instances
from rest_proxy.consume.consumers.patterns import to_posix
from rest_proxy.consume.consumers.peers import Peers
from rest_proxy.consume.parts import Consuming
from rest_proxy.errors import INVALID_ENTITY, KAFKA_BAD_REQUEST, PARTITION_NOT_FOUND
from rest_proxy.exchange import bodies
from rest_proxy.exchange.dialect import V1
from rest_proxy.exchange.kafka_span import consume_span
from rest_proxy.exchange.negotiation import json_bytes, negotiated_of
from rest_proxy.exchange.parameters import json_response, long_query, milliseconds_of, segment, shorter
from rest_proxy.exchange.parts import optional_part, part_of
from rest_proxy.exchange.urls import base_url
from rest_proxy.http import models
from rest_proxy.http.parameters.bodies import (
    ConfigBody,
    OffsetsBody,
    PlacesBody,
    PlacesIfGiven,
    PositionsBody,
    SubscriptionBody,
)
from rest_proxy.http.parameters.paths import GroupName, InstanceName, OwnInstance
from rest_proxy.http.parameters.queries import IsAsync
from rest_proxy.settings import RestProxySettings

_MAX_OFFSET = 2**63 - 1


async def create(request: Request, *, given: ConfigBody, group_id: GroupName) -> Json[models.CreatedConsumer]:
    """Create a consumer instance in a group, which it joins when it is subscribed."""
    dialect = negotiated_of(request).dialect
    settings, consuming = part_of(request, RestProxySettings), part_of(request, Consuming)
    body = given or bodies.ConsumerConfig()
    if not may_be_group(group_id):
        raise INVALID_ENTITY(detail="a group must not begin with whitespace")
    config = instance_config(body, settings, first_version=dialect is V1)
    name = body.id or body.name or _local_name(consuming.instances, optional_part(request, Peers), group_id)
    if "\0" in name:  # no path could name it
        raise INVALID_ENTITY(detail="a name must not hold a null character")
    client = kafka_config(body, config, settings, group_id, first_version=dialect is V1)

    owner, counted = request.principal.name, client_key(request, settings.trusted_proxies)

    def make() -> Instance:
        consumer = PolledConsumer(
            client,
            asyncio.get_running_loop(),
            buffer_bytes=settings.consumer_buffer_bytes,
        )
        return Instance(owner, group_id, name, config, consumer, consuming.schemas, consuming.blocking, counted)

    await consuming.instances.add(owner, counted, group_id, name, make)
    base_uri = f"{base_url(request, settings)}/consumers/{quote(group_id, safe='')}/instances/{quote(name, safe='')}"
    return json_response(request, json_bytes({"instance_id": name, "base_uri": base_uri}))


async def delete(request: Request, *, group: GroupName, instance: InstanceName) -> NoContent:
    """Close an instance; with auto-commit, the delivered records are committed."""
    await part_of(request, Consuming).instances.remove(request.principal.name, group, instance)
    return NoContent()


async def subscribe(request: Request, *, body: SubscriptionBody, instance: OwnInstance) -> NoContent:
    """Subscribe to topics, or to those that a regular expression matches.

    As in the reference, topics win over a pattern, and both may be missing.
    """
    if body.topics:
        topics = list(dict.fromkeys(body.topics))
        # The reference accepts these names and fails with this error at the first read.
        if wrong := [topic for topic in topics if not may_be_topic(topic)]:
            raise KAFKA_BAD_REQUEST(detail=f"Invalid topics: [{', '.join(wrong)}]")
        require_topics(request, "READ", *topics)
        await instance.in_turn(lambda consumer: consumer.subscribe(topics))
    elif body.topics is not None:
        await instance.in_turn(lambda consumer: consumer.unsubscribe())
    elif body.topic_pattern is not None:
        pattern = to_posix(body.topic_pattern)
        # The pattern matches among all topics that the proxy may read, so the client must be allowed to read all.
        require_topics(request, "READ", "*")
        await instance.in_turn(lambda consumer: consumer.subscribe([pattern], pattern=True))
    return NoContent()


async def subscription(request: Request, *, instance: OwnInstance) -> Json[models.Topics]:
    """The topics that the instance is subscribed to, by name or by its pattern."""
    topics = await instance.in_turn(lambda consumer: consumer.subscription())
    return json_response(request, json_bytes({"topics": topics}))


async def unsubscribe(*, instance: OwnInstance) -> NoContent:
    """Leave all topics, or the partitions assigned by hand."""
    await instance.in_turn(lambda consumer: consumer.unsubscribe())
    return NoContent()


async def records(request: Request) -> Response:
    """The next records; if `token` is the last read's, the same records again."""
    form = negotiated_of(request).form
    instance = instance_of(request)
    timeout_ms = long_query(request, "timeout")
    max_bytes = long_query(request, "max_bytes")
    settings = part_of(request, RestProxySettings)
    with consume_span():
        body = await instance.read(
            form,
            timeout_ms=shorter(timeout_ms, instance.config.request_timeout_ms),
            max_bytes=shorter(max_bytes, settings.consumer_request_max_bytes),
            token=request.query_params.get("token") or None,
            rights=rights_of(request),
        )
    return json_response(request, body)


async def _offsets_to_commit(request: Request, body: OffsetsBody) -> Sequence[bodies.Offset] | None:
    offsets = None if body is None else body.offsets
    require_topics(request, "READ", *(offset.topic for offset in offsets or ()))
    return offsets


#: The offsets in the body, of topics that the sender may read; None for all that were delivered.
_OffsetsToCommit = Annotated[Sequence[bodies.Offset] | None, Depends(_offsets_to_commit)]


async def commit(
    request: Request, *, offsets: _OffsetsToCommit, instance: OwnInstance, is_async: IsAsync = None
) -> Response:
    """Commit the records at these offsets, or without a body all delivered records."""
    if negotiated_of(request).dialect is V1:
        return json_response(request, json_bytes(_as_v1(await instance.commit(None))))
    # The body has the offset of the last record read; Kafka commits the next record's offset (spec section 4).
    positions = None if offsets is None else [_position(offset, after=1) for offset in offsets]
    await instance.commit(positions, wait=not is_async)
    return json_response(request, b"[]")


async def _requested_partitions(request: Request, body: PlacesIfGiven) -> list[PartitionId]:
    if body is None:
        raise PARTITION_NOT_FOUND()
    return _readable(request, body)


#: The partitions in the body, of topics that the sender may read. Raises PARTITION_NOT_FOUND without a body.
_PlacesAsked = Annotated[list[PartitionId], Depends(_requested_partitions)]


async def committed(request: Request, *, places: _PlacesAsked, instance: OwnInstance) -> Json[models.Offsets]:
    """The committed offsets of the partitions in the request's body; partitions without one are left out."""
    positions = await instance.committed(places) if places else ()
    return json_response(request, json_bytes({"offsets": [position._asdict() for position in positions]}))


@dataclass(frozen=True, slots=True)
class _Targets:
    """Positions to continue at, by offset and by time."""

    positions: Sequence[Position]
    instants: Sequence[Position]


async def _targets(request: Request, body: PositionsBody) -> _Targets:
    positions = [_position(offset) for offset in body.offsets or ()]
    instants = [_instant(timestamp) for timestamp in body.timestamps or ()]
    require_topics(request, "READ", *(target.topic for target in (*positions, *instants)))
    return _Targets(positions, instants)


#: The positions in the body, of topics that the sender may read.
_TargetsInBody = Annotated[_Targets, Depends(_targets)]


async def seek(*, targets: _TargetsInBody, instance: OwnInstance) -> NoContent:
    """Continue at offsets or instants."""
    if targets.positions:
        await instance.in_turn(lambda consumer: consumer.seek(targets.positions))
    if targets.instants:
        await instance.in_turn(lambda consumer: consumer.seek_to_times(targets.instants))
    return NoContent()


async def _places_in_body(request: Request, body: PlacesBody) -> list[PartitionId]:
    return _readable(request, body)


#: The partitions in the body, of topics that the sender may read.
_PlacesInBody = Annotated[list[PartitionId], Depends(_places_in_body)]


async def seek_to_beginning(*, places: _PlacesInBody, instance: OwnInstance) -> NoContent:
    """Continue at the first records."""
    await instance.in_turn(lambda consumer: consumer.seek_to_beginning(places))
    return NoContent()


async def seek_to_end(*, places: _PlacesInBody, instance: OwnInstance) -> NoContent:
    """Continue after the last records."""
    await instance.in_turn(lambda consumer: consumer.seek_to_end(places))
    return NoContent()


async def assign(*, places: _PlacesInBody, instance: OwnInstance) -> NoContent:
    """Read these partitions and no others, outside of the group's balancing."""
    await instance.in_turn(lambda consumer: consumer.assign(places))
    return NoContent()


async def assignments(request: Request, *, instance: OwnInstance) -> Json[bodies.Places]:
    """The partitions that the instance reads now."""
    places = await instance.in_turn(lambda consumer: consumer.assignment())
    body = {"partitions": [{"topic": topic, "partition": partition} for topic, partition in places]}
    return json_response(request, json_bytes(body))


def _local_name(instances: Instances, peers: Peers | None, group: str) -> str:
    """A new name whose owner is this node, so that the client's requests to this node need not be passed on."""
    while True:
        name = instances.new_name()
        if peers is None or peers.owns(group, name):
            return name


def _as_v1(committed: Sequence[Position]) -> list[dict[str, object]]:
    """Commits in the form of v1, which has the offset of the last record, not of the next."""
    return [
        {"topic": topic, "partition": partition, "consumed": offset - 1, "committed": offset - 1}
        for topic, partition, offset, _ in committed
    ]


def instance_of(request: Request) -> Instance:
    """The instance in a request's path."""
    group, instance = segment(request, "group"), segment(request, "instance")
    return part_of(request, Consuming).instances.get(request.principal.name, group, instance)


def _readable(request: Request, body: bodies.Places) -> list[PartitionId]:
    """The partitions of a body.

    Raises:
        ApiError: INVALID_ENTITY for a wrong name or number; KAFKA_AUTHORIZATION if the sender may not read a topic.
    """
    places = list(dict.fromkeys((place.topic, place.partition) for place in body.partitions or ()))
    for topic, partition in places:
        _check(topic, partition)
    require_topics(request, "READ", *(topic for topic, _ in places))
    return places


def _position(place: bodies.Offset, after: int = 0) -> Position:
    _check(place.topic, place.partition)
    if not 0 <= place.offset < _MAX_OFFSET:
        raise INVALID_ENTITY(detail=f"offset must be between 0 and {_MAX_OFFSET - 1} (was {place.offset})")
    return Position(place.topic, place.partition, place.offset + after, place.metadata or "")


def _instant(place: bodies.Timestamp) -> Position:
    _check(place.topic, place.partition)
    return Position(place.topic, place.partition, milliseconds_of(place.timestamp))


def _check(topic: str, partition: int) -> None:
    if not topic or "\0" in topic:
        raise INVALID_ENTITY(detail="topic must not be empty" if not topic else "topic must not hold a null character")
    if not 0 <= partition < 2**31:
        raise INVALID_ENTITY(detail=f"partition must be between 0 and {2**31 - 1} (was {partition})")
