"""Routes to produce to a topic and to a partition, in both versions."""

from __future__ import annotations

from collections.abc import Awaitable

from starlette.responses import Response

from magicbyte.http.routing.request import Request
from rest_proxy.access.decisions import rights_of
from rest_proxy.exchange.negotiation import negotiated_of
from rest_proxy.exchange.parameters import json_response, long_query, partition_number, segment, shorter
from rest_proxy.exchange.parts import part_of
from rest_proxy.exchange.produce_query import acks_of, schema_options
from rest_proxy.produce.parts import Producing
from rest_proxy.produce.request import Produce, produce


def produce_to_topic(request: Request) -> Awaitable[Response]:
    """Produce records, each to the partition that it names, or else by its key."""
    return _produce(request, None)


def produce_to_partition(request: Request) -> Awaitable[Response]:
    """Produce records to a partition; as in the reference, a record may name another one."""
    return _produce(request, partition_number(request.match.parameters["partition"]))


async def _produce(request: Request, partition: int | None) -> Response:
    producing = part_of(request, Producing)
    settings = producing.settings
    dialect, form = negotiated_of(request)
    assert form is not None
    topic = segment(request, "topic")
    timeout_ms = shorter(long_query(request, "timeout"), settings.produce_timeout_ms)
    status, body = await produce(
        producing,
        Produce(
            dialect=dialect,
            form=form,
            topic=topic,
            partition=partition,
            body=await request.body(),
            acks=acks_of(request, settings),
            timeout_ms=timeout_ms,
            options=schema_options(request, settings),
            rights=rights_of(request),
        ),
    )
    return json_response(request, body, status)
