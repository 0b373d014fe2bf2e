"""Zig-zag variable-length integers, and the tables by which generated code writes them without a loop."""

from __future__ import annotations

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1
LONG_MIN, LONG_MAX = -(1 << 63), (1 << 63) - 1

#: The two 7-bit groups of 0..16383 as bytes that both say "more follows".
_PAIRS = bytes(byte for high in range(128, 256) for low in range(128, 256) for byte in (low, high))
MORE = [_PAIRS[at : at + 2] for at in range(0, 32768, 2)]
#: The varints of 0..16383: what zig-zag makes of -8192..8191.
VARINT = [bytes((value,)) for value in range(128)] + [
    bytes((low, high)) for high in range(1, 128) for low in range(128, 256)
]
#: The varint of each value from -8192 to 8191, under that very index: a negative one counts from the end.
SMALL = VARINT[::2] + VARINT[::-2]
SMALL_MIN, SMALL_END = -8192, 8192


def write_long(value: int) -> bytes:
    """The varint of a value that is known to fit 64 bits.

    Raises:
        OverflowError: It does not.
    """
    if not LONG_MIN <= value <= LONG_MAX:
        raise OverflowError(value)
    rest = value << 1 ^ value >> 63
    if rest < 1 << 14:
        return VARINT[rest]
    if rest < 1 << 28:
        return MORE[rest & 16383] + VARINT[rest >> 14]
    if rest < 1 << 42:
        return MORE[rest & 16383] + MORE[rest >> 14 & 16383] + VARINT[rest >> 28]
    head = MORE[rest & 16383] + MORE[rest >> 14 & 16383] + MORE[rest >> 28 & 16383]
    if rest < 1 << 56:
        return head + VARINT[rest >> 42]
    return head + MORE[rest >> 42 & 16383] + VARINT[rest >> 56]


def write_int(value: int) -> bytes:
    """The varint of a value that must fit 32 bits.

    Raises:
        OverflowError: It does not.
    """
    if not INT_MIN <= value <= INT_MAX:
        raise OverflowError(value)
    return write_long(value)


def read_long(buffer: bytes, position: int) -> tuple[int, int]:
    """The value of the varint at `position`, and the position after it.

    Raises:
        IndexError: The buffer ends inside it.
        OverflowError: It takes more than ten bytes or 64 bits.
    """
    value = buffer[position]
    position += 1
    if value > 127:
        # Each step adds the next group and takes back the flag of the one before.
        byte = buffer[position]
        value += (byte << 7) - 128
        position += 1
        if byte > 127:
            byte = buffer[position]
            value += (byte << 14) - 16384
            position += 1
            shift = 21
            while byte > 127:
                if shift > 63:
                    raise OverflowError("a varint of more than 10 bytes")
                byte = buffer[position]
                value += (byte << shift) - (1 << shift)
                position += 1
                shift += 7
            if value >> 64:
                raise OverflowError("a varint of more than 64 bits")
    return value >> 1 ^ -(value & 1), position


def read_int(buffer: bytes, position: int) -> tuple[int, int]:
    """As read_long, for a value that must fit 32 bits."""
    value, position = read_long(buffer, position)
    if not INT_MIN <= value <= INT_MAX:
        raise OverflowError(f"{value} does not fit an int")
    return value, position


def read_length(buffer: bytes, position: int) -> tuple[int, int]:
    """As read_long, for a length: it is neither negative nor more than what the buffer holds after it.

    Raises:
        ValueError: It is.
    """
    value, position = read_long(buffer, position)
    if not 0 <= value <= len(buffer) - position:
        raise ValueError(f"a length of {value} where {max(len(buffer) - position, 0)} bytes are left")
    return value, position
