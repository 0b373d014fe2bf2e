"""XXH64, the checksum of Karapace's backups, fed piece by piece."""

from __future__ import annotations

from struct import Struct, unpack_from

_MASK = 2**64 - 1
_P1 = 0x9E3779B185EBCA87
_P2 = 0xC2B2AE3D27D4EB4F
_P3 = 0x165667B19E3779F9
_P4 = 0x85EBCA77C2B2AE63
_P5 = 0x27D4EB2F165667C5
_STRIPE = Struct("<4Q")


class Xxh64:
    """A running XXH64 with seed 0."""

    def __init__(self) -> None:
        self._lanes = ((_P1 + _P2) & _MASK, _P2, 0, -_P1 & _MASK)
        self._rest = b""
        self._length = 0

    def update(self, data: bytes) -> None:
        """Feed bytes."""
        self._length += len(data)
        data = self._rest + data
        whole = len(data) // _STRIPE.size * _STRIPE.size
        self._rest = data[whole:]
        first, second, third, fourth = self._lanes
        for one, two, three, four in _STRIPE.iter_unpack(memoryview(data)[:whole]):
            # Each lane is rotated by 31 bits.
            first = (first + one * _P2) & _MASK
            first = ((first << 31 | first >> 33) & _MASK) * _P1 & _MASK
            second = (second + two * _P2) & _MASK
            second = ((second << 31 | second >> 33) & _MASK) * _P1 & _MASK
            third = (third + three * _P2) & _MASK
            third = ((third << 31 | third >> 33) & _MASK) * _P1 & _MASK
            fourth = (fourth + four * _P2) & _MASK
            fourth = ((fourth << 31 | fourth >> 33) & _MASK) * _P1 & _MASK
        self._lanes = first, second, third, fourth

    def digest(self) -> bytes:
        """The checksum of what was fed, 8 bytes, big endian."""
        total = self._merged() if self._length >= _STRIPE.size else _P5
        total = (total + self._length) & _MASK
        rest = self._rest
        at = 0
        while at + 8 <= len(rest):
            (word,) = unpack_from("<Q", rest, at)
            total = (_rotated(total ^ _round(0, word), 27) * _P1 + _P4) & _MASK
            at += 8
        if at + 4 <= len(rest):
            (half,) = unpack_from("<I", rest, at)
            total = (_rotated(total ^ (half * _P1 & _MASK), 23) * _P2 + _P3) & _MASK
            at += 4
        for byte in rest[at:]:
            total = _rotated(total ^ (byte * _P5 & _MASK), 11) * _P1 & _MASK
        total = (total ^ total >> 33) * _P2 & _MASK
        total = (total ^ total >> 29) * _P3 & _MASK
        return (total ^ total >> 32).to_bytes(8, "big")

    def _merged(self) -> int:
        total = sum(_rotated(lane, bits) for lane, bits in zip(self._lanes, (1, 7, 12, 18), strict=True)) & _MASK
        for lane in self._lanes:
            total = ((total ^ _round(0, lane)) * _P1 + _P4) & _MASK
        return total


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK


def _round(lane: int, word: int) -> int:
    return _rotated((lane + word * _P2) & _MASK, 31) * _P1 & _MASK
