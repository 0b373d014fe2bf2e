"""The places of items of arrays and maps in all rows, so that all items are read together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from serdes.codec.schema import Node
from spark_avro.columns import part
from spark_avro.columns.part import Read
from spark_avro.columns.rows import Longs, Rows


class Places(NamedTuple):
    """The starts and ends of items in the rows' order, and the number of items of each row."""

    starts: Longs
    ends: Longs
    counts: Longs


#: Takes rows and the number of items left in each row's block; finds one or more items of each row that is not broken,
#: and advances the rows past them.
Find = Callable[[Rows, Longs], Places]

#: The kinds whose values are one varint.
_VARINTS = frozenset({"int", "long", "enum"})
_WIDTHS = {"null": 0, "boolean": 1, "float": 4, "double": 8}


def find_numbers(node: Node) -> Find | None:
    """The function that finds all items of a block at once; None unless items are varints or have a fixed width."""
    width = _width(node)
    if width is not None:
        return find_of_width(width)
    return find_varints if node.kind in _VARINTS else None


def find_one(skip: Read) -> Find:
    """The function that finds the next item of each row by skipping it."""

    def find(rows: Rows, _: Longs) -> Places:
        starts = rows.at
        skip(rows)
        return Places(starts, rows.at, np.ones(len(rows), np.int64))

    return find


def find_all(rows: Rows, find: Find, least: int) -> Places:
    """Finds the items of all rows; an item has at least `least` bytes.

    If a few rows have more items than all others, these rows are left to the decoder of single messages.
    """
    turns: list[tuple[Longs, Longs, Places]] = []
    which = np.arange(len(rows))
    left, counts = np.zeros((2, len(rows)), np.int64)
    while True:
        ended = which[left[which] == 0]
        heads = rows.pick(ended)
        left[ended] = _counts(heads, least)
        rows.put(ended, heads)
        which = which[left[which] > 0]
        # A turn has a fixed cost, even for few rows.
        if len(which) < part.FEW + len(turns) // 4:
            rest = np.zeros(len(rows), np.bool_)
            rest[which] = True
            rows.mark_broken(rest)
            return in_order(turns, counts)
        inside = rows.pick(which)
        places = find(inside, left[which])
        rows.put(which, inside)
        turns.append((which, counts[which], places))
        left[which] -= places.counts
        counts[which] += places.counts
        which = which[~inside.broken]


def in_order(turns: list[tuple[Longs, Longs, Places]], counts: Longs) -> Places:
    """The places of all turns in order; a turn has its rows, the rows' earlier counts of items, and the places."""
    starts, ends = np.empty((2, counts.sum()), np.int64)
    first = np.cumsum(counts) - counts
    for which, before, places in turns:
        order = np.repeat(first[which] + before, places.counts) + ranks(places.counts)
        starts[order], ends[order] = places.starts, places.ends
    return Places(starts, ends, counts)


def ranks(counts: Longs) -> Longs:
    """For each count, the numbers from 0 to the count minus 1."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def find_of_width(width: int) -> Find:
    """The function that finds a number of items of a fixed width, in bytes, in each row."""

    def find(rows: Rows, left: Longs) -> Places:
        starts = np.repeat(rows.at, left) + width * ranks(left)
        rows.skip(width * left)
        return Places(starts, starts + width, left)

    return find


def find_varints(rows: Rows, left: Longs) -> Places:
    """Finds a number of varints in each row."""
    last_bytes, at = rows.buffer.last_bytes, rows.at
    first = np.searchsorted(last_bytes, at)
    # The padding has last bytes too, and lies beyond all rows.
    next_at = last_bytes[np.minimum(first + left, len(last_bytes)) - 1] + 1
    rows.skip(next_at - at)
    counts = np.where(rows.broken, 0, left)
    number = ranks(counts)
    ends = last_bytes[np.repeat(first, counts) + number] + 1
    starts = np.repeat(at, counts)
    later = np.flatnonzero(number)
    starts[later] = ends[later - 1]
    return Places(starts, ends, counts)


def _width(node: Node) -> int | None:
    """The size in bytes of a type's values if all have the same size, else None."""
    if node.kind == "fixed":
        return node.size
    if node.kind != "record":
        return _WIDTHS.get(node.kind)
    widths = [_width(field.node) for field in node.fields]
    return None if None in widths else sum(width or 0 for width in widths)


def _counts(rows: Rows, least: int) -> Longs:
    """The number of items in each row's next block; 0 ends the collection."""
    counts = rows.integers()
    sized = np.flatnonzero(counts < 0)
    if len(sized):
        # A negative count is followed by the block's size in bytes, for readers that skip the block.
        heads = rows.pick(sized)
        heads.within(heads.integers())
        rows.put(sized, heads)
        counts = np.abs(counts)
    # The lowest long has no absolute value and stays negative; as an unsigned number it is greater than any room.
    rows.mark_broken(counts.view(np.uint64) > ((rows.end - rows.at) // least).view(np.uint64))
    counts[rows.broken] = 0
    return counts
