"""Tables of varints, so that generated encoders write numbers without a loop; built with the first encoder."""

from __future__ import annotations

import struct

from serdes.codec.varint import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN


def _pairs(high: range) -> list[bytes]:
    """All pairs of bytes: a low group with the "more follows" flag, then one of the high bytes."""
    flat = bytearray(256 * len(high))
    flat[::2] = bytes(range(128, 256)) * len(high)
    flat[1::2] = b"".join(bytes((byte,)) * 128 for byte in high)
    return list(struct.unpack("2s" * (128 * len(high)), flat))


#: The two 7-bit groups of 0..16383 as bytes that both have the "more follows" flag.
MORE = _pairs(range(128, 256))
#: The varints of 0..16383, the zig-zag codes of -8192..8191.
VARINT = [bytes((value,)) for value in range(128)] + _pairs(range(1, 128))
#: The varints of -8192..8191, indexed by the value: a negative index counts from the end.
SMALL = VARINT[::2] + VARINT[::-2]
SMALL_MIN, SMALL_END = -8192, 8192


def write_long(value: int) -> bytes:
    """The varint of a value of 64 bits.

    Raises:
        OverflowError: The value does not fit 64 bits.
    """
    if not LONG_MIN <= value <= LONG_MAX:
        raise OverflowError(value)
    rest = value << 1 ^ value >> 63
    if rest < 1 << 28:
        return MORE[rest & 16383] + VARINT[rest >> 14] if rest > 16383 else VARINT[rest]
    if rest < 1 << 42:
        return MORE[rest & 16383] + MORE[rest >> 14 & 16383] + VARINT[rest >> 28]
    head = MORE[rest & 16383] + MORE[rest >> 14 & 16383] + MORE[rest >> 28 & 16383]
    if rest < 1 << 56:
        return head + VARINT[rest >> 42]
    return head + MORE[rest >> 42 & 16383] + VARINT[rest >> 56]


def write_int(value: int) -> bytes:
    """The varint of a value of 32 bits.

    Raises:
        OverflowError: The value does not fit 32 bits.
    """
    if not INT_MIN <= value <= INT_MAX:
        raise OverflowError(value)
    return write_long(value)
