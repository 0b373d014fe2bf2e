"""Zstandard in blocks: each is preceded by its length and SHA-256, so that a changed byte anywhere is noticed.

Zstandard itself does not notice every changed byte: some bits of a frame's header change nothing in the content. Each
block is a frame of its own, so that a reader needs the memory of one block. The seal is in a skippable frame, which
every other reader passes over: `zstd -d` reads these files.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import BinaryIO

import cramjam

from magicbyte.operations.failures import Unreadable

#: The content of a block, in bytes; the last block of a file is shorter.
BLOCK_BYTES = 1 << 20
_SEAL_HEAD = struct.Struct("<II")
_LENGTHS = struct.Struct("<II")
_DIGEST_BYTES = 32
_SEAL = _SEAL_HEAD.pack(0x184D2A50, _LENGTHS.size + _DIGEST_BYTES)
_SEAL_BYTES = len(_SEAL) + _LENGTHS.size + _DIGEST_BYTES
#: A frame is a little longer than its content if that cannot be compressed.
_MOST_FRAME_BYTES = BLOCK_BYTES + (BLOCK_BYTES >> 8) + 1024
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


def packed(content: bytes) -> bytes:
    """The block of at most `BLOCK_BYTES`, with its seal."""
    frame = bytes(cramjam.zstd.compress(content))
    lengths = _LENGTHS.pack(len(frame), len(content))
    return _SEAL + lengths + hashlib.sha256(lengths + frame).digest() + frame


def is_packed(head: bytes) -> bool:
    """Tell whether a file that begins with these bytes is made of blocks."""
    return head.startswith(_SEAL)


def is_foreign(head: bytes) -> bool:
    """Tell whether a file that begins with these bytes was compressed by another tool."""
    return head.startswith(_ZSTANDARD)


def unpacked(file: BinaryIO) -> Iterator[bytes]:
    """Yield the contents of a file's blocks.

    Raises:
        Unreadable: A block is cut or was changed.
    """
    number = 0
    while head := file.read(_SEAL_BYTES):
        number += 1
        if len(head) < _SEAL_BYTES or not head.startswith(_SEAL):
            raise _changed(number)
        lengths = head[len(_SEAL) : len(_SEAL) + _LENGTHS.size]
        frame_bytes, content_bytes = _LENGTHS.unpack(lengths)
        if frame_bytes > _MOST_FRAME_BYTES or content_bytes > BLOCK_BYTES:
            raise _changed(number)
        frame = file.read(frame_bytes)
        if hashlib.sha256(lengths + frame).digest() != head[-_DIGEST_BYTES:]:
            raise _changed(number)
        content = bytearray(content_bytes)
        try:
            written = cramjam.zstd.decompress_into(frame, content)
        except cramjam.DecompressionError:
            raise _changed(number) from None
        if written != content_bytes:
            raise _changed(number)
        yield bytes(content)


def _changed(number: int) -> Unreadable:
    return Unreadable(f"block {number} is cut or was changed")
