"""Rendering records as the JSON of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple, Protocol

import orjson

from rest_proxy.access.rights import ProxyRights
from rest_proxy.consume.rendering.run_by_size import run_by_size
from rest_proxy.formats.embedded import PROTOBUF, EmbeddedFormat
from rest_proxy.formats.plain import NULL, DataError, Options, bytes_to_base64
from rest_proxy.formats.ruled import ReadRecord, RuledReading, TopicSide, are_light
from rest_proxy.formats.schema_reading import HiddenSchema, SchemaId
from rest_proxy.formats.schemas import Read, Schemas
from rest_proxy.metrics import RECORDS
from serdes.error import WireError
from serdes.message import wire


class Rendered(NamedTuple):
    """A JSON array of the first `done` records, and the error of the next one if it stopped the rendering.

    `faults` counts the records that do not decode, in the array and behind it.
    """

    body: bytes
    done: int
    failure: DataError | None
    faults: int = 0


async def render(
    messages: Sequence[Any],
    form: EmbeddedFormat,
    schemas: Schemas,
    options: Options,
    *,
    rights: ProxyRights | None,
    report_errors: bool,
    blocking: Executor,
) -> Rendered:
    """Render records, up to the first that does not decode unless `report_errors` is set.

    Args:
        messages: Records of the consumer.
        form: The format of their keys and values.
        schemas: The source of decoders.
        options: How schema data is written in JSON.
        rights: The client's rights to schemas; None if access is not restricted. A key or value whose schema the client
            may not read is rendered as base64, with the reason.
        report_errors: Render a record that does not decode with its `error_code` and `error`.
        blocking: The threads that render large batches.
    """
    readers = await _load(messages, form, schemas, options, rights) if form.schema_type is not None else {}
    size = sum(map(len, messages))
    rendered = await run_by_size(
        lambda: _render(messages, form, readers, report_errors=report_errors),
        size,
        blocking,
        is_light=are_light(readers.values(), size, len(messages)),
    )
    RECORDS.count_read(messages[: rendered.done], form.name)
    RECORDS.undecodable(rendered.faults)
    return rendered


async def _load(
    messages: Sequence[Any], form: EmbeddedFormat, schemas: Schemas, options: Options, rights: ProxyRights | None
) -> dict[SchemaId, Read | RuledReading | DataError]:
    """Return the decoder of each schema that the records name, or the error of one that cannot be used."""
    schema_ids: set[SchemaId] = set()
    for message in messages:
        headers = message.headers()
        for data, is_key in ((message.key(), True), (message.value(), False)):
            if data is not None:
                try:
                    schema_ids.add(framed(data, headers, is_key=is_key).schema_id)
                except DataError:
                    continue
    topics = {message.topic() for message in messages}
    readers: dict[SchemaId, Read | RuledReading | DataError] = {}
    for schema_id in schema_ids:
        try:
            read = readers[schema_id] = await schemas.reader(form, schema_id, options, rights)
            if isinstance(read, RuledReading):
                for topic in topics:
                    await read.load(TopicSide(topic, is_key=True))
                    await read.load(TopicSide(topic, is_key=False))
        except DataError as error:
            readers[schema_id] = error
    return readers


class Framed(NamedTuple):
    """The schema that a message names, its payload from an offset on, and the frame if it is in a header."""

    schema_id: SchemaId
    data: bytes
    offset: int
    header: wire.Frame | None = None

    def decoded(self, form: EmbeddedFormat, read: Read) -> bytes:
        """The payload as JSON text; raises DataError."""
        if self.header is None or form is not PROTOBUF:
            return read(self.data, self.offset)
        try:
            return read(wire.header_indexes(self.header) + self.data, 0)
        except WireError as error:
            raise DataError("", str(error)) from None


def framed(data: bytes, headers: Any, *, is_key: bool) -> Framed:
    """The schema and the payload of a key or value; raises DataError if it is not framed."""
    if data[:1] == b"\x00" and len(data) >= wire.V0_SIZE and not headers:
        return Framed(int.from_bytes(data[1:5], "big"), data, wire.V0_SIZE)
    try:
        frame = wire.read_dual(data, headers, is_key=is_key)
    except WireError as error:
        raise DataError("", str(error)) from None
    schema_id = frame.schema_id if frame.schema_id is not None else frame.guid
    assert schema_id is not None
    return Framed(schema_id, data, frame.offset, frame if frame.offset == 0 else None)


def _render(
    messages: Sequence[Any],
    form: EmbeddedFormat,
    readers: dict[SchemaId, Read | RuledReading | DataError],
    *,
    report_errors: bool,
) -> Rendered:
    plain = form.decode

    def decode(data: bytes | None, headers: Any, *, is_key: bool) -> bytes:
        if plain is not None:
            return plain(data)
        if data is None:
            return NULL
        part = framed(data, headers, is_key=is_key)
        read = readers[part.schema_id]
        if isinstance(read, DataError):
            raise read
        if isinstance(read, RuledReading):
            read = verdicts.reader(read, message, headers, data, is_key=is_key)
        return part.decoded(form, read)

    verdicts = _Verdicts()
    topics: dict[str, bytes] = {}
    parts: list[bytes] = []
    faults = 0
    for message in messages:
        name = message.topic()
        topic = topics.get(name) or topics.setdefault(name, orjson.dumps(name))
        headers = None if plain is not None else message.headers()
        reason = b""
        try:
            key = decode(message.key(), headers, is_key=True)
            value = decode(message.value(), headers, is_key=False)
        except DataError:
            # Few records have a fault. Telling them apart for each record would take half as long as the rest.
            key, value, hidden, failure = _faulty(message, headers, decode)
            faults += failure is not None
            if failure is not None and not report_errors:
                return Rendered(b"[%b]" % b",".join(parts), len(parts), failure, faults)
            if (reported := failure or hidden) is not None:
                reason = b',"error_code":%d,"error":%b' % (reported.kind.code, orjson.dumps(str(reported)))
        parts.append(
            b'{"topic":%b,"key":%b,"value":%b,"partition":%d,"offset":%d%b}'
            % (topic, key, value, message.partition(), message.offset(), reason)
        )
    return Rendered(b"[%b]" % b",".join(parts), len(parts), None, faults)


class _Verdicts:
    """The verdicts of rules on the record in hand: they run once, also if a fault of the record is then explained."""

    def __init__(self) -> None:
        self._message: Any = None
        self._of: dict[bool, bytes | DataError] = {}

    def reader(self, reading: RuledReading, message: Any, headers: Any, data: bytes, *, is_key: bool) -> Read:
        """The function that decodes a key or value."""
        if message is not self._message:
            self._message = message
            self._of.clear()
        read = reading.read(ReadRecord(TopicSide(message.topic(), is_key), headers, data, message.key()))

        def read_once(data: bytes, offset: int) -> bytes:
            if is_key not in self._of:
                try:
                    self._of[is_key] = read(data, offset)
                except DataError as error:
                    self._of[is_key] = error
            verdict = self._of[is_key]
            if isinstance(verdict, DataError):
                raise verdict
            return verdict

        return read_once


class _Decode(Protocol):
    """Renders a key or a value; raises DataError."""

    def __call__(self, data: bytes | None, headers: Any, *, is_key: bool) -> bytes: ...


class _Faulty(NamedTuple):
    """A record with a fault: its key and value as far as they can be shown, and the errors of both kinds."""

    key: bytes
    value: bytes
    hidden: DataError | None
    failure: DataError | None


def _faulty(message: Any, headers: Any, decode: _Decode) -> _Faulty:
    sides = [NULL, NULL]
    hidden: DataError | None = None
    for at, data in enumerate((message.key(), message.value())):
        try:
            sides[at] = decode(data, headers, is_key=at == 0)
        except HiddenSchema as error:
            sides[at] = bytes_to_base64(data)
            hidden = hidden or _of_side(at, error)
        except DataError as error:
            return _Faulty(sides[0], sides[1], hidden, _of_side(at, error))
    return _Faulty(sides[0], sides[1], hidden, None)


def _of_side(at: int, error: DataError) -> DataError:
    """The error of a record whose key (0) or value (1) has an error."""
    return DataError("key" if at == 0 else "value", str(error), error.kind)
