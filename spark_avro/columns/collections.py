"""Arrays and maps: locates the items of all rows, then reads them together as one column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from serdes.codec.schema import Node
from spark_avro.columns.containers import record
from spark_avro.columns.items import Find, find_all, find_numbers, find_one
from spark_avro.columns.part import Read
from spark_avro.columns.rows import Flags, Longs, Rows


def array(item: Read, skip: Read, node: Node, least: int, kind: pa.DataType | None) -> Read:
    """Reads arrays.

    Args:
        item: The reader of an item.
        skip: The reader that skips an item.
        node: The writer's type of the items.
        least: The minimum size of an item in bytes, at least 1.
        kind: The list type; None to skip the array.
    """
    find = find_numbers(node)
    if kind is None and find is None:
        return _skipped(skip, least)
    locate = find or find_one(skip)

    def read(rows: Rows) -> pa.Array | None:
        offsets, items = _items(rows, locate, least, item)
        return None if kind is None else pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, type=kind)

    return read


def mapping(key: Read, value: Read, skip: Read, least: int, kind: pa.DataType | None) -> Read:
    """Reads maps; a map with a duplicate key is left to the decoder of single messages, which keeps the last.

    Args:
        key: The reader of a key.
        value: The reader of a value.
        skip: The reader that skips a key and its value.
        least: The minimum size of a key and its value in bytes.
        kind: The map type; None to skip the map.
    """
    if kind is None:
        return _skipped(skip, least)
    entry = record([(0, key), (1, value)], (), pa.struct([kind.key_field, kind.item_field]))

    def read(rows: Rows) -> pa.Array:
        offsets, items = _items(rows, find_one(skip), least, entry)
        rows.mark_broken(with_duplicate_key(offsets, items.field(0)))
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), items.field(0), items.field(1))

    return read


def _skipped(skip: Read, least: int) -> Read:
    def read(rows: Rows) -> None:
        find_all(rows, find_one(skip), least)

    return read


def _items(rows: Rows, find: Find, least: int, item: Read) -> tuple[Longs, pa.Array]:
    """The offsets of each row's items among all items, and the values that `item` reads of them."""
    places = find_all(rows, find, least)
    items = Rows(rows.buffer, places.starts, places.ends)
    values = item(items)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(places.counts, out=offsets[1:])
    if items.broken.any():
        rows.mark_broken(np.diff(np.cumsum([0, *items.broken])[offsets]) > 0)
    return offsets, values


def with_duplicate_key(offsets: Longs, keys: pa.Array) -> Flags:
    """Whether each map has a key twice."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    numbers = keys.dictionary_encode().indices.to_numpy().astype(np.int64)
    _, first = np.unique(owners * (len(keys) + 1) + numbers, return_index=True)
    duplicate = np.zeros(len(offsets) - 1, np.bool_)
    duplicate[np.delete(owners, first)] = True
    return duplicate
