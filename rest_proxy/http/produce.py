"""Produce: to a topic and to a partition, in both versions."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from rest_proxy.codecs import Options
from rest_proxy.http.common import choice_query, json_response, long_query, partition_segment, proxy_of, segment
from rest_proxy.http.negotiation import answer_type, produce_format
from rest_proxy.producing import Produce

router = APIRouter()

ACKS = {"0": "0", "1": "1", "-1": "all", "all": "all"}
UNIONS = {"tagged": "tagged", "plain": "plain"}


@router.post("/topics/{topic}")
async def produce_to_topic(request: Request, topic: str) -> Response:
    """Produce records, each to the partition it names or its key leads to."""
    return await _produce(request, topic, None)


@router.post("/topics/{topic}/partitions/{partition}")
async def produce_to_partition(request: Request, topic: str, partition: str) -> Response:
    """Produce records to a partition; a record that names another goes there, as in the reference."""
    return await _produce(request, topic, partition_segment(partition))


async def _produce(request: Request, topic: str, partition: int | None) -> Response:
    proxy = proxy_of(request)
    settings = proxy.settings
    dialect, form = produce_format(request.headers.get("content-type"))
    media_type = answer_type(request, dialect)
    asked = long_query(request, "timeout")
    timeout_ms = settings.produce_timeout_ms if asked is None or asked <= 0 else min(asked, settings.produce_timeout_ms)
    status, body = await proxy.producing.produce(
        Produce(
            dialect=dialect,
            form=form,
            topic=segment(topic),
            partition=partition,
            body=await request.body(),
            acks=choice_query(request, "acks", ACKS, ACKS[settings.acks]),
            timeout_ms=timeout_ms,
            options=Options(plain_unions=choice_query(request, "unions", UNIONS, settings.avro_unions) == "plain"),
        )
    )
    return json_response(body, media_type, status)
