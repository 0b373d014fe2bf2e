"""Unpacks compressed batches of records up to a size: a batch of some KB can unpack to any number of MB.

The header of a batch (Kafka's protocol, magic 2) has the codec and the offsets, but not the unpacked size. So a batch
is unpacked into a buffer that grows up to the limit. The result is a batch without compression.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import cramjam

#: Base offset, length of what follows, leader epoch, magic, checksum, attributes, last offset delta.
_HEADER = struct.Struct(">qiibIhi")
_HEADER_BYTES = 61
_LENGTH = struct.Struct(">i")
#: Where a batch's length begins and ends; it counts the bytes behind it.
_LENGTH_AT, _AFTER_LENGTH = 8, 12
_ATTRIBUTES_AT = 21
_MAGIC, _CODEC_BITS = 2, 0x07
#: The first buffer, in bytes, and how much larger the next one is.
_FIRST_BUFFER, _GROWTH = 1 << 18, 16
_XERIAL_HEADER = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16


class BatchTooLarge(Exception):
    """A batch unpacks to more bytes than allowed.

    Attributes:
        offset: The offset of its first record.
        next_offset: The offset after its last record.
    """

    def __init__(self, offset: int, next_offset: int) -> None:
        super().__init__(offset, next_offset)
        self.offset = offset
        self.next_offset = next_offset


class _Batch(NamedTuple):
    data: memoryview
    offset: int
    next_offset: int
    magic: int
    attributes: int

    @property
    def codec(self) -> int:
        """The codec's number; 0 if the batch is not compressed, or older than magic 2."""
        return self.attributes & _CODEC_BITS if self.magic == _MAGIC else 0


def is_packed(batches: bytes) -> bool:
    """Whether any batch is compressed."""
    return any(batch.codec for batch in _split(batches))


def unpacked_batches(batches: bytes, most: int) -> Iterator[bytes]:
    """Each complete batch without compression.

    Args:
        batches: The batches; the last one may be cut off.
        most: The most bytes that one of them may have when it is unpacked.

    Raises:
        BatchTooLarge: A batch would have more.
        ValueError: A batch cannot be unpacked.
    """
    for batch in _split(batches):
        if not batch.codec:
            yield bytes(batch.data)
            continue
        records = _CODECS[batch.codec](batch.data[_HEADER_BYTES:], most)
        if records is None:
            raise BatchTooLarge(batch.offset, batch.next_offset)
        header = bytearray(batch.data[:_HEADER_BYTES])
        _LENGTH.pack_into(header, _LENGTH_AT, _HEADER_BYTES - _AFTER_LENGTH + len(records))
        struct.pack_into(">h", header, _ATTRIBUTES_AT, batch.attributes & ~_CODEC_BITS)
        yield b"".join((header, records))


def _split(batches: bytes) -> Iterator[_Batch]:
    view, position = memoryview(batches), 0
    while position + _HEADER.size <= len(view):
        offset, length, _, magic, _, attributes, last = _HEADER.unpack_from(view, position)
        end = position + _AFTER_LENGTH + length
        if length <= 0 or end > len(view):
            return
        yield _Batch(view[position:end], offset, offset + last + 1, magic, attributes)
        position = end


# Each codec returns None if there is too much: the traceback of an exception would keep its buffer alive.


def _gzip(data: memoryview, most: int) -> bytes | None:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        records = unpacker.decompress(data, most + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    return records if len(records) <= most else None


def _snappy(data: memoryview, most: int) -> bytes | None:
    if bytes(data[: len(_XERIAL_HEADER)]) != _XERIAL_HEADER:
        return _snappy_block(data, most)
    blocks: list[bytes] = []
    left, position = most, _XERIAL_HEADER_BYTES
    while position + _LENGTH.size <= len(data):
        (length,) = _LENGTH.unpack_from(data, position)
        position += _LENGTH.size
        block = _snappy_block(data[position : position + max(0, length)], left)
        if block is None:
            return None
        blocks.append(block)
        position += max(0, length)
        left -= len(block)
    return b"".join(blocks)


def _snappy_block(data: memoryview, most: int) -> bytes | None:
    try:
        # The length stands before the block.
        if cramjam.snappy.decompress_raw_len(data) > most:
            return None
        return bytes(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError as error:
        raise ValueError(str(error)) from None


def _growing(unpack_into: Callable[[memoryview, bytearray], int]) -> Callable[[memoryview, int], bytes | None]:
    """Unpack with a function that needs a buffer of the right size or a larger one."""

    def unpack(data: memoryview, most: int) -> bytes | None:
        size = min(most, max(_FIRST_BUFFER, 4 * len(data)))
        while True:
            problem = ""
            buffer = bytearray(size)
            try:
                return bytes(memoryview(buffer)[: unpack_into(data, buffer)])
            except cramjam.DecompressionError as error:
                problem = str(error)
            del buffer
            if "whole buffer" not in problem:
                raise ValueError(problem)
            if size == most:
                return None
            size = min(most, _GROWTH * size)

    return unpack


_CODECS: Mapping[int, Callable[[memoryview, int], bytes | None]] = {
    1: _gzip,
    2: _snappy,
    3: _growing(cramjam.lz4.decompress_into),
    4: _growing(cramjam.zstd.decompress_into),
}
