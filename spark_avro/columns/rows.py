"""Many messages read together: a position in each, advanced for all messages by a few array operations."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
ULongs = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

#: The bytes after the last message that may be read: a number is read as eight bytes at once, or as ten bytes.
PADDING = 16

#: Masks for the bytes of a varint in a word: the flags that another byte follows, and the seven bits of the number.
_MORE = np.uint64(0x8080808080808080)
_GROUPS = np.uint64(0x7F7F7F7F7F7F7F7F)
_ONES = np.uint64(0x0101010101010101)
_ONE, _WORD = np.uint64(1), 8

#: The steps that join neighbours, so that groups of 7 bits become groups of 14, 28 and 56: the masks of the right and
#: left groups, and the distance by which the left groups must be shifted.
_JOINS = tuple(
    (np.uint64(right), np.uint64(left), np.uint64(shift))
    for right, left, shift in (
        (0x007F007F007F007F, 0x7F007F007F007F00, 1),
        (0x00003FFF00003FFF, 0x3FFF00003FFF0000, 2),
        (0x000000000FFFFFFF, 0x0FFFFFFF00000000, 4),
    )
)


class Content(NamedTuple):
    """The start and size of each row's bytes in the buffer, each of shape (rows,)."""

    start: Longs
    size: Longs


class Buffer:
    """The bytes of all messages.

    Attributes:
        data: The bytes, with PADDING zeros after the last message, shape (bytes,).
        words: The eight bytes from each position as a little-endian number, shape (bytes - 7,).
    """

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self.data = data
        self.words: ULongs = np.ndarray((len(data) - _WORD + 1,), "<u8", data, strides=(1,))

    @cached_property
    def last_bytes(self) -> Longs:
        """The positions of all bytes that would end a varint, padding included."""
        return np.flatnonzero(self.data < 128)


class Rows:
    """A position in each row's message; all messages are in one buffer.

    A position never leaves its row. The position of a broken row stays at the row's end, and values read there are
    garbage that is not used.

    Attributes:
        buffer: The bytes of all messages.
        at: The position in each row, shape (rows,); positions increase with the rows.
        end: The end of each row's message, shape (rows,).
        broken: Whether each row is broken, shape (rows,).
    """

    def __init__(self, buffer: Buffer, at: Longs, end: Longs) -> None:
        self.buffer = buffer
        self.at = at
        self.end = end
        self.broken: Flags = np.zeros(len(at), np.bool_)

    def __len__(self) -> int:
        return len(self.at)

    def mark_broken(self, rows: Flags) -> None:
        """Marks rows as broken."""
        if rows.any():
            self.broken = self.broken | rows
            self.at = np.where(rows, self.end, self.at)

    def skip(self, size: Longs | int) -> None:
        """Advances each row by a size in bytes; rows with fewer bytes left, or a negative size, become broken."""
        room = self.end - self.at
        self.at = self.at + size
        # As an unsigned number, a negative one is greater than any room.
        self.mark_broken(np.asarray(size).astype(np.uint64) > room.view(np.uint64))

    def content(self, size: Longs | int) -> Content:
        """Reads the next bytes of each row; of a row with fewer bytes left, all of them."""
        start = self.at
        self.skip(size)
        return Content(start, self.at - start)

    def within(self, size: Longs) -> None:
        """Marks rows as broken if fewer bytes are left than `size`, or if it is negative."""
        self.mark_broken(size.view(np.uint64) > (self.end - self.at).view(np.uint64))

    def integers(self) -> Longs:
        """Reads the zigzag varint of each row, of up to 64 bits in up to ten bytes."""
        value = self.varints()
        return (value >> _ONE).view(np.int64) ^ -(value & _ONE).view(np.int64)

    def varints(self) -> ULongs:
        """Reads the varint of each row, of up to 64 bits in up to ten bytes."""
        word = self.buffer.words[self.at]
        last = ~word & _MORE
        # All bits up to the flag of the first byte without one; the whole word if the varint is longer.
        mask = last ^ (last - _ONE)
        size = ((mask & _ONES) * _ONES >> np.uint64(56)).view(np.int64)
        value = word & mask & _GROUPS
        for right, left, shift in _JOINS:
            value = (value & right) | ((value & left) >> shift)
        longer = last == 0
        if longer.any():
            self._longer(longer, value, size)
        self.skip(size)
        return value

    def _longer(self, longer: Flags, value: ULongs, size: Longs) -> None:
        """Adds the ninth and the tenth byte for the rows whose varints have them."""
        ninth_at = self.at[longer] + _WORD
        data = self.buffer.data
        ninth, tenth = data[ninth_at].astype(np.uint64), data[ninth_at + 1].astype(np.uint64)
        more = ninth > 127
        tenth[~more] = 0
        value[longer] |= (ninth & np.uint64(127)) << np.uint64(56) | tenth << np.uint64(63)
        # A tenth byte has room for one bit. If it has more, an impossible size makes the row broken.
        size[longer] = np.where(tenth > 1, np.int64(-1), _WORD + 1 + more)

    def pick(self, which: npt.NDArray[Any]) -> Rows:
        """Some of the rows, by their indices in increasing order, to be read separately."""
        return Rows(self.buffer, self.at[which], self.end[which])

    def put(self, which: npt.NDArray[Any], rows: Rows) -> None:
        """Takes over the positions of rows that were picked, after they were read."""
        self.at = self.at.copy()
        self.at[which] = rows.at
        self.broken[which] |= rows.broken
