"""Records as v3's reads return them; they can be produced again unchanged."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Sequence

import orjson

from rest_proxy.consume.rendering.typed_data import DataDecoder, Decoded
from rest_proxy.consume.stateless.fetched import FetchedRecord
from rest_proxy.formats.instants import instant
from rest_proxy.formats.plain import NULL, DataError, bytes_to_base64


class RecordWriter:
    """Writes records as JSON."""

    def __init__(self, key: DataDecoder, value: DataDecoder, *, fails: bool) -> None:
        """Begin.

        Args:
            key: Decodes keys.
            value: Decodes values.
            fails: Whether a key or value that does not decode raises; else the error is written in its place.
        """
        self._key = key
        self._value = value
        self._fails = fails
        #: How many keys and values did not decode.
        self.faults = 0

    def write(self, records: Sequence[FetchedRecord]) -> bytes:
        """The JSON of records, separated by commas.

        Raises:
            ApiError: SERIALIZATION if a key or value does not decode, KAFKA_AUTHORIZATION if its schema may not be
                read; names its record.
        """
        return b",".join([self._record(record) for record in records])

    def _record(self, record: FetchedRecord) -> bytes:
        is_set_by_broker, milliseconds = record.timestamp()
        return (
            b'{"topic_name":%b,"partition_id":%d,"offset":%d,"timestamp":%b,"timestamp_type":"%b","headers":[%b],'
            b'"key":%b,"value":%b}'
        ) % (
            orjson.dumps(record.topic()),
            record.partition(),
            record.offset(),
            NULL if milliseconds is None else b'"%b"' % instant(milliseconds),
            b"LOG_APPEND_TIME" if is_set_by_broker else b"CREATE_TIME",
            b",".join(
                b'{"name":%b,"value":%b}' % (orjson.dumps(name), bytes_to_base64(value))
                for name, value in record.headers()
            ),
            self._data(record, self._key, record.key(), "key"),
            self._data(record, self._value, record.value(), "value"),
        )

    def _data(self, record: FetchedRecord, decoder: DataDecoder, data: bytes | None, side: str) -> bytes:
        if data is None:
            return NULL
        try:
            decoded = decoder.decode(record)
        except DataError as error:
            self.faults += 1
            text = f"The {side} of partition {record.partition()} at offset {record.offset()} does not decode: {error}"
            if self._fails:
                raise error.kind(detail=text) from None
            return b'{"error_code":%d,"error":%b,"raw":"%b"}' % (
                error.kind.code,
                orjson.dumps(text),
                b2a_base64(data, newline=False),
            )
        assert decoded is not None
        return b'{"type":"%b",%b"size":%d,"data":%b}' % (
            decoded.type.encode(),
            _schema(decoded),
            len(data),
            decoded.data,
        )


def _schema(decoded: Decoded) -> bytes:
    """The members that name the schema, as requests to produce have them."""
    schema_id = decoded.schema_id
    if schema_id is None:
        return b""
    if isinstance(schema_id, int):
        return b'"schema_id":%d,' % schema_id
    place = b'"schema_id_serializer":"HEADER",' if decoded.in_header else b""
    return b'"schema_guid":"%b",%b' % (str(schema_id).encode(), place)
