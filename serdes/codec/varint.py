"""Zig-zag variable-length integers: their bounds, and reading and writing step by step."""

from __future__ import annotations

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1
LONG_MIN, LONG_MAX = -(1 << 63), (1 << 63) - 1


def write_long(value: int) -> bytes:
    """The varint of a value of 64 bits."""
    out = bytearray()
    rest = value << 1 ^ value >> 63
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def read_long(buffer: bytes, position: int) -> tuple[int, int]:
    """The value of the varint at `position`, and the position after it.

    Raises:
        IndexError: The buffer ends inside the varint.
        OverflowError: The varint has more than ten bytes or 64 bits.
    """
    # Each byte is added with its flag, and all flags are subtracted at the end. The first five bytes, enough for most
    # numbers, are read without a loop, which would be slower.
    value = buffer[position]
    size, flags = 1, 0
    if value > 127:
        byte = buffer[position + 1]
        value += byte << 7
        size, flags = 2, 0x80
        if byte > 127:
            byte = buffer[position + 2]
            value += byte << 14
            size, flags = 3, 0x4080
            if byte > 127:
                byte = buffer[position + 3]
                value += byte << 21
                size, flags = 4, 0x204080
                if byte > 127:
                    byte = buffer[position + 4]
                    value += byte << 28
                    size, flags = 5, 0x10204080
                    while byte > 127:
                        if size > 9:
                            raise OverflowError("a varint of more than 10 bytes")
                        flags += 128 << 7 * (size - 1)
                        byte = buffer[position + size]
                        value += byte << 7 * size
                        size += 1
        value -= flags
        if value >> 64:
            raise OverflowError("a varint of more than 64 bits")
    return value >> 1 ^ -(value & 1), position + size


def read_int(buffer: bytes, position: int) -> tuple[int, int]:
    """As read_long, for a value that must fit 32 bits."""
    value, position = read_long(buffer, position)
    if not INT_MIN <= value <= INT_MAX:
        raise OverflowError(f"{value} does not fit an int")
    return value, position


def read_length(buffer: bytes, position: int) -> tuple[int, int]:
    """As read_long, for a length, which must be between 0 and the number of bytes left.

    Raises:
        ValueError: The length is out of this range.
    """
    value, position = read_long(buffer, position)
    if not 0 <= value <= len(buffer) - position:
        raise ValueError(f"a length of {value} where {max(len(buffer) - position, 0)} bytes are left")
    return value, position
