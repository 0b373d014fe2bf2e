"""Encoding the records of v3 one by one: most at once, others after the registry or a thread has answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from time import monotonic
from typing import Any, NamedTuple

import msgspec
import orjson

from magicbyte.http.errors import UNAUTHORIZED
from magicbyte.kit.errors import ApiError
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import BAD_REQUEST
from rest_proxy.formats.embedded import FORMATS
from rest_proxy.formats.frame_places import Header, Headers, with_frame
from rest_proxy.formats.plain import NULL, DataError, Options, base64_to_bytes, json_string_to_bytes, json_to_bytes
from rest_proxy.formats.ruled import RecordInHand
from rest_proxy.formats.writers import Writer
from rest_proxy.produce.entry import SCHEMA_TYPES, Data, Entry, data_form, headers_of, partition_of, timestamp_of
from rest_proxy.produce.loop_producer import Record
from rest_proxy.produce.parts import Producing
from rest_proxy.produce.record_encoder import RecordEncoder
from rest_proxy.produce.time_limit import RefusedTime
from serdes.json_bytes import WrittenFloat, compact, has_long_numbers

#: How long an encoding is kept, in seconds: rights, rules and latest versions may change meanwhile.
_KEPT_SECONDS = 1.0
_MOST_KEPT = 1000
#: The registry's type of schemas -> the type in v3.
TYPES = {"AVRO": "AVRO", "JSON": "JSONSCHEMA", "PROTOBUF": "PROTOBUF"}


class Encoded(NamedTuple):
    """A record's bytes, and its report's members for key and value (JSON); None if the record has none."""

    record: Record
    key: bytes | None
    value: bytes | None

    @property
    def form(self) -> str:
        """The name of the value's format, or of the key's if there is no value; `none` without both."""
        report = self.value or self.key
        # It begins with {"type":"NAME", and has only our own text up to there.
        return "none" if report is None else report[9 : report.index(b'"', 9)].decode().lower()


class _Encoding(NamedTuple):
    """The encoding of data.

    Attributes:
        encode: From JSON text to bytes, if that never takes long.
        slow: The writer of parsed JSON, if a thread may be needed; None if not.
        has_schema: Whether a schema encodes the data.
        report: The report, without the size.
        header: Goes with each record that has such data; None if the frame is before the data, or there is none.
    """

    encode: Callable[[bytes], bytes | None]
    slow: Writer | None
    has_schema: bool
    report: bytes
    header: Header | None = None


class _Part(NamedTuple):
    """An encoded key or value: its bytes (None for a Kafka null), its report, and how it was encoded."""

    data: bytes | None
    report: bytes
    encoding: _Encoding


def _json(text: bytes) -> bytes | None:
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            raise DataError("", "data is not UTF-8.") from None
    return json_to_bytes(compact(text))


_PLAIN = {
    name: _Encoding(encode, None, False, b'{"type":"%b","size":%%d}' % name.encode())
    for name, encode in (("BINARY", base64_to_bytes), ("STRING", json_string_to_bytes), ("JSON", _json))
}


#: Parses numbers with more digits than a float keeps.
_exact = msgspec.json.Decoder(float_hook=WrittenFloat).decode


def _with_digits(text: bytes) -> Any:
    return _exact(text) if has_long_numbers(text) else msgspec.json.decode(text)


def _parser(writer: Writer) -> Callable[[bytes], Any]:
    return _with_digits if writer.needs_digits else msgspec.json.decode


class EntryEncoder:
    """Encodes the records that one client sends to one topic."""

    def __init__(
        self,
        topic: str,
        producing: Producing,
        options: Options,
        rights: ProxyRights | None,
        is_still_good: Callable[[], Awaitable[bool]] | None,
    ) -> None:
        """Begin.

        Args:
            topic: The topic.
            producing: The source of writers, threads that encode, and the partitions that exist.
            options: How schema data is written in JSON.
            rights: The client's rights; None if access is not restricted.
            is_still_good: Tells whether the client's credentials are good; None if nobody has to sign in.
        """
        self._topic = topic
        self._cluster = producing.cluster
        self._encoder = RecordEncoder(producing, topic, options, RefusedTime(), _refusal)
        self._rights = rights
        self._is_still_good = is_still_good
        self._kept: dict[str, dict[Hashable, _Encoding]] = {"key": {}, "value": {}}
        self._kept_until = 0.0
        #: Partitions below this number exist.
        self._partitions = 0

    def encode_now(self, entry: Entry) -> Encoded | None:
        """Encode a record; None if something must be awaited first, as `encode` does.

        Raises:
            ApiError: The record is refused.
        """
        partition = partition_of(entry)
        if monotonic() >= self._kept_until or partition >= self._partitions:
            return None
        key = value = None
        if entry.key is not None:
            encoding = self._kept["key"].get(_members(entry.key))
            if encoding is None or encoding.slow is not None:
                return None
            key = _encoded(encoding, entry.key, "key")
        if entry.value is not None:
            encoding = self._kept["value"].get(_members(entry.value))
            if encoding is None or encoding.slow is not None:
                return None
            value = _encoded(encoding, entry.value, "value")
        return _joined(partition, timestamp_of(entry), headers_of(entry), key, value)

    async def encode(self, entry: Entry) -> Encoded:
        """Encode a record.

        Raises:
            ApiError: The record is refused; names the key or the value.
        """
        if monotonic() >= self._kept_until:
            await self._renew()
        partition, timestamp, headers = partition_of(entry), timestamp_of(entry), headers_of(entry)
        if partition >= self._partitions:
            await self._cluster.require_partition(self._topic, partition, topic_may_be_missing=True)
            self._partitions = partition + 1
        record = RecordInHand(headers)
        key = None if entry.key is None else await self._data(entry.key, "key", record)
        record.key = None if key is None else key.data
        value = None if entry.value is None else await self._data(entry.value, "value", record)
        return _joined(partition, timestamp, headers, key, value)

    async def _renew(self) -> None:
        """Drop the cached encodings; raises UNAUTHORIZED or KAFKA_AUTHORIZATION if the client may not write now."""
        for encodings in self._kept.values():
            encodings.clear()
        if self._is_still_good is not None and not await self._is_still_good():
            raise UNAUTHORIZED()
        if self._rights is not None:
            self._rights = self._rights.now()
            self._rights.require_topics("WRITE", (self._topic,))
        self._kept_until = monotonic() + _KEPT_SECONDS

    async def _data(self, data: Data, side: str, record: RecordInHand) -> _Part:
        members = _members(data)
        encodings = self._kept[side]
        encoding = encodings.get(members)
        if encoding is None:
            encoding = await self._encoding(data, side)
            if len(encodings) >= _MOST_KEPT:
                encodings.clear()
            encodings[members] = encoding
        if encoding.slow is None or (text := bytes(data.data)) == NULL:
            return _encoded(encoding, data, side)
        parsed = _parser(encoding.slow)(text)
        encoded = await self._encoder.encode_one(parsed, encoding.slow, side, len(text), record)
        return _Part(encoded, encoding.report % len(encoded or b""), encoding)

    async def _encoding(self, data: Data, side: str) -> _Encoding:
        type_name, source = data_form(data, side)
        if source is None:
            assert type_name is not None
            return _PLAIN[type_name]
        form = None if type_name is None else FORMATS[SCHEMA_TYPES[type_name]]
        writer = await self._encoder.writer(form, side, source, self._rights)
        report = b'{"type":"%b","subject":%b,"schema_id":%d,"schema_version":%d,"size":%%d}' % (
            TYPES[writer.schema_type].encode(),
            orjson.dumps(writer.subject).replace(b"%", b"%%"),
            writer.schema_id,
            writer.version or 0,
        )
        encode = writer.encode
        parse = _parser(writer)
        slow = None if writer.quick is None else writer
        return _Encoding(lambda text: encode(parse(text)), slow, True, report, writer.header)


def _joined(partition: int, timestamp: int, headers: Headers | None, key: _Part | None, value: _Part | None) -> Encoded:
    """The record of a key and value, with the headers that name their schemas."""
    record = (
        key and key.data,
        value and value.data,
        partition,
        timestamp,
        _framed(_framed(headers, key, "key"), value, "value"),
    )
    return Encoded(record, key and key.report, value and value.report)


def _framed(headers: Headers | None, part: _Part | None, side: str) -> Headers | None:
    """The headers with the frame of a key or value; data without a schema and tombstones have none."""
    if part is None or part.data is None or not part.encoding.has_schema:
        return headers
    try:
        return with_frame(headers, side, part.encoding.header)
    except DataError as error:
        raise _refusal(error.within(side)) from None


def _encoded(encoding: _Encoding, data: Data, side: str) -> _Part:
    """Encode data that never takes long."""
    text = bytes(data.data)
    if text == NULL:
        # Null is a Kafka null for every type, even if the schema accepts null as a value.
        return _Part(None, encoding.report % -1, encoding)
    try:
        encoded = encoding.encode(text)
    except DataError as error:
        raise _refusal(error.within(side) if encoding.has_schema else str(error)) from None
    return _Part(encoded, encoding.report % (-1 if encoded is None else len(encoded)), encoding)


def _refusal(detail: str) -> ApiError:
    return BAD_REQUEST(detail=detail)


def _members(data: Data) -> Hashable:
    """The members that decide how data is encoded."""
    references = data.references and tuple((one.name, one.subject, one.version) for one in data.references)
    return (
        data.type,
        data.subject,
        data.subject_name_strategy,
        data.schema_id_serializer,
        data.schema_id,
        data.schema_guid,
        data.schema_version,
        data.schema,
        references,
    )
