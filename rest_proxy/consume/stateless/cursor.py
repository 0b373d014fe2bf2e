"""Cursors: the offsets at which a read of all partitions of a topic continues, as a short text."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping

from rest_proxy.errors import BAD_REQUEST

_MORE = 0x80


def write_cursor(topic: str, offsets: Mapping[int, int]) -> str:
    """The cursor of the next offsets of a topic's partitions, which are numbered from 0."""
    content = bytearray(_mark(topic))
    for partition in range(len(offsets)):
        offset = offsets[partition]
        while offset >= _MORE:
            content.append(offset & 0x7F | _MORE)
            offset >>= 7
        content.append(offset)
    return urlsafe_b64encode(content).decode().rstrip("=")


def read_cursor(topic: str, text: str) -> dict[int, int]:
    """The next offsets in a cursor.

    Raises:
        ApiError: BAD_REQUEST: it is not a cursor, or is for another topic.
    """
    try:
        content = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        content = b""
    mark = _mark(topic)
    if not content.startswith(mark) or (content[-1] & _MORE):
        raise BAD_REQUEST(detail=f"cursor={text[:40]} is not a cursor of topic {topic}.")
    offsets: dict[int, int] = {}
    offset = shift = 0
    for byte in content[len(mark) :]:
        offset |= (byte & 0x7F) << shift
        shift += 7
        if not byte & _MORE:
            offsets[len(offsets)] = min(offset, 2**63 - 1)
            offset = shift = 0
    return offsets


def _mark(topic: str) -> bytes:
    """The version of the form, and two bytes that tell topics apart."""
    return b"\x01" + (binascii.crc32(topic.encode()) & 0xFFFF).to_bytes(2, "big")
