"""Kafka's serializers and deserializers of plain values, by their Java class names: text to and from bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from uuid import UUID

from serdes.error import ConfigError, SerializationError

ToBytes = Callable[[str], bytes]
ToText = Callable[[bytes], str]


class NotPlain(SerializationError):
    """A text, or bytes, that cannot be converted to the type."""


def _packed(layout: str, kind: str, read: Callable[[str], int | float]) -> tuple[ToBytes, ToText]:
    packer = struct.Struct(layout)

    def to_bytes(text: str) -> bytes:
        try:
            return packer.pack(read(text.strip()))
        except (ValueError, struct.error, OverflowError) as error:
            raise NotPlain(f"{text!r:.80} is no {kind}") from error

    def to_text(data: bytes) -> str:
        if len(data) != packer.size:
            raise NotPlain(f"{len(data)} bytes are no {kind}")
        return str(packer.unpack(data)[0])

    return to_bytes, to_text


def _uuid(text: str) -> bytes:
    try:
        return str(UUID(text.strip())).encode()
    except ValueError as error:
        raise NotPlain(f"{text!r:.80} is no UUID") from error


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


#: The conversions by class name without `Serializer` or `Deserializer` (org.apache.kafka.common.serialization).
PLAIN: Mapping[str, tuple[ToBytes, ToText]] = {
    "String": (str.encode, _text),
    "ByteArray": (str.encode, _text),
    "Bytes": (str.encode, _text),
    "ByteBuffer": (str.encode, _text),
    "UUID": (_uuid, _text),
    "Long": _packed(">q", "long", int),
    "Integer": _packed(">i", "int", int),
    "Short": _packed(">h", "short", int),
    "Double": _packed(">d", "double", float),
    "Float": _packed(">f", "float", float),
}


def plain(name: str, java_class: str) -> tuple[ToBytes, ToText]:
    """The pair of functions, to bytes and to text, for a class name.

    Raises:
        ConfigError: The class is not in the table; Java classes cannot be loaded.
    """
    short = java_class.strip().rpartition(".")[2].removesuffix("Deserializer").removesuffix("Serializer")
    if short not in PLAIN:
        raise ConfigError(
            name, f"{java_class} is not known: Java's classes cannot be loaded; known are {', '.join(PLAIN)}"
        )
    return PLAIN[short]
