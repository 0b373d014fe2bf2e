"""The tables of generated decoders: tables by byte, functions for values of several bytes, statements by type."""

from __future__ import annotations

from serdes.codec.varint import read_length, read_long

#: By byte: the number of a one-byte varint; and its meaning as a length, -1 if the byte is not a whole length.
ZIGZAG = tuple(byte >> 1 ^ -(byte & 1) for byte in range(128))
LENGTHS = tuple(byte >> 1 if byte < 128 and not byte & 1 else -1 for byte in range(256))
#: The distance from a byte that is a whole length to the end of its content; 0 for all other bytes.
ENDS = tuple(length + 1 for length in LENGTHS)

_VARINT = (
    "{v} = b[p]",
    "if {v} < 128: {v} = Z[{v}]; p += 1",
    "elif b[p + 1] < 128: {v} += (b[p + 1] << 7) - 128; {v} = {v} >> 1 ^ -({v} & 1); p += 2",
    "else: {v}, p = long(b, p)",
)
#: The code and size by which struct reads a number.
REALS = {"float": ("f", 4), "double": ("d", 8)}
#: Statements that set `{v}` and move `p`.
READ: dict[str, tuple[str, ...]] = {
    "boolean": ("{v} = B[b[p]]; p += 1",),
    "int": (*_VARINT[:-1], _VARINT[-1].replace("long", "int32")),
    "long": _VARINT,
    "float": ("{v} = unpack_float(b, p)[0]; p += 4",),
    "double": ("{v} = unpack_double(b, p)[0]; p += 8",),
}


def end_of(buffer: bytes, position: int) -> tuple[int, int]:
    """The end and the start of content whose length is not one byte."""
    length, start = read_length(buffer, position)
    return start + length, start


def count_of(buffer: bytes, position: int) -> tuple[int, int]:
    """Reads the count of a block if it has several bytes, or is negative and followed by the block's size."""
    count, position = read_long(buffer, position)
    if count < 0:
        count = -count
        _, position = read_length(buffer, position)
    return count, position
