"""Zig-zag variable-length integers: bounds, and reading and writing step by step."""

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
