"""Arrays and maps: the items of all rows are found, then read together as one column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from serdes.codec.schema import Node
from spark_avro.columns.containers import record
from spark_avro.columns.items import Find, find_all, find_numbers, find_one
from spark_avro.columns.part import Read
from spark_avro.columns.rows import Flags, Longs, Rows


def array(item: Read, pass_over: Read, node: Node, least: int, kind: pa.DataType | None) -> Read:
    """Reads arrays.

    Args:
        item: What reads an item.
        pass_over: What passes over an item.
        node: The writer's type of the items.
        least: The fewest bytes that an item takes, at least one.
        kind: The list; None where nobody wants it.
    """
    find = find_numbers(node)
    if kind is None and find is None:
        return _passed_over(pass_over, least)
    found = find or find_one(pass_over)

    def read(rows: Rows) -> pa.Array | None:
        offsets, items = _items(rows, found, least, item)
        return None if kind is None else pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, type=kind)

    return read


def mapping(key: Read, value: Read, pass_over: Read, least: int, kind: pa.DataType | None) -> Read:
    """Reads maps; one with a key twice is left to the decoder of single messages, which keeps the last.

    Args:
        key: What reads a key.
        value: What reads a value.
        pass_over: What passes over a key and a value.
        least: The fewest bytes that these take.
        kind: The map; None where nobody wants it.
    """
    if kind is None:
        return _passed_over(pass_over, least)
    entry = record([(0, key), (1, value)], (), pa.struct([kind.key_field, kind.item_field]))

    def read(rows: Rows) -> pa.Array:
        offsets, items = _items(rows, find_one(pass_over), least, entry)
        rows.leave(_with_a_key_twice(offsets, items.field(0)))
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), items.field(0), items.field(1))

    return read


def _passed_over(pass_over: Read, least: int) -> Read:
    def read(rows: Rows) -> None:
        find_all(rows, find_one(pass_over), least)

    return read


def _items(rows: Rows, find: Find, least: int, item: Read) -> tuple[Longs, pa.Array]:
    """Where each row's items begin and the last one's end among all items, and these, as `item` gives them."""
    places = find_all(rows, find, least)
    items = Rows(rows.buffer, places.starts, places.ends)
    values = item(items)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(places.counts, out=offsets[1:])
    if items.broken.any():
        rows.leave(np.diff(np.cumsum([0, *items.broken])[offsets]) > 0)
    return offsets, values


def _with_a_key_twice(offsets: Longs, keys: pa.Array) -> Flags:
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    numbers = keys.dictionary_encode().indices.to_numpy().astype(np.int64)
    _, first = np.unique(owners * (len(keys) + 1) + numbers, return_index=True)
    found = np.zeros(len(offsets) - 1, np.bool_)
    found[np.delete(owners, first)] = True
    return found
