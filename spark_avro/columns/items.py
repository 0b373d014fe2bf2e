"""Items of arrays and maps: where those of all rows lie, so that all of them are read together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from serdes.codec.schema import Node
from spark_avro.columns import part
from spark_avro.columns.part import Read
from spark_avro.columns.rows import Longs, Rows


class Places(NamedTuple):
    """Where items of rows begin and end, in the rows' order, and how many there are of each row."""

    starts: Longs
    ends: Longs
    counts: Longs


#: Finds the next items of rows, each of which has so many left in its block: one or more of each that is not broken.
#: The rows move on behind them.
Find = Callable[[Rows, Longs], Places]

#: What is one varint in the data.
_VARINTS = frozenset({"int", "long", "enum"})
_WIDTHS = {"null": 0, "boolean": 1, "float": 4, "double": 8}


def find_numbers(node: Node) -> Find | None:
    """What finds the items of a block at once, which can be done with varints and with values of one width."""
    width = _width(node)
    if width is not None:
        return _of_width(width)
    return _varints if node.kind in _VARINTS else None


def find_one(pass_over: Read) -> Find:
    """What finds the next item of each row by passing over it."""

    def find(rows: Rows, _: Longs) -> Places:
        starts = rows.at
        pass_over(rows)
        return Places(starts, rows.at, np.ones(len(rows), np.int64))

    return find


def find_all(rows: Rows, find: Find, least: int) -> Places:
    """The items of all rows, of which each takes so many bytes at least.

    Where a few rows have more items than all others, these rows are left to the decoder of single messages.
    """
    turns: list[tuple[Longs, Longs, Places]] = []
    which = np.arange(len(rows))
    left, found = np.zeros((2, len(rows)), np.int64)
    while True:
        ended = which[left[which] == 0]
        heads = rows.pick(ended)
        left[ended] = _counts(heads, least)
        rows.put(ended, heads)
        which = which[left[which] > 0]
        # A turn takes its time however few rows it is for.
        if len(which) < part.FEW + len(turns) // 4:
            rest = np.zeros(len(rows), np.bool_)
            rest[which] = True
            rows.leave(rest)
            return _in_order(turns, found)
        inside = rows.pick(which)
        places = find(inside, left[which])
        rows.put(which, inside)
        turns.append((which, found[which], places))
        left[which] -= places.counts
        found[which] += places.counts
        which = which[~inside.broken]


def _in_order(turns: list[tuple[Longs, Longs, Places]], counts: Longs) -> Places:
    """All places, given the rows and how many items of each were found before, by turns, and how many in the end."""
    starts, ends = np.empty((2, counts.sum()), np.int64)
    first = np.cumsum(counts) - counts
    for which, before, places in turns:
        order = np.repeat(first[which] + before, places.counts) + _ranks(places.counts)
        starts[order], ends[order] = places.starts, places.ends
    return Places(starts, ends, counts)


def _ranks(counts: Longs) -> Longs:
    """0, 1, 2 and so on up to each count."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _of_width(width: int) -> Find:
    def find(rows: Rows, left: Longs) -> Places:
        starts = np.repeat(rows.at, left) + width * _ranks(left)
        rows.skip(width * left)
        return Places(starts, starts + width, left)

    return find


def _varints(rows: Rows, left: Longs) -> Places:
    last_bytes, at = rows.buffer.last_bytes, rows.at
    first = np.searchsorted(last_bytes, at)
    # The padding has some, and is beyond all rows.
    behind = last_bytes[np.minimum(first + left, len(last_bytes)) - 1] + 1
    rows.skip(behind - at)
    counts = np.where(rows.broken, 0, left)
    ranks = _ranks(counts)
    ends = last_bytes[np.repeat(first, counts) + ranks] + 1
    starts = np.repeat(at, counts)
    later = np.flatnonzero(ranks)
    starts[later] = ends[later - 1]
    return Places(starts, ends, counts)


def _width(node: Node) -> int | None:
    """The bytes that each value of a type takes, if that is the same for all."""
    if node.kind == "fixed":
        return node.size
    if node.kind != "record":
        return _WIDTHS.get(node.kind)
    widths = [_width(field.node) for field in node.fields]
    return None if None in widths else sum(width or 0 for width in widths)


def _counts(rows: Rows, least: int) -> Longs:
    """The items of each row's next block; 0 ends the collection."""
    counts = rows.integers()
    sized = np.flatnonzero(counts < 0)
    if len(sized):
        # Below zero, the bytes of the block follow, for those who pass it over.
        heads = rows.pick(sized)
        heads.within(heads.integers())
        rows.put(sized, heads)
        counts = np.abs(counts)
    # What has no counterpart above zero stays below it, and is greater than any room without its sign.
    rows.leave(counts.view(np.uint64) > ((rows.end - rows.at) // least).view(np.uint64))
    counts[rows.broken] = 0
    return counts
