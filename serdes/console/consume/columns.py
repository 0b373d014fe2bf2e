"""A record as a line of columns, in the order and spelling of Kafka's message formatters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from serdes.console.properties import Properties
from serdes.text.field_reader import FieldReader

#: The names of timestamp types, by confluent_kafka's number.
_TIMESTAMPS = {1: "CreateTime", 2: "LogAppendTime"}
#: The schema id of a null key or value; null.literal does not change it.
_NO_ID = b"null"

PROPERTIES = (
    "print.timestamp", "print.key", "print.partition", "print.offset", "print.headers", "print.schema.ids",
    "print.remarks",
    "key.separator", "line.separator", "headers.separator", "schema.id.separator", "null.literal",
    "key.deserializer", "headers.deserializer", "preserve.json.field.name",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a line, their separators, and the readers of keys and values."""

    key: FieldReader
    value: FieldReader
    header: Callable[[bytes], str] | None = None
    timestamp: bool = False
    partition: bool = False
    offset: bool = False
    headers: bool = False
    with_key: bool = False
    schema_ids: bool = False
    separator: bytes = b"\t"
    line_separator: bytes = b"\n"
    headers_separator: bytes = b","
    id_separator: bytes = b"\t"
    null: bytes = b"null"

    def line(self, message: Any) -> bytes:
        """The line of a confluent_kafka.Message.

        Raises:
            Undecodable: The key or value cannot be decoded.
        """
        columns: list[bytes] = []
        if self.timestamp:
            kind, milliseconds = message.timestamp()
            name = _TIMESTAMPS.get(kind)
            columns.append(f"{name}:{milliseconds}".encode() if name else b"NO_TIMESTAMP")
        if self.partition:
            columns.append(b"Partition:%d" % message.partition())
        if self.offset:
            columns.append(b"Offset:%d" % message.offset())
        if self.headers:
            columns.append(self._headers(message.headers()))
        if self.with_key:
            columns.append(self._field(self.key, message.key(), message))
        columns.append(self._field(self.value, message.value(), message))
        return self.separator.join(columns) + self.line_separator

    def _field(self, reader: FieldReader, data: bytes | None, message: Any) -> bytes:
        with_id = self.schema_ids and reader.plain is None
        if data is None:
            return self.null + self.id_separator + _NO_ID if with_id else self.null
        headers = message.headers()
        text = reader.text(data, message.topic(), headers)
        return text + self.id_separator + reader.schema_id(data, headers).encode() if with_id else text

    def _headers(self, headers: list[tuple[str, bytes | None]] | None) -> bytes:
        if not headers:
            return b"NO_HEADERS"
        return self.headers_separator.join(name.encode() + b":" + self._header(value) for name, value in headers)

    def _header(self, value: bytes | None) -> bytes:
        if value is None or self.header is None:
            return self.null
        return self.header(value).encode()


def columns(properties: Properties, key: FieldReader, value: FieldReader) -> Columns:
    """The columns that the formatter's properties select.

    Raises:
        ConfigError: A property is invalid.
    """
    header = None
    if "headers.deserializer" in properties.tool:
        from serdes.console.plain import plain  # noqa: PLC0415  # rarely used

        header = plain("headers.deserializer", properties.tool["headers.deserializer"])[1]

    def text(name: str, default: str) -> bytes:
        return properties.tool.get(name, default).encode()

    return Columns(
        key,
        value,
        header,
        timestamp=properties.flag("print.timestamp"),
        partition=properties.flag("print.partition"),
        offset=properties.flag("print.offset"),
        headers=properties.flag("print.headers"),
        with_key=properties.flag("print.key"),
        schema_ids=properties.flag("print.schema.ids"),
        separator=text("key.separator", "\t"),
        line_separator=text("line.separator", "\n"),
        headers_separator=text("headers.separator", ","),
        id_separator=text("schema.id.separator", "\t"),
        null=text("null.literal", "null"),
    )
