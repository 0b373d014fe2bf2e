"""Reads for Confluent's IDE plug-ins: their message viewers send back the offsets of the last answer."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from magicbyte.http.routing.clients import client_key
from magicbyte.http.routing.response import Json
from rest_proxy.admin.offsets import EARLIEST, LATEST
from rest_proxy.consume.parts import Reading
from rest_proxy.consume.rendering.run_by_size import run_by_size
from rest_proxy.consume.rendering.typed_data import DataDecoder
from rest_proxy.consume.stateless.bounds import Bounds
from rest_proxy.errors import BAD_REQUEST, PARTITION_NOT_FOUND
from rest_proxy.exchange.parts import part_of
from rest_proxy.formats.plain import DataError, Options
from rest_proxy.formats.schemas import Schemas
from rest_proxy.metrics import ANY, RECORDS
from rest_proxy.v3 import models
from rest_proxy.v3.call import Call, ClusterCall
from rest_proxy.v3.envelopes import answer
from rest_proxy.v3.models.requests import ConsumeRequest
from rest_proxy.v3.parameters.bodies import ConsumeBody
from rest_proxy.v3.parameters.paths import TopicFirst
from rest_proxy.v3.parameters.queries import RawBase64

if TYPE_CHECKING:
    from rest_proxy.consume.stateless.fetched import FetchedRecord, Page
    from rest_proxy.consume.stateless.topic_reader import TopicReader

_MAX_RECORDS = 10_000
#: The most bytes of a key or value that is shown, if the request names no other limit.
_SHOWN_BYTES = 4 << 20
_MAX_OFFSET = 2**63 - 1


async def consume(
    call: ClusterCall, *, topic: TopicFirst, request: ConsumeBody, is_raw: RawBase64 = False
) -> Json[models.ConsumeAnswer]:
    """Records of some or all partitions, each from its offset, as Confluent's IDE plug-ins read them."""
    most_bytes = call.settings.consumer_request_max_bytes
    bounds = Bounds(
        _at_most("max_poll_records", request.max_poll_records, 500, _MAX_RECORDS),
        _at_most("fetch_max_bytes", request.fetch_max_bytes, most_bytes, most_bytes),
        client=client_key(call.request, call.settings.trusted_proxies),
    )
    shown_bytes = _at_most("message_max_bytes", request.message_max_bytes, _SHOWN_BYTES, most_bytes)
    await call.require_cluster()
    reading = part_of(call.request, Reading)
    async with reading.reads.reader() as reader:
        pages = await reader.read(topic, await _starts(reader, topic, request), bounds)
    records = [record for page in pages.values() for record in page.records]
    viewer = None if is_raw else await _Viewer.of(call, reading.schemas, records)
    size = sum(record.size for record in records)
    is_light = viewer is None or viewer.is_light(size, len(records))
    partitions = await run_by_size(
        lambda: _partitions(pages, viewer, shown_bytes), size, reading.blocking, is_light=is_light
    )
    RECORDS.count_read(records, ANY)
    RECORDS.undecodable(0 if viewer is None else viewer.faults)
    return answer({"cluster_id": call.cluster_id, "topic_name": topic, "partition_data_list": partitions})


def _partitions(pages: Mapping[int, Page], viewer: _Viewer | None, shown_bytes: int) -> list[dict[str, Any]]:
    return [
        {
            "partition_id": partition,
            "next_offset": page.next_offset,
            "records": [_record(record, viewer, shown_bytes) for record in page.records],
        }
        for partition, page in sorted(pages.items())
    ]


def _at_most(name: str, number: int | None, default: int, most: int) -> int:
    """A bound of the request; one that is too large is lowered. Raises BAD_REQUEST if it is not above 0."""
    if number is None:
        return min(default, most)
    if number <= 0:
        raise BAD_REQUEST(detail=f"{name} must be above 0 (was {number}).")
    return min(number, most)


