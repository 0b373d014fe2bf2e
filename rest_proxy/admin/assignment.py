"""The assignment of a member of a classic consumer group, which is opaque to the brokers."""

from __future__ import annotations

import struct

from rest_proxy.admin.client import PartitionId

_SHORT, _INT = struct.Struct(">h"), struct.Struct(">i")


def assigned_places(data: bytes) -> tuple[PartitionId, ...]:
    """The partitions in an assignment, by topic and number; none if it is empty or another client's own format.

    Args:
        data: A version, then the topics with their partitions, then user data, which is not read.
    """
    try:
        return tuple(sorted(_read(data)))
    except (struct.error, UnicodeDecodeError, ValueError):
        return ()


def _read(data: bytes) -> list[PartitionId]:
    places: list[PartitionId] = []
    if not data:
        return places
    (topics,), at = _INT.unpack_from(data, _SHORT.size), _SHORT.size + _INT.size
    for _ in range(topics):
        (length,) = _SHORT.unpack_from(data, at)
        at += _SHORT.size
        topic = data[at : at + length].decode()
        at += length
        (count,) = _INT.unpack_from(data, at)
        at += _INT.size
        if not 0 <= count <= len(data) // _INT.size:
            raise ValueError("more partitions than bytes")
        places += [PartitionId(topic, number) for (number,) in _INT.iter_unpack(data[at : at + count * _INT.size])]
        at += count * _INT.size
    return places
