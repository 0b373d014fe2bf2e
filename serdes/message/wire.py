"""The frame of a payload: the schema that it was written with and, for Protobuf, the message's type.

V0 precedes the payload: 0x00, the schema id as four big-endian bytes, for Protobuf the message indexes.
V1 is in the record header `__key_schema_id` or `__value_schema_id`: 0x01, the sixteen bytes of the schema's guid,
for Protobuf the message indexes. The payload then has no prefix. V1 may also precede the payload.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Any
from uuid import UUID

from serdes.error import InvalidMessageIndexes, TruncatedMessage, WrongMagic

MAGIC_V0 = 0
MAGIC_V1 = 1

KEY_SCHEMA_ID = "__key_schema_id"
VALUE_SCHEMA_ID = "__value_schema_id"

#: The size in bytes of V0's prefix and of V1's header, without message indexes.
V0_SIZE = 5
V1_SIZE = 17

_ID = Struct(">BI")
#: The bytes of the longest varint of an int32 index; a longer one is corrupt.
_VARINT_LIMIT = 5
_MAX_INDEX = 2**31 - 1

Buffer = bytes | bytearray | memoryview
#: A record's headers as confluent-kafka returns them: a list of pairs or a mapping.
Headers = Any


@dataclass(frozen=True, slots=True)
class Frame:
    """A parsed frame: the schema by id (V0) or by guid (V1), and where the payload starts."""

    schema_id: int | None
    guid: UUID | None
    #: Bytes of the message before the payload, or before the message indexes of Protobuf.
    offset: int
    #: The message indexes after the guid in a header, else empty.
    rest: bytes = b""


def prefix(schema_id: int) -> bytes:
    """V0's five bytes for a schema id."""
    return _ID.pack(MAGIC_V0, schema_id)


def guid_bytes(guid: UUID | str) -> bytes:
    """V1's seventeen bytes for a schema's guid: a header's value, or a prefix."""
    return b"\x01" + (guid if isinstance(guid, UUID) else UUID(guid)).bytes


def header_name(*, is_key: bool) -> str:
    """The name of the record header that holds V1's bytes."""
    return KEY_SCHEMA_ID if is_key else VALUE_SCHEMA_ID


def read_prefix(message: Buffer) -> Frame:
    """The frame before a payload, of either version.

    Raises:
        TruncatedMessage: the message is shorter than its frame.
        WrongMagic: the first byte is neither 0 nor 1.
    """
    if not message:
        raise TruncatedMessage("the magic byte", 1, 0)
    magic = message[0]
    if magic == MAGIC_V0:
        if len(message) < V0_SIZE:
            raise TruncatedMessage("magic byte and schema id", V0_SIZE, len(message))
        return Frame(_ID.unpack_from(message)[1], None, V0_SIZE)
    if magic == MAGIC_V1:
        if len(message) < V1_SIZE:
            raise TruncatedMessage("magic byte and schema guid", V1_SIZE, len(message))
        return Frame(None, UUID(bytes=bytes(message[1:V1_SIZE])), V1_SIZE)
    raise WrongMagic(magic, (MAGIC_V0, MAGIC_V1))


def read_header(value: Buffer) -> Frame:
    """The frame in the value of a `__key_schema_id` or `__value_schema_id` header.

    Raises:
        TruncatedMessage: the value is shorter than magic and guid.
        WrongMagic: the first byte is not 1.
    """
    if not value:
        raise TruncatedMessage("the magic byte of the schema id header", 1, 0)
    if value[0] != MAGIC_V1:
        raise WrongMagic(value[0], (MAGIC_V1,))
    if len(value) < V1_SIZE:
        raise TruncatedMessage("the schema id header", V1_SIZE, len(value))
    return Frame(None, UUID(bytes=bytes(value[1:V1_SIZE])), 0, bytes(value[V1_SIZE:]))


def read_dual(message: Buffer, headers: Headers, *, is_key: bool) -> Frame:
    """The frame in the header if there is one, else the one before the payload."""
    value = find_header(headers, header_name(is_key=is_key))
    return read_prefix(message) if value is None else read_header(value)


def find_header(headers: Headers, name: str) -> bytes | None:
    """The value of the last header of this name, or None; headers are pairs, a mapping, or None."""
    if not headers:
        return None
    pairs: Iterable[tuple[str, Any]] = headers.items() if hasattr(headers, "items") else headers
    last = None
    for key, value in pairs:
        if key == name and value is not None:
            last = value
    return last.encode("latin-1") if isinstance(last, str) else last


def write_header(headers: Headers, name: str, value: bytes) -> None:
    """Sets a header in the caller's list of pairs or mapping; it replaces those of the same name."""
    if hasattr(headers, "items"):
        headers[name] = value
        return
    if any(pair[0] == name for pair in headers):
        headers[:] = [pair for pair in headers if pair[0] != name]
    headers.append((name, value))


def header_indexes(frame: Frame, *, zigzag: bool = True) -> bytes:
    """The bytes of Protobuf's message indexes in a header, without the bytes after them, which Java ignores, too.

    Raises:
        TruncatedMessage: the header ends before or inside the indexes; they must not be read from the payload.
        InvalidMessageIndexes: see `read_indexes`.
    """
    return frame.rest[: read_indexes(frame.rest, zigzag=zigzag)[1]]


def write_indexes(indexes: Sequence[int], *, zigzag: bool = True) -> bytes:
    """The bytes of Protobuf message indexes: a count, then the path from the file's messages through nested ones.

    The first message of a file, `[0]`, is the single byte 0. Varints are zig-zag; old Python clients wrote plain ones
    (`use.deprecated.format`).
    """
    if len(indexes) == 1 and indexes[0] == 0:
        return b"\x00"
    out = bytearray()
    for number in (len(indexes), *indexes):
        rest = number << 1 if zigzag else number
        while rest > 0x7F:
            out.append(rest & 0x7F | 0x80)
            rest >>= 7
        out.append(rest)
    return bytes(out)


def read_indexes(message: Buffer, offset: int = 0, *, zigzag: bool = True) -> tuple[tuple[int, ...], int]:
    """Protobuf message indexes and the offset after them; a count of 0 means `(0,)`.

    Raises:
        TruncatedMessage: the message ends inside the indexes, or is too short for their count.
        InvalidMessageIndexes: a negative number, or one of more than 32 bits.
    """
    count, offset = _read_varint(message, offset, zigzag=zigzag)
    if count == 0:
        return (0,), offset
    # An index takes at least one byte: refuse a count that the message cannot hold before the loop.
    if count > len(message) - offset:
        raise TruncatedMessage(f"{count} message indexes", offset + count, len(message))
    indexes = []
    for _ in range(count):
        index, offset = _read_varint(message, offset, zigzag=zigzag)
        indexes.append(index)
    return tuple(indexes), offset


def _read_varint(message: Buffer, offset: int, *, zigzag: bool) -> tuple[int, int]:
    value = shift = 0
    for _ in range(_VARINT_LIMIT):
        if offset >= len(message):
            raise TruncatedMessage("message indexes", offset + 1, len(message))
        byte = message[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            number = (value >> 1) ^ -(value & 1) if zigzag else value
            if not 0 <= number <= _MAX_INDEX:
                raise InvalidMessageIndexes(f"{number} is out of range")
            return number, offset
        shift += 7
    raise InvalidMessageIndexes(f"a number of more than {_VARINT_LIMIT} bytes")