async def _starts(reader: TopicReader, topic: str, request: ConsumeRequest) -> dict[int, int]:
    """Return each partition's start; an offset outside the log moves to its nearer end, so that each proceeds."""
    partitions = await reader.partitions(topic)
    if request.offsets:
        requested = {place.partition_id: place.offset for place in request.offsets}
        if not set(requested) <= set(partitions):
            raise PARTITION_NOT_FOUND()
        earliest = await reader.offsets(topic, dict.fromkeys(requested, EARLIEST))
        latest = await reader.offsets(topic, dict.fromkeys(requested, LATEST))
        return {
            partition: max(earliest[partition], min(offset, latest[partition]))
            for partition, offset in requested.items()
        }
    at = request.timestamp if request.timestamp is not None else EARLIEST if request.from_beginning else LATEST
    if request.timestamp is not None and not 0 <= request.timestamp <= _MAX_OFFSET:
        raise BAD_REQUEST(detail=f"timestamp must be between 0 and {_MAX_OFFSET} (was {request.timestamp}).")
    return await reader.offsets(topic, dict.fromkeys(partitions, at))


class _Viewer:
    """Shows keys and values: as JSON if they are JSON or have a schema, else as a text."""

    def __init__(self, key: DataDecoder, value: DataDecoder) -> None:
        self._decoders = {"key": key, "value": value}
        #: How many keys and values did not decode.
        self.faults = 0

    @classmethod
    async def of(cls, call: Call, schemas: Schemas, records: list[FetchedRecord]) -> _Viewer:
        """Prepare for some records."""
        rights = call.current_rights
        options = Options(stored=call.settings.avro_logical_types == "stored")
        key, value = (DataDecoder(schemas, options, rights, is_key=is_key) for is_key in (True, False))
        await key.load(records)
        await value.load(records)
        return cls(key, value)

    def is_light(self, size: int, count: int) -> bool:
        """Whether showing so many records with a total size in bytes may run on the event loop."""
        return all(decoder.is_light(size, count) for decoder in self._decoders.values())

    def show(self, record: FetchedRecord, side: str, shown: dict[str, Any]) -> Any:
        """A key or value; notes in `shown` the schema, or why it does not decode."""
        try:
            decoded = self._decoders[side].decode(record)
        except DataError as error:
            self.faults += 1
            shown[f"{side}_decoding_error"] = str(error)
            decoded = None
        if decoded is not None and decoded.schema_id is not None:
            name = "schema_id" if isinstance(decoded.schema_id, int) else "schema_guid"
            shown.setdefault("metadata", {})[f"{side}_{name}"] = decoded.schema_id
        if decoded is None or decoded.type == "BINARY":
            data = record.key() if side == "key" else record.value()
            return None if data is None else {"__raw__": b64encode(data).decode()}
        return orjson.Fragment(decoded.data)


def _record(record: FetchedRecord, viewer: _Viewer | None, shown_bytes: int) -> dict[str, Any]:
    is_set_by_broker, milliseconds = record.timestamp()
    shown: dict[str, Any] = {
        "partition_id": record.partition(),
        "offset": record.offset(),
        "timestamp": -1 if milliseconds is None else milliseconds,
        "timestamp_type": "LOG_APPEND_TIME" if is_set_by_broker else "CREATE_TIME",
        "headers": [_header(name, value) for name, value in record.headers()],
    }
    exceeded: dict[str, bool] = {}
    for side, data in (("key", record.key()), ("value", record.value())):
        exceeded[side] = data is not None and len(data) > shown_bytes
        if data is None or exceeded[side]:
            shown[side] = None
        elif viewer is None:
            shown[side] = {"__raw__": b64encode(data).decode()}
        else:
            shown[side] = viewer.show(record, side, shown)
    shown["exceeded_fields"] = exceeded
    return shown


def _header(name: str, value: bytes | None) -> dict[str, str | None]:
    """A header under the name that older clients read, and under the newer one."""
    return {"key": name, "name": name, "value": None if value is None else b64encode(value).decode()}
