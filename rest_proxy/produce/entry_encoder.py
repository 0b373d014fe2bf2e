"""Encoding the records of v3 one by one: most at once, others after the registry or a thread has answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

import msgspec
import orjson

from magicbyte.http.errors import UNAUTHORIZED
from rest_proxy.access.rights import ProxyRights
from rest_proxy.errors import BAD_REQUEST, INVALID_SCHEMA, VALIDATION_BUSY, VALIDATION_UNAVAILABLE
from rest_proxy.formats.embedded import FORMATS
from rest_proxy.formats.plain import NULL, DataError, Options, base64_to_bytes, json_string_to_bytes, json_to_bytes
from rest_proxy.formats.schemas import Side
from rest_proxy.formats.writers import MayTakeLong, Writer
from rest_proxy.produce.entry import SCHEMA_TYPES, Data, Entry, data_form, headers_of, partition_of, timestamp_of
from rest_proxy.produce.lane import Record
from rest_proxy.produce.parts import Producing
from serdes.error import SchemaCompileError, ValidationUnavailable
from serdes.message.json_bytes import WrittenFloat, compact, has_long_numbers
from serdes.validation.judging import seconds_spent

#: How long an encoding is kept, in seconds: rights, rules and latest versions may change meanwhile.
_KEPT_SECONDS = 1.0
_MOST_KEPT = 1000
#: How long records that their schemas refuse in the end may be validated, in seconds in each window of seconds.
_REFUSING_SECONDS, _WINDOW_SECONDS = 2.0, 10.0
#: The registry's type of schemas -> the type in v3.
TYPES = {"AVRO": "AVRO", "JSON": "JSONSCHEMA", "PROTOBUF": "PROTOBUF"}


class Encoded(NamedTuple):
    """A record's bytes, and its report's members for key and value (JSON); None if the record has none."""

    record: Record
    key: bytes | None
    value: bytes | None


class _Encoding(NamedTuple):
    """How data is encoded: from JSON text to bytes; the writer if a schema does it; the report, without the size."""

    encode: Callable[[bytes], bytes | None]
    writer: Writer | None
    report: bytes

    @property
    def may_take_long(self) -> bool:
        """Whether a thread may be needed."""
        return self.writer is not None and self.writer.quick is not None


def _json(text: bytes) -> bytes | None:
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError:
            raise DataError("", "data is not UTF-8.") from None
    return json_to_bytes(compact(text))


_PLAIN = {
    name: _Encoding(encode, None, b'{"type":"%b","size":%%d}' % name.encode())
    for name, encode in (("BINARY", base64_to_bytes), ("STRING", json_string_to_bytes), ("JSON", _json))
}


#: Parses numbers with more digits than a float keeps.
_exact = msgspec.json.Decoder(float_hook=WrittenFloat).decode


def _avro_json(text: bytes) -> Any:
    return _exact(text) if has_long_numbers(text) else msgspec.json.decode(text)


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
        self._schemas = producing.schemas
        self._threads = producing.threads
        self._cluster = producing.cluster
        self._options = options
        self._rights = rights
        self._is_still_good = is_still_good
        self._kept: dict[str, dict[Hashable, _Encoding]] = {"key": {}, "value": {}}
        self._kept_until = 0.0
        #: Partitions below this number exist.
        self._partitions = 0
        #: How long the validation of refused records took in this window.
        self._refusing = 0.0
        self._window_ends_at = 0.0

    def encode_now(self, entry: Entry) -> Encoded | None:
        """Encode a record; None if something must be awaited first, as `encode` does.

        Raises:
            ApiError: The record is refused.
        """
        partition = partition_of(entry)
        if monotonic() >= self._kept_until or partition >= self._partitions:
            return None
        key = value = key_report = value_report = None
        if entry.key is not None:
            encoding = self._kept["key"].get(_members(entry.key))
            if encoding is None or encoding.may_take_long:
                return None
            key, key_report = self._plainly(encoding, entry.key, "key")
        if entry.value is not None:
            encoding = self._kept["value"].get(_members(entry.value))
            if encoding is None or encoding.may_take_long:
                return None
            value, value_report = self._plainly(encoding, entry.value, "value")
        record = (key, value, partition, timestamp_of(entry), headers_of(entry))
        return Encoded(record, key_report, value_report)

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
        key, key_report = (None, None) if entry.key is None else await self._data(entry.key, "key")
        value, value_report = (None, None) if entry.value is None else await self._data(entry.value, "value")
        return Encoded((key, value, partition, timestamp, headers), key_report, value_report)

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

    async def _data(self, data: Data, side: str) -> tuple[bytes | None, bytes]:
        members = _members(data)
        encodings = self._kept[side]
        encoding = encodings.get(members)
        if encoding is None:
            encoding = await self._encoding(data, side)
            if len(encodings) >= _MOST_KEPT:
                encodings.clear()
            encodings[members] = encoding
        writer = encoding.writer
        if writer is None or writer.quick is None or bytes(data.data) == NULL:
            return self._plainly(encoding, data, side)
        encoded = await self._slowly(writer, bytes(data.data), side)
        return encoded, encoding.report % len(encoded or b"")

    async def _encoding(self, data: Data, side: str) -> _Encoding:
        type_name, source = data_form(data, side)
        if source is None:
            assert type_name is not None
            return _PLAIN[type_name]
        form = None if type_name is None else FORMATS[SCHEMA_TYPES[type_name]]
        writer = await self._schemas.writer(form, Side(self._topic, side), source, self._options, self._rights)
        report = b'{"type":"%b","subject":%b,"schema_id":%d,"schema_version":%d,"size":%%d}' % (
            TYPES[writer.schema_type].encode(),
            orjson.dumps(writer.subject).replace(b"%", b"%%"),
            writer.schema_id,
            writer.version or 0,
        )
        encode = writer.encode
        parse = _avro_json if writer.schema_type == "AVRO" else msgspec.json.decode
        return _Encoding(lambda text: encode(parse(text)), writer, report)

    def _plainly(self, encoding: _Encoding, data: Data, side: str) -> tuple[bytes | None, bytes]:
        text = bytes(data.data)
        if text == NULL:
            # Null is a Kafka null for every type, even if the schema accepts null as a value.
            return None, encoding.report % -1
        try:
            encoded = encoding.encode(text)
        except DataError as error:
            raise BAD_REQUEST(detail=str(error) if encoding.writer is None else _misfit(side, error)) from None
        return encoded, encoding.report % (-1 if encoded is None else len(encoded))

    async def _slowly(self, writer: Writer, text: bytes, side: str) -> bytes | None:
        """Encode with a schema whose validation may take long: here if it is certain to be quick, else on a thread."""
        assert writer.quick is not None
        value = msgspec.json.decode(text)
        try:
            if writer.quick.covers(len(text), 1):
                try:
                    return writer.quick.encode(value)
                except MayTakeLong:
                    pass
            self._require_patience()
            return await self._threads.run(partial(self._timed, writer.encode, value))
        except DataError as error:
            raise BAD_REQUEST(detail=_misfit(side, error)) from None
        except SchemaCompileError as error:
            raise INVALID_SCHEMA(detail=error.detail) from None
        except ValidationUnavailable as error:
            raise VALIDATION_UNAVAILABLE(detail=str(error)) from None

    def _timed(self, encode: Callable[[Any], bytes | None], value: Any) -> bytes | None:
        started = seconds_spent()
        try:
            return encode(value)
        except DataError:
            self._refusing += seconds_spent() - started
            raise

    def _require_patience(self) -> None:
        """Raise VALIDATION_BUSY if refused records took too long: otherwise each of a request's records could."""
        now = monotonic()
        if now >= self._window_ends_at:
            self._window_ends_at, self._refusing = now + _WINDOW_SECONDS, 0.0
        if self._refusing > _REFUSING_SECONDS:
            limit = f"{_REFUSING_SECONDS:g} s of processor time"
            raise VALIDATION_BUSY(
                detail=f"the refused records before this one took {limit}; send it in another request"
            )


def _members(data: Data) -> Hashable:
    """The members that decide how data is encoded."""
    references = data.references and tuple((one.name, one.subject, one.version) for one in data.references)
    return (
        data.type,
        data.subject,
        data.subject_name_strategy,
        data.schema_id,
        data.schema_version,
        data.schema,
        references,
    )


def _misfit(side: str, error: DataError) -> str:
    if not error.path:
        return f"{side}: {error.detail}"
    return f"{side}{'' if error.path.startswith('[') else '.'}{error.path}: {error.detail}"
