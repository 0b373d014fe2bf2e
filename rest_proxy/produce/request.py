"""Serving a produce request, from its body to the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec.json import Decoder

from compat.schema import Reference
from magicbyte.kit.errors import ApiError
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import (
    BAD_REQUEST,
    INVALID_ENTITY,
    KAFKA_AUTHENTICATION,
    KAFKA_AUTHORIZATION,
    KEY_SCHEMA_MISSING,
    VALUE_SCHEMA_MISSING,
)
from rest_proxy.exchange import bodies
from rest_proxy.exchange.dialect import Dialect, Outcome
from rest_proxy.exchange.kafka_span import produce_span
from rest_proxy.formats.embedded import EmbeddedFormat
from rest_proxy.formats.frame_places import ID_SERIALIZERS, Header
from rest_proxy.formats.plain import TAGGED, Options
from rest_proxy.formats.schemas import Source
from rest_proxy.formats.writers import Writer
from rest_proxy.metrics import PRODUCE, RECORDS, REFUSED
from rest_proxy.produce.loop_producer import Record
from rest_proxy.produce.parts import Producing
from rest_proxy.produce.record_encoder import RecordEncoder, encode_records
from rest_proxy.produce.ruled_records import RefusedRecord, with_refusals
from rest_proxy.produce.sent import outcomes_in_time
from rest_proxy.produce.time_limit import RequestTime
from rest_proxy.produce.topic_creation import may_create_topic
from serdes.json_bytes import WrittenFloat, has_long_numbers

#: A strict decoder: a lenient one would read "null", which is valid base64, as null.
_BYTES_REQUEST = Decoder(bodies.BytesProduceRequest)
_RAW_REQUEST: Decoder[bodies.RawProduceRequest] = bodies.reader_of(bodies.RawProduceRequest)
_DATA_REQUEST: Decoder[bodies.DataProduceRequest] = bodies.reader_of(bodies.DataProduceRequest)
#: The same, for numbers with more digits than a float keeps; a request is read again if its schema needs them.
_EXACT_REQUEST: Decoder[bodies.DataProduceRequest] = bodies.reader_of(
    bodies.DataProduceRequest, float_hook=WrittenFloat
)
_MAX_PARTITION = 2**31 - 1
_NOT_AUTHORIZED = frozenset((KAFKA_AUTHENTICATION.code, KAFKA_AUTHORIZATION.code))
_REQUEST_TIME = RequestTime()


class Produce(NamedTuple):
    """A produce request.

    `partition` is from the path, for records that name none; `acks` and `timeout_ms` are from the query or settings.
    """

    dialect: Dialect
    form: EmbeddedFormat
    topic: str
    partition: int | None
    body: bytes
    acks: str
    timeout_ms: int
    options: Options = TAGGED
    #: The client's rights; None if access is not restricted.
    rights: ProxyRights | None = None

    def misfit(self, detail: str) -> ApiError:
        """Make the error for a record that its format or schema refuses."""
        return self.dialect.misfit(self.form, detail)


async def produce(parts: Producing, request: Produce) -> tuple[int, bytes]:
    """Encode and send all records of a request, or none if one can't be encoded; rules stop single records.

    Returns:
        The status and body of the answer.

    Raises:
        ApiError: The request is refused, and nothing was sent.
    """
    if "\0" in request.topic:
        raise INVALID_ENTITY(detail="topic must not hold a null character")
    parsed = _parse(request.form, request.body)
    records = parsed.records
    if not records:
        raise INVALID_ENTITY(detail=f"records must not be empty (was {'[]' if records is not None else 'null'})")
    highest = _highest_partition(request, records)
    if highest >= 0:
        await parts.cluster.require_partition(request.topic, highest, topic_may_be_missing=True)
    may_create = request.rights is None or await may_create_topic(request.rights, parts.cluster, request.topic)
    if isinstance(parsed, bodies.DataProduceRequest):
        return await _produce_data(parts, request, parsed, may_create=may_create)
    if isinstance(parsed, bodies.BytesProduceRequest):
        encoded = _as_they_are(request, records)
    else:
        text = request.form.encode
        assert text is not None
        partition = -1 if request.partition is None else request.partition
        encoded = encode_records(records, text, text, request.misfit, partition=partition, are_texts=True)
    outcomes = await _send(parts, request, encoded, may_create=may_create)
    return _status(outcomes), request.dialect.produced(outcomes, None, None)


async def _produce_data(
    parts: Producing, request: Produce, parsed: bodies.DataProduceRequest, *, may_create: bool
) -> tuple[int, bytes]:
    """Produce records whose keys and values have schemas. Returns and raises as `produce`."""
    records = parsed.records or []
    encoder = RecordEncoder(parts, request.topic, request.options, _REQUEST_TIME, request.misfit)
    key, value = await _writers(encoder, request, parsed, records)
    needs_digits = (key is not None and key.needs_digits) or (value is not None and value.needs_digits)
    if needs_digits and has_long_numbers(request.body):
        records = bodies.read(_EXACT_REQUEST, request.body).records or []
    partition, json_size = -1 if request.partition is None else request.partition, len(request.body)
    judged: Sequence[Record | RefusedRecord] = ()
    if (key is not None and key.ruled) or (value is not None and value.ruled):
        judged = await encoder.encode_ruled(records, key, value, partition=partition, json_size=json_size)
        encoded = [record for record in judged if not isinstance(record, RefusedRecord)]
    else:
        encoded = await encoder.encode_all(records, key, value, partition=partition, json_size=json_size)
    key_header, value_header = key and key.header, value and value.header
    if key_header or value_header:
        encoded = _with_frames(encoded, key_header, value_header)
    if len(encoded) < len(judged):
        RECORDS.tally(PRODUCE, request.form.name, request.topic).add(REFUSED, len(judged) - len(encoded))
        sent = await _send(parts, request, encoded, may_create=may_create) if encoded else ()
        outcomes: Sequence[Outcome] = with_refusals(judged, sent)
    else:
        outcomes = await _send(parts, request, encoded, may_create=may_create)
    return _status(outcomes), request.dialect.produced(outcomes, key and key.schema_id, value and value.schema_id)


async def _send(
    parts: Producing, request: Produce, records: Sequence[Record], *, may_create: bool
) -> Sequence[Outcome]:
    """Send records; returns their outcomes when the brokers have answered, or when the time is over."""
    with produce_span(request.topic, len(records)):
        producers = parts.producers.of_sender(may_create=may_create)
        batch = producers.send_batch(request.topic, records, request.acks, request.form.name)
        # asyncio.timeout with a shield would cost ten times as much.
        deadline = parts.deadlines.after(request.timeout_ms / 1000, batch.give_up)
        try:
            await batch.done
        finally:
            deadline.cancel()
    return outcomes_in_time(batch, request.timeout_ms)


async def _writers(
    encoder: RecordEncoder, request: Produce, parsed: bodies.DataProduceRequest, records: Sequence[Any]
) -> tuple[Writer | None, Writer | None]:
    key = _source(
        parsed.key_schema,
        parsed.key_schema_id,
        parsed.key_schema_references,
        parsed.key_schema_id_serializer,
        "key",
    )
    value = _source(
        parsed.value_schema,
        parsed.value_schema_id,
        parsed.value_schema_references,
        parsed.value_schema_id_serializer,
        "value",
    )
    if key is None and any(record.key is not None for record in records):
        raise KEY_SCHEMA_MISSING()
    if value is None and any(record.value is not None for record in records):
        raise VALUE_SCHEMA_MISSING()
    return (
        await encoder.writer(request.form, "key", key, request.rights) if key else None,
        await encoder.writer(request.form, "value", value, request.rights) if value else None,
    )


def _parse(
    form: EmbeddedFormat, body: bytes
) -> bodies.BytesProduceRequest | bodies.RawProduceRequest | bodies.DataProduceRequest:
    if form.base64:
        try:
            return _BYTES_REQUEST.decode(body)
        except (ValueError, RecursionError):
            pass  # the padding is missing or the body is wrong: the slower way below tells
    if form.encode is None:
        return bodies.read(_DATA_REQUEST, body)
    return bodies.read(_RAW_REQUEST, body if form.prepare is None else form.prepare(body))


def _highest_partition(request: Produce, records: Sequence[Any]) -> int:
    """The highest partition that a record names; -1 if none names one.

    Raises:
        ApiError: INVALID_ENTITY for a number that no partition has.
    """
    highest = -1 if request.partition is None else request.partition
    for index, record in enumerate(records):
        partition = record.partition
        if partition is None:
            continue
        if not 0 <= partition <= _MAX_PARTITION:
            detail = f"records[{index}].partition must be between 0 and {_MAX_PARTITION} (was {partition})"
            raise INVALID_ENTITY(detail=detail)
        highest = max(highest, partition)
    return highest


def _source(
    text: str | None,
    schema_id: int | None,
    references: Sequence[bodies.SchemaReference] | None,
    serializer: str | None,
    side: str,
) -> Source | None:
    if serializer is not None and serializer not in ID_SERIALIZERS:
        allowed = ", ".join(ID_SERIALIZERS)
        raise INVALID_ENTITY(detail=f"{side}_schema_id_serializer must be one of {allowed} (was {serializer[:64]})")
    if text is not None and schema_id is not None:
        raise BAD_REQUEST(detail=f"Only one of '{side}_schema_id' or '{side}_schema' can be used.")
    if text is None and schema_id is None:
        return None
    if schema_id is not None and not 0 <= schema_id < 2**31:
        raise INVALID_ENTITY(detail=f"{side}_schema_id must be between 0 and {2**31 - 1} (was {schema_id})")
    pinned = tuple(Reference(reference.name, reference.subject, reference.version) for reference in references or ())
    return Source(text, schema_id, pinned, in_header=None if serializer is None else ID_SERIALIZERS[serializer])


def _with_frames(records: list[Record], key_header: Header | None, value_header: Header | None) -> list[Record]:
    """The records, with the headers of the keys and values that they have."""
    framed: list[Record] = []
    for key, value, partition, timestamp, _ in records:
        headers = None if key is None or key_header is None else [key_header]
        if value is not None and value_header is not None:
            headers = [*(headers or ()), value_header]
        framed.append((key, value, partition, timestamp, headers))
    return framed


def _as_they_are(request: Produce, records: Sequence[Any]) -> list[Record]:
    default = -1 if request.partition is None else request.partition
    return [
        (record.key, record.value, default if record.partition is None else record.partition, 0, None)
        for record in records
    ]


def _status(outcomes: Sequence[Outcome]) -> int:
    """The status: 200 even if records failed, but 401 or 403 by the first one not authorized (spec section 3)."""
    for outcome in outcomes:
        code = outcome[2]
        if code is not None and code in _NOT_AUTHORIZED:
            return code // 100
    return 200
