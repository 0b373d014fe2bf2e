"""Reading records without state: of a partition, or of all partitions of a topic with a cursor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import orjson

from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from rest_proxy.admin.offsets import EARLIEST, LATEST
from rest_proxy.consume.parts import Reading
from rest_proxy.consume.rendering.record_json import RecordWriter
from rest_proxy.consume.rendering.run_by_size import run_by_size
from rest_proxy.consume.rendering.typed_data import TYPES, DataDecoder
from rest_proxy.consume.stateless.bounds import Bounds, OutOfRange
from rest_proxy.consume.stateless.cursor import read_cursor, write_cursor
from rest_proxy.errors import BAD_REQUEST, OFFSET_OUT_OF_RANGE, PARTITION_NOT_FOUND
from rest_proxy.exchange.parameters import milliseconds_of, segment
from rest_proxy.exchange.parts import part_of
from rest_proxy.exchange.urls import base_url
from rest_proxy.formats.plain import Options
from rest_proxy.metrics import ANY, RECORDS
from rest_proxy.v3 import models
from rest_proxy.v3.call import Call, call_of
from rest_proxy.v3.envelopes import json_answer
from rest_proxy.v3.parameters.paths import number_of

if TYPE_CHECKING:
    from rest_proxy.consume.stateless.fetched import Page
    from rest_proxy.consume.stateless.topic_reader import TopicReader

_WORDS = {"earliest": EARLIEST, "latest": LATEST}
_MAX_OFFSET = 2**63 - 1
_MAX_RECORDS, _MAX_WAIT_MS = 10_000, 60_000


async def of_partition(request: Request) -> Json[models.KafkaRecordList]:
    """Records of a partition from an offset or a time."""
    call = await call_of(request)
    topic, partition = segment(request, "topic"), number_of(request.match.parameters["partition"])
    if partition < 0:
        raise PARTITION_NOT_FOUND()
    bounds = _bounds(call)
    await call.require_cluster()
    async with part_of(call.request, Reading).reads.reader() as reader:
        starts = await _starts(call, reader, topic, [partition], bounds)
        pages = await _read(call, reader, topic, starts, bounds)
    page = pages[partition]
    fields = {"next_offset": page.next_offset, "earliest_offset": page.earliest, "latest_offset": page.latest}
    return await _answer(call, pages, fields, {"offset": str(page.next_offset)})


async def of_topic(request: Request) -> Json[models.KafkaRecordList]:
    """Records of all partitions of a topic, from a cursor, or as in one partition."""
    call = await call_of(request)
    topic, bounds, cursor = segment(request, "topic"), _bounds(call), _query(call, "cursor")
    await call.require_cluster()
    async with part_of(call.request, Reading).reads.reader() as reader:
        partitions = await reader.partitions(topic)
        if cursor:
            starts = read_cursor(topic, cursor)
            new = [partition for partition in partitions if partition not in starts]
            starts |= await reader.offsets(topic, dict.fromkeys(new, EARLIEST)) if new else {}
            starts = {partition: starts[partition] for partition in partitions}
        else:
            starts = await _starts(call, reader, topic, partitions, bounds)
        pages = await _read(call, reader, topic, starts, bounds)
    cursor = write_cursor(topic, {partition: page.next_offset for partition, page in pages.items()})
    return await _answer(call, pages, {"cursor": cursor}, {"cursor": cursor})


def _bounds(call: Call) -> Bounds:
    isolation = _choice(call, "isolation", ("read_uncommitted", "read_committed"))
    return Bounds(
        _number(call, "max_records", 500, 1, _MAX_RECORDS),
        _number(call, "max_bytes", 1 << 20, 1, call.settings.consumer_request_max_bytes),
        _number(call, "max_wait_ms", 0, 0, _MAX_WAIT_MS),
        isolation == "read_committed",
        client_key(call.request, call.settings.trusted_proxies),
    )


def _query(call: Call, name: str) -> str | None:
    return call.request.query_params.get(name) if call.request.scope["query_string"] else None


def _number(call: Call, name: str, default: int, least: int, most: int) -> int:
    text = _query(call, name)
    if not text:
        return default
    if not (text.isascii() and text.isdigit()) or not least <= int(text[:20]) <= most:
        raise BAD_REQUEST(detail=f"{name} must be between {least} and {most} (was {text[:40]}).")
    return int(text)


def _choice(call: Call, name: str, values: tuple[str, ...]) -> str | None:
    text = _query(call, name)
    if text and text not in values:
        raise BAD_REQUEST(detail=f"{name} must be one of {', '.join(values)} (was {text[:40]}).")
    return text or None


async def _starts(call: Call, reader: TopicReader, topic: str, partitions: list[int], bounds: Bounds) -> dict[int, int]:
    """The offset to begin at, by partition."""
    offset, timestamp = _query(call, "offset"), _query(call, "timestamp")
    if offset and timestamp:
        raise BAD_REQUEST(detail="only one of offset and timestamp can be given.")
    if offset and offset not in _WORDS:
        return dict.fromkeys(partitions, _number(call, "offset", 0, 0, _MAX_OFFSET))
    if timestamp:
        is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 19
        at = int(timestamp) if is_number else milliseconds_of(timestamp)
    else:
        at = _WORDS[offset or "earliest"]
    return await reader.offsets(topic, dict.fromkeys(partitions, at), is_committed=bounds.is_committed)


async def _read(
    call: Call, reader: TopicReader, topic: str, starts: Mapping[int, int], bounds: Bounds
) -> dict[int, Page]:
    """Read; an offset out of range is replaced if the request says so. Raises OFFSET_OUT_OF_RANGE."""
    instead = _choice(call, "out_of_range", tuple(_WORDS))
    starts = dict(starts)
    for _ in range(len(starts) + 1):
        try:
            pages = await reader.read(topic, starts, bounds)
        except OutOfRange as error:
            partition = error.partition
            if instead is None:
                raise await _out_of_range(reader, topic, error) from None
            starts |= await reader.offsets(topic, {partition: _WORDS[instead]})
        else:
            rights = call.current_rights if bounds.wait_ms else None
            if rights is not None:
                # The rules may have changed during the wait.
                rights.require_topics("READ", (topic,))
            return pages
    raise await _out_of_range(reader, topic, OutOfRange(partition, starts[partition]))


async def _out_of_range(reader: TopicReader, topic: str, error: OutOfRange) -> ApiError:
    partition = error.partition
    earliest = (await reader.offsets(topic, {partition: EARLIEST}))[partition]
    latest = (await reader.offsets(topic, {partition: LATEST}))[partition]
    answer = OFFSET_OUT_OF_RANGE(offset=error.offset, partition=partition, earliest=earliest, latest=latest)
    answer.extra.update(partition_id=partition, earliest_offset=earliest, latest_offset=latest)
    return answer


async def _answer(
    call: Call, pages: Mapping[int, Page], fields: Mapping[str, Any], start: Mapping[str, str]
) -> Json[models.KafkaRecordList]:
    settings, reading = call.settings, part_of(call.request, Reading)
    records = [record for _, page in sorted(pages.items()) for record in page.records]
    options = Options(plain_unions=settings.avro_unions == "plain", stored=settings.avro_logical_types == "stored")
    rights = call.current_rights
    key, value = (
        DataDecoder(
            reading.schemas, options, rights, is_key=side == "key", required=_choice(call, f"{side}_type", TYPES)
        )
        for side in ("key", "value")
    )
    fails = _choice(call, "decode_errors", ("report", "fail")) == "fail"
    await key.load(records)
    await value.load(records)
    writer = RecordWriter(key, value, fails=fails)
    size = sum(record.size for record in records)
    is_light = key.is_light(size, len(records)) and value.is_light(size, len(records))
    try:
        data = await run_by_size(lambda: writer.write(records), size, reading.blocking, is_light=is_light)
    finally:
        RECORDS.undecodable(writer.faults)
    RECORDS.count_read(records, ANY)
    query = call.request.scope["query_string"].decode("latin-1")
    path = base_url(call.request, settings) + call.request.scope["raw_path"].decode("latin-1")
    metadata = {"self": f"{path}?{query}" if query else path, "next": f"{path}?{_next_query(query, start)}"}
    head = orjson.dumps({"kind": "KafkaRecordList", "metadata": metadata, **fields})
    return json_answer(b'%b,"data":[%b]}' % (head[:-1], data))


def _next_query(query: str, start: Mapping[str, str]) -> str:
    """The query of the next request, for what follows this one's answer."""
    others = [(name, value) for name, value in parse_qsl(query) if name not in ("offset", "timestamp", "cursor")]
    return urlencode([*start.items(), *others])
