"""Values with parts: records field by field, unions branch by branch, arrays and maps item by item, of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from spark_avro.columns.reader import Read
from spark_avro.columns.rows import Flags, Longs, Rows

#: Of so few rows the row decoder has done each by the time that they would have been read in columns.
FEW = 64

#: Makes the array of collections of the rows, of offsets into their items and the items.
Collect = Callable[[Rows, pa.Array, pa.Array], pa.Array]


def record(steps: Sequence[tuple[int, Read]], absent: Sequence[tuple[int, Read]], kind: pa.DataType | None) -> Read:
    """Reads records, the writer's fields in their order.

    Args:
        steps: Which of the reader's fields each of the writer's is, -1 for none, and what reads it.
        absent: The reader's other fields, and what gives them.
        kind: The struct; None where nobody wants it.
    """

    def read(rows: Rows) -> pa.Array | None:
        columns = {target: step(rows) for target, step in steps}
        if kind is None:
            return None
        columns |= {target: default(rows) for target, default in absent}
        return pa.StructArray.from_arrays([columns[target] for target in range(kind.num_fields)], fields=list(kind))

    return read


def union(branches: Sequence[Read], kind: pa.DataType | None) -> Read:
    """Reads unions whose branches all become the same type; None where nobody wants it."""

    def read(rows: Rows) -> pa.Array | None:
        index = rows.integers()
        rows.leave((index < 0) | (index >= len(branches)))
        # The broken ones have to be somewhere.
        index[rows.broken] = 0
        parts: list[pa.Array] = []
        order, done = np.empty(len(rows), np.int64), 0
        for number, branch in enumerate(branches):
            which = np.flatnonzero(index == number)
            if len(which) == len(rows):
                return branch(rows)
            if len(which):
                inside = rows.pick(which)
                parts.append(branch(inside))
                rows.put(which, inside)
                order[which] = np.arange(done, done + len(which))
                done += len(which)
        return None if kind is None else pa.concat_arrays(parts).take(pa.array(order))

    return read


def array(item: Read, least: int, kind: pa.DataType | None) -> Read:
    """Reads arrays.

    Args:
        item: What reads an item.
        least: The fewest bytes that an item takes, at least one.
        kind: The list; None where nobody wants it.
    """
    if kind is None:
        return _collections(item, least, None, None)
    return _collections(
        item, least, kind.value_type, lambda _, offsets, items: pa.ListArray.from_arrays(offsets, items, type=kind)
    )


def mapping(key: Read, value: Read, least: int, kind: pa.DataType | None) -> Read:
    """Reads maps; one with a key twice is left to the row decoder, which keeps the last. Args as of `array`."""
    steps = [(0, key), (1, value)]
    if kind is None:
        return _collections(record(steps, (), None), least, None, None)
    entry = pa.struct([kind.key_field, kind.item_field])

    def collect(rows: Rows, offsets: pa.Array, items: pa.Array) -> pa.Array:
        rows.leave(_with_a_key_twice(offsets.to_numpy(), items.field(0)))
        return pa.MapArray.from_arrays(offsets, items.field(0), items.field(1))

    return _collections(record(steps, (), entry), least, entry, collect)


def _with_a_key_twice(offsets: Longs, keys: pa.Array) -> Flags:
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    numbers = keys.dictionary_encode().indices.to_numpy().astype(np.int64)
    _, first = np.unique(owners * (len(keys) + 1) + numbers, return_index=True)
    found = np.zeros(len(offsets) - 1, np.bool_)
    found[np.delete(owners, first)] = True
    return found


def _collections(item: Read, least: int, kind: pa.DataType | None, collect: Collect | None) -> Read:
    def read(rows: Rows) -> pa.Array | None:
        turns = list(_turns(rows, item, least))
        if collect is None:
            return None
        owners = np.concatenate([which for which, _ in turns]) if turns else np.empty(0, np.int64)
        offsets = np.zeros(len(rows) + 1, np.int32)
        np.cumsum(np.bincount(owners, minlength=len(rows)), out=offsets[1:])
        # A row has an item in every turn from the first to its last.
        order = np.empty(len(owners), np.int64)
        places = [offsets[which] + turn for turn, (which, _) in enumerate(turns)]
        order[np.concatenate(places) if places else []] = np.arange(len(owners))
        items = pa.concat_arrays([values for _, values in turns]) if turns else pa.array([], kind)
        return collect(rows, pa.array(offsets), items.take(pa.array(order)))

    return read


def _turns(rows: Rows, item: Read, least: int) -> Iterator[tuple[Longs, pa.Array]]:
    """By turns the next item of every row that has one: the rows' indices, and the items."""
    which = np.arange(len(rows))
    left = np.zeros(len(rows), np.int64)
    while True:
        ended = which[left[which] == 0]
        heads = rows.pick(ended)
        left[ended] = _counts(heads, least)
        rows.put(ended, heads)
        which = which[left[which] > 0]
        if len(which) < FEW:
            rest = np.zeros(len(rows), np.bool_)
            rest[which] = True
            rows.leave(rest)
            return
        inside = rows.pick(which)
        yield which, item(inside)
        rows.put(which, inside)
        left[which] -= 1
        which = which[~inside.broken]


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
