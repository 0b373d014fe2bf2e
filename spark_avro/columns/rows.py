"""Many messages read together: a position in each, moved on for all of them by a few operations on arrays."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: So many bytes behind the last message can be read: a number is read eight bytes at once, or ten one by one.
PADDING = 16

#: A varint's bytes, as many of them as a word has: the flag that another follows, and the seven bits of the number.
_MORE = np.uint64(0x8080808080808080)
_GROUPS = np.uint64(0x7F7F7F7F7F7F7F7F)
_ONES = np.uint64(0x0101010101010101)
_ONE, _WORD = np.uint64(1), 8

#: How neighbours are joined, so that groups of 7 bits become groups of 14, 28 and 56: the bits of the right and of the
#: left ones, and how far the left ones are from where they belong.
_JOINS = tuple(
    (np.uint64(right), np.uint64(left), np.uint64(shift))
    for right, left, shift in (
        (0x007F007F007F007F, 0x7F007F007F007F00, 1),
        (0x00003FFF00003FFF, 0x3FFF00003FFF0000, 2),
        (0x000000000FFFFFFF, 0x0FFFFFFF00000000, 4),
    )
)


class Content(NamedTuple):
    """Where bytes lie in the buffer, of each row: shape (rows,) each."""

    start: Longs
    size: Longs


class Buffer:
    """The bytes of all messages.

    Attributes:
        data: The bytes, with PADDING zeros behind the last message, shape (bytes,).
        words: The eight bytes from each position on as a number, the first byte lowest, shape (bytes - 7,).
    """

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self.data = data
        self.words: npt.NDArray[np.uint64] = np.ndarray((len(data) - _WORD + 1,), "<u8", data, strides=(1,))

    @cached_property
    def last_bytes(self) -> Longs:
        """The positions of all bytes that would be the last of a varint, those of the padding included."""
        return np.flatnonzero(self.data < 128)


class Rows:
    """A position in each row's message, all messages lying in one buffer.

    No position leaves its row. A row that turns out to be broken stands at its end from then on; what is read there is
    garbage that nobody looks at.

    Attributes:
        buffer: The bytes.
        at: The position of each row, shape (rows,); they increase with the rows.
        end: The end of each row's message, shape (rows,).
        broken: Whether a row cannot be read on, shape (rows,).
    """

    def __init__(self, buffer: Buffer, at: Longs, end: Longs) -> None:
        self.buffer = buffer
        self.at = at
        self.end = end
        self.broken: Flags = np.zeros(len(at), np.bool_)

    def __len__(self) -> int:
        return len(self.at)

    def leave(self, rows: Flags) -> None:
        """Marks rows as broken."""
        if rows.any():
            self.broken = self.broken | rows
            self.at = np.where(rows, self.end, self.at)

    def skip(self, size: Longs | int) -> None:
        """Moves each row on by so many bytes; those that have not so many left, or are to go back, are broken."""
        room = self.end - self.at
        self.at = self.at + size
        # As a number without a sign, one below zero is greater than any room.
        self.leave(np.asarray(size).astype(np.uint64) > room.view(np.uint64))

    def content(self, size: Longs | int) -> Content:
        """The next bytes of each row, and moves on behind them; of a row that has not so many, all that it has."""
        start = self.at
        self.skip(size)
        return Content(start, self.at - start)

    def within(self, size: Longs) -> None:
        """Breaks the rows that have fewer bytes left, or a size below zero."""
        self.leave(size.view(np.uint64) > (self.end - self.at).view(np.uint64))

    def integers(self) -> Longs:
        """The varint of each row, of up to 64 bits in up to ten bytes."""
        word = self.buffer.words[self.at]
        last = ~word & _MORE
        # All bits up to the first byte without the flag; all there are where the varint is longer than the word.
        own = last ^ (last - _ONE)
        size = ((own & _ONES) * _ONES >> np.uint64(56)).view(np.int64)
        value = word & own & _GROUPS
        for right, left, shift in _JOINS:
            value = (value & right) | ((value & left) >> shift)
        longer = last == 0
        if longer.any():
            self._longer(longer, value, size)
        self.skip(size)
        return (value >> _ONE).view(np.int64) ^ -(value & _ONE).view(np.int64)

    def _longer(self, longer: Flags, value: npt.NDArray[np.uint64], size: Longs) -> None:
        """Puts the ninth and the tenth byte in, of the rows whose varints have them."""
        behind = self.at[longer] + _WORD
        data = self.buffer.data
        ninth, tenth = data[behind].astype(np.uint64), data[behind + 1].astype(np.uint64)
        more = ninth > 127
        tenth[~more] = 0
        value[longer] |= (ninth & np.uint64(127)) << np.uint64(56) | tenth << np.uint64(63)
        # A tenth byte has room for one bit. A size that no row has breaks those that say more.
        size[longer] = np.where(tenth > 1, np.int64(-1), _WORD + 1 + more)

    def pick(self, which: npt.NDArray[Any]) -> Rows:
        """Some of the rows, by their indices in increasing order, to be read by themselves."""
        return Rows(self.buffer, self.at[which], self.end[which])

    def put(self, which: npt.NDArray[Any], rows: Rows) -> None:
        """Goes on where the rows that were picked have got to."""
        self.at = self.at.copy()
        self.at[which] = rows.at
        self.broken[which] |= rows.broken
