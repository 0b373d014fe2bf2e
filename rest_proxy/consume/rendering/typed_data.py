"""Keys and values of v3's reads: their type, guessed or as requested, and their data as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import orjson

from rest_proxy.access.rights import ProxyRights
from rest_proxy.consume.rendering.records import Framed, framed
from rest_proxy.consume.stateless.fetched import FetchedRecord
from rest_proxy.formats.embedded import FORMATS
from rest_proxy.formats.plain import DataError, Options, bytes_to_base64, bytes_to_json
from rest_proxy.formats.ruled import ReadRecord, RuledReading, TopicSide, are_light
from rest_proxy.formats.schema_reading import SchemaId
from rest_proxy.formats.schemas import Read, Schemas

#: Type in v3 -> the embedded format, for the types with a schema.
_FORMS = {"AVRO": FORMATS["avro"], "JSONSCHEMA": FORMATS["jsonschema"], "PROTOBUF": FORMATS["protobuf"]}
_TYPES = {form.name: name for name, form in _FORMS.items()}
TYPES = ("BINARY", "STRING", "JSON", *_FORMS)


class Decoded(NamedTuple):
    """A key or value: its type, its data as JSON text, and its schema, if it has one, and whether a header names it."""

    type: str
    data: bytes
    schema_id: SchemaId | None = None
    in_header: bool = False


class DataDecoder:
    """Decodes the keys, or the values, of some records."""

    def __init__(
        self,
        schemas: Schemas,
        options: Options,
        rights: ProxyRights | None,
        *,
        is_key: bool,
        required: str | None = None,
    ) -> None:
        """Begin.

        Args:
            schemas: The source of decoders.
            options: How schema data is written in JSON.
            rights: The client's rights to schemas; None if access is not restricted.
            is_key: Whether it decodes keys.
            required: The type that all must have; None to guess the type of each.
        """
        self._schemas = schemas
        self._options = options
        self._rights = rights
        self._is_key = is_key
        self._required = required
        #: Schema -> its type, its decoder, and why it cannot be used.
        self._names: dict[SchemaId, str] = {}
        self._readers: dict[SchemaId, Read | RuledReading] = {}
        self._unusable: dict[SchemaId, DataError] = {}

    async def load(self, records: Sequence[FetchedRecord]) -> None:
        """Load the schemas that some records name."""
        if self._required is not None and self._required not in _FORMS:
            return
        named = {frame.schema_id for record in records if (frame := self._frame(record)) is not None}
        topics = {record.topic() for record in records}
        for schema_id in named:
            try:
                form = await self._schemas.form_of(schema_id, self._rights)
                if form is None:
                    continue
                self._names[schema_id] = _TYPES[form.name]
                read = await self._schemas.reader(form, schema_id, self._options, self._rights)
                if isinstance(read, RuledReading):
                    for topic in topics:
                        await read.load(TopicSide(topic, self._is_key))
                self._readers[schema_id] = read
            except DataError as error:
                self._unusable[schema_id] = error

    def is_light(self, size: int, count: int) -> bool:
        """Whether decoding so many records with a total size in bytes may run on the event loop."""
        return are_light(self._readers.values(), size, count)

    def decode(self, record: FetchedRecord) -> Decoded | None:
        """The key or value of a record whose schemas are loaded; None if the record has none.

        Raises:
            DataError: It is not of the required type, or its schema cannot be used, or may not be read.
        """
        data = record.key() if self._is_key else record.value()
        if data is None:
            return None
        if self._required is not None and self._required in _PLAIN:
            return Decoded(self._required, _PLAIN[self._required](data))
        frame = self._frame(record)
        name = None if frame is None else self._names.get(frame.schema_id)
        if frame is not None and name is None and frame.schema_id in self._unusable:
            raise self._unusable[frame.schema_id]
        if self._required is not None and name != self._required:
            raise DataError("", f"the data is {'not framed' if frame is None else f'of type {name}'}")
        if frame is None or name is None:
            return _guessed(data)
        read = self._readers.get(frame.schema_id)
        if read is None:
            raise self._unusable[frame.schema_id]
        if isinstance(read, RuledReading):
            place = TopicSide(record.topic(), self._is_key)
            read = read.read(ReadRecord(place, record.headers(), data, record.key()))
        return Decoded(name, frame.decoded(_FORMS[name], read), frame.schema_id, frame.header is not None)

    def _frame(self, record: FetchedRecord) -> Framed | None:
        data = record.key() if self._is_key else record.value()
        if data is None:
            return None
        try:
            return framed(data, record.headers(), is_key=self._is_key)
        except DataError:
            return None


def _guessed(data: bytes) -> Decoded:
    """Data without a schema: JSON, a text, or bytes."""
    for name in ("JSON", "STRING"):
        try:
            return Decoded(name, _PLAIN[name](data))
        except DataError:
            continue
    return Decoded("BINARY", bytes_to_base64(data))


def _text(data: bytes) -> bytes:
    try:
        return orjson.dumps(data.decode())
    except UnicodeDecodeError:
        raise DataError("", "not UTF-8") from None


def _json(data: bytes) -> bytes:
    if not data:
        raise DataError("", "not JSON: there is nothing")
    return bytes_to_json(data)


_PLAIN: Mapping[str, Callable[[bytes], bytes]] = {"BINARY": bytes_to_base64, "STRING": _text, "JSON": _json}
