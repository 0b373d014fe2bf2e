"""A record's key or value as text: with a schema of any type or of one type, or without a schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from serdes.client.clients import RegistryClient
from serdes.client.models import SchemaInfo
from serdes.error import SchemaNotFound, SerializationError
from serdes.json_bytes import dumps
from serdes.message import wire
from serdes.serialization import SerializationContext
from serdes.text import Remarked, TextOptions
from serdes.text.text_serdes import AdaptRules, remarking_deserializer, text_deserializer, unchanged_rules
from serdes.text.undecodable import Undecodable

Headers = list[tuple[str, bytes | None]] | None
ToText = Callable[[bytes], str]


@dataclass(slots=True)
class FieldReader:
    """Converts keys, or values, to text.

    Attributes:
        client: The registry's client.
        part: `key` or `value`.
        schema_type: The type of all schemas; None to look it up by each record's schema id.
        conf: The settings of the deserializers.
        options: The options of the text format.
        plain: The function from bytes to text, which replaces all of the above.
        text_without_frame: Whether bytes without a frame are text, shown as a JSON string.
        adapt_rules: Changes the settings of rules that `conf` has.
        with_remarks: Whether a tab and the remarks (`serdes.text.remark`) as a JSON array follow the text.
    """

    client: RegistryClient | None
    part: str
    schema_type: str | None = None
    conf: Mapping[str, Any] = field(default_factory=dict)
    options: TextOptions = field(default_factory=TextOptions)
    plain: ToText | None = None
    text_without_frame: bool = False
    with_remarks: bool = False
    adapt_rules: AdaptRules = unchanged_rules
    _deserializers: dict[str, Any] = field(default_factory=dict)
    _types: dict[object, str] = field(default_factory=dict)

    def text(self, data: bytes, topic: str, headers: Headers) -> bytes:
        """The text of a key or value, in UTF-8.

        Raises:
            Undecodable: The bytes are not a datum of a registered schema.
            RegistryError, RegistryUnavailable: The registry refuses or does not answer.
        """
        try:
            if self.plain is not None:
                return self.plain(data).encode()
            if not self.is_framed(data, headers):
                return dumps(data.decode(errors="replace"))
            context = SerializationContext(topic, self.part, headers)
            deserialize = self._deserializer(self.schema_type or self._type(data, context))
            datum: Any = deserialize(data, context)
        except (SerializationError, SchemaNotFound) as error:
            reason = error.message if isinstance(error, SchemaNotFound) else str(error)
            raise Undecodable(self.part, reason, data, schema_id_of(data, headers, self.part)) from error
        return _with_remarks(datum) if self.with_remarks else datum

    def is_framed(self, data: bytes, headers: Headers) -> bool:
        """Whether the bytes are read as framed with a schema id."""
        if self.plain is not None:
            return False
        in_header = wire.find_header(headers, wire.header_name(is_key=self.part == "key")) is not None
        if in_header or not self.text_without_frame:
            return True
        return len(data) >= wire.V0_SIZE and data[0] in {wire.MAGIC_V0, wire.MAGIC_V1}

    def schema_id(self, data: bytes, headers: Headers) -> str:
        """The schema id in the frame, or the guid."""
        frame = wire.read_dual(data, headers, is_key=self.part == "key")
        return str(frame.guid if frame.schema_id is None else frame.schema_id)

    def _deserializer(self, schema_type: str) -> Any:
        deserializer = self._deserializers.get(schema_type)
        if deserializer is None:
            assert self.client is not None
            make = remarking_deserializer if self.with_remarks else text_deserializer
            deserializer = make(self.client, schema_type, self.conf, self.options, self.adapt_rules)
            self._deserializers[schema_type] = deserializer
        return deserializer

    def _type(self, data: bytes, context: SerializationContext) -> str:
        frame = wire.read_dual(data, context.headers, is_key=self.part == "key")
        key = (frame.schema_id, frame.guid)
        schema_type = self._types.get(key)
        if schema_type is None:
            assert self.client is not None
            info: SchemaInfo
            if frame.schema_id is None:
                info = self.client.schema_by_guid(str(frame.guid))
            else:
                info = self.client.schema_by_id(frame.schema_id, f"{context.topic}-{self.part}")
            schema_type = self._types[key] = info.schema.schema_type
        return schema_type


def _with_remarks(remarked: Remarked) -> bytes:
    return remarked.text + b"\t" + dumps([asdict(remark) for remark in remarked.remarks.listed])


def schema_id_of(data: bytes, headers: Headers, part: str) -> int | None:
    """The schema id in the prefix of a record's key or value, if it has one and no header names the schema."""
    frame = frame_of(data, headers, part)
    return None if frame is None else frame.schema_id


def frame_of(data: bytes, headers: Headers, part: str) -> wire.Frame | None:
    """The frame of a record's key or value; None if there is none, or it is broken."""
    try:
        return wire.read_dual(data, headers, is_key=part == "key")
    except SerializationError:
        return None
