"""Damage in SQLite's write-ahead log: SQLite itself silently drops every transaction from the first bad frame on."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_HEADER = struct.Struct(">IIIIIIII")
_FRAME = struct.Struct(">IIIIII")
#: The magic number, without its last bit, which tells the byte order of checksums.
_MAGIC = 0x377F0682
_MASK = 0xFFFFFFFF
#: A file that another process writes looks damaged for a moment; one that is damaged stays as it is.
_SECOND_LOOK_SECONDS = 0.2

#: How many frames are read with a page size and a byte order before the next ones are tried.
_FRAMES_TRIED = 5

Sums = tuple[int, int]


class Damage(NamedTuple):
    """Transactions that SQLite drops because a frame before them is bad.

    Attributes:
        place: The offset of the bad frame in the file, in bytes; 0 if the file's header is bad.
        transactions: How many commits of valid frames lie behind it.
    """

    place: int
    transactions: int


class _Frame(NamedTuple):
    place: int
    is_commit: bool
    salts: Sums
    sums: Sums
    #: Eight bytes of the frame's header and the page, which the checksum covers.
    covered: bytes


def find_damage(wal: Path) -> Damage | None:
    """Return the damage in a write-ahead log; None if there is none, or nothing can be said.

    A bad frame at the end may belong to a transaction that was never committed; so may valid frames without a commit
    behind it. But a commit is written only after all frames before it, so if a valid one lies behind a bad frame, that
    frame is damaged. Frames with other salts are left from an earlier use of the file. The format is
    https://www.sqlite.org/fileformat2.html#the_write_ahead_log.
    """
    content = _read(wal)
    damage = _damage_in(content)
    if damage is None:
        return None
    time.sleep(_SECOND_LOOK_SECONDS)
    return damage if _read(wal) == content else None


def _read(wal: Path) -> bytes:
    try:
        return wal.read_bytes()
    except FileNotFoundError:
        return b""


def _damage_in(content: bytes) -> Damage | None:
    if len(content) < _HEADER.size:
        return None
    magic, _, page_size, _, *rest = _HEADER.unpack_from(content)
    salts, sums = (rest[0], rest[1]), (rest[2], rest[3])
    order = ">" if magic & 1 else "<"
    if magic & ~1 != _MAGIC or _checksum(content[:24], (0, 0), order) != sums:
        return _behind_bad_header(content)
    bad: int | None = None
    transactions = 0
    for frame in _frames(content, page_size):
        is_valid = frame.salts == salts and _checksum(frame.covered, sums, order) == frame.sums
        sums = frame.sums
        if not is_valid:
            bad = frame.place if bad is None else bad
        elif bad is not None:
            transactions += frame.is_commit
    return Damage(bad, transactions) if bad is not None and transactions else None


def _behind_bad_header(content: bytes) -> Damage | None:
    """The damage if commits are valid although the header is not; page size and byte order are then found by trying."""
    for page_size in (1 << bits for bits in range(9, 17)):
        for order in "<>":
            transactions = checked = valid = 0
            before: _Frame | None = None
            for frame in _frames(content, page_size):
                # Zeros may stand instead of any number of frames; they tell nothing about page size and byte order.
                if before is not None and frame.sums != (0, 0):
                    checked += 1
                    is_valid = _checksum(frame.covered, before.sums, order) == frame.sums
                    valid += is_valid
                    transactions += is_valid and frame.is_commit
                before = frame
                if checked == _FRAMES_TRIED and not valid:
                    break
            if transactions:
                return Damage(0, transactions)
    return None


def _frames(content: bytes, page_size: int) -> Iterator[_Frame]:
    size = _FRAME.size + page_size
    for place in range(_HEADER.size, len(content) - size + 1, size):
        _, pages, salt1, salt2, sum1, sum2 = _FRAME.unpack_from(content, place)
        covered = content[place : place + 8] + content[place + _FRAME.size : place + size]
        yield _Frame(place, pages != 0, (salt1, salt2), (sum1, sum2), covered)


def _checksum(content: bytes, sums: Sums, order: str) -> Sums:
    """Continue a checksum over a content whose length is a multiple of 8."""
    first, second = sums
    words = iter(struct.unpack(f"{order}{len(content) // 4}I", content))
    for one, two in zip(words, words, strict=True):
        first = (first + one + second) & _MASK
        second = (second + two + first) & _MASK
    return first, second
