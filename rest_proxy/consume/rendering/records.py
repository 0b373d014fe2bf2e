"""Rendering records as the JSON of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import orjson

from rest_proxy.consume.rendering.run_by_size import run_by_size
from rest_proxy.errors import SERIALIZATION
from rest_proxy.formats.embedded import EmbeddedFormat
from rest_proxy.formats.plain import NULL, DataError, Options
from rest_proxy.formats.schemas import SchemaId, Schemas
from serdes.error import WireError
from serdes.message import wire


class Rendered(NamedTuple):
    """A JSON array of the first `done` records, and the error of the next one if it stopped the rendering."""

    body: bytes
    done: int
    failure: DataError | None


async def render(
    messages: Sequence[Any],
    form: EmbeddedFormat,
    schemas: Schemas,
    options: Options,
    *,
    report_errors: bool,
    blocking: Executor,
) -> Rendered:
    """Render records, up to the first that does not decode unless `report_errors` is set.

    Args:
        messages: Records of the consumer.
        form: The format of their keys and values.
        schemas: The source of decoders.
        options: How schema data is written in JSON.
        report_errors: Render a record that does not decode with its `error_code` and `error`.
        blocking: The threads that render large batches.
    """
    unusable = await _load(messages, form, schemas, options) if form.schema_type is not None else {}
    return await run_by_size(
        lambda: _render(messages, form, schemas, options, unusable, report_errors=report_errors),
        sum(map(len, messages)),
        blocking,
    )


async def _load(
    messages: Sequence[Any], form: EmbeddedFormat, schemas: Schemas, options: Options
) -> dict[SchemaId, DataError]:
    """Resolve the schemas that the records name; returns the errors of those that cannot be used."""
    schema_ids: set[SchemaId] = set()
    for message in messages:
        headers = message.headers()
        for data, is_key in ((message.key(), True), (message.value(), False)):
            if data is not None:
                try:
                    schema_ids.add(framed(data, headers, is_key=is_key).schema_id)
                except DataError:
                    continue
    unusable: dict[SchemaId, DataError] = {}
    for schema_id in schema_ids:
        try:
            await schemas.reader(form, schema_id, options)
        except DataError as error:
            unusable[schema_id] = error
    return unusable


class Framed(NamedTuple):
    """The schema that a message names, and its payload from an offset on."""

    schema_id: SchemaId
    data: bytes
    offset: int


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
    if frame.rest:  # message indexes in the header instead of before the payload
        return Framed(schema_id, frame.rest + data[frame.offset :], 0)
    return Framed(schema_id, data, frame.offset)


def _render(
    messages: Sequence[Any],
    form: EmbeddedFormat,
    schemas: Schemas,
    options: Options,
    unusable: dict[SchemaId, DataError],
    *,
    report_errors: bool,
) -> Rendered:
    plain = form.decode

    def decode(data: bytes | None, headers: Any, *, is_key: bool) -> bytes:
        if plain is not None:
            return plain(data)
        if data is None:
            return NULL
        schema_id, payload, offset = framed(data, headers, is_key=is_key)
        read = schemas.known_reader(form, schema_id, options)
        if read is None:
            raise unusable.get(schema_id) or DataError("", f"schema {schema_id} is not available")
        return read(payload, offset)

    topics: dict[str, bytes] = {}
    parts: list[bytes] = []
    for message in messages:
        name = message.topic()
        topic = topics.get(name) or topics.setdefault(name, orjson.dumps(name))
        headers = None if plain is not None else message.headers()
        key = value = NULL
        failure: DataError | None = None
        side = "key"
        try:
            key = decode(message.key(), headers, is_key=True)
            side = "value"
            value = decode(message.value(), headers, is_key=False)
        except DataError as error:
            failure = DataError(side, str(error))
        if failure is None:
            parts.append(
                b'{"topic":%b,"key":%b,"value":%b,"partition":%d,"offset":%d}'
                % (topic, key, value, message.partition(), message.offset())
            )
        elif report_errors:
            parts.append(
                b'{"topic":%b,"key":%b,"value":%b,"partition":%d,"offset":%d,"error_code":%d,"error":%b}'
                % (
                    topic,
                    key,
                    value,
                    message.partition(),
                    message.offset(),
                    SERIALIZATION.code,
                    orjson.dumps(str(failure)),
                )
            )
        else:
            return Rendered(b"[%b]" % b",".join(parts), len(parts), failure)
    return Rendered(b"[%b]" % b",".join(parts), len(parts), None)
