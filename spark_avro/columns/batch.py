"""Decodes a batch of messages to columns: messages of one schema together if possible, the others row by row."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from serdes.message import wire
from spark_avro.columns import part
from spark_avro.columns.part import Read
from spark_avro.columns.rows import PADDING, Buffer, Longs, Rows

#: The bytes of messages that are read at once; reading them takes up to a hundred times as much memory.
SLICE = 1 << 21

#: A message's value, and the reason if it is broken.
Outcome = tuple[Any, str | None]


def decode_batch(
    messages: pa.Array,
    kind: pa.DataType,
    decode: Callable[[bytes | None], Outcome],
    reader_of: Callable[[int], Read | None],
) -> tuple[pa.Array, pa.Array]:
    """The values of messages as an array of a type, and the reasons why messages are broken, null for sound ones.

    Args:
        messages: A binary array.
        kind: The type of the values.
        decode: Decodes a single message, if no reader supports its schema or if it is broken.
        reader_of: Returns the reader in columns of a schema id, or None.
    """
    slices = [_decode(slice_, kind, decode, reader_of) for slice_ in _slices(messages.cast(pa.large_binary()))]
    values, reasons = zip(*slices, strict=True)
    return slices[0] if len(slices) == 1 else (pa.concat_arrays(values), pa.concat_arrays(reasons))


def _slices(messages: pa.Array) -> Iterator[pa.Array]:
    """The messages in slices of SLICE bytes or a little more; at least one slice."""
    numbers = np.cumsum(np.diff(_bounds(messages))) // SLICE
    cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1), len(messages)]
    return (messages[start:end] for start, end in itertools.pairwise(cuts))


def _bounds(messages: pa.Array) -> Longs:
    """The starts of all messages and the end of the last one, in the data of a large binary array."""
    if not len(messages):
        # An empty Arrow array may have no offsets.
        return np.zeros(1, np.int64)
    _, offsets, _ = messages.buffers()
    return np.frombuffer(offsets, np.int64)[messages.offset :][: len(messages) + 1]


def _decode(
    messages: pa.Array,
    kind: pa.DataType,
    decode: Callable[[bytes | None], Outcome],
    reader_of: Callable[[int], Read | None],
) -> tuple[pa.Array, pa.Array]:
    left = np.ones(len(messages), np.bool_)
    parts: list[tuple[Longs, pa.Array, pa.Array]] = []
    for schema_id, which, rows in _by_id(messages):
        read = reader_of(schema_id)
        if read is None:
            continue
        values = read(rows)
        rows.mark_broken(rows.at != rows.end)
        sound = which[~rows.broken]
        if len(sound) < len(which):
            values = values.filter(~rows.broken)
        parts.append((sound, values, pa.nulls(len(sound), pa.string())))
        left[sound] = False
    rest = np.flatnonzero(left)
    if len(rest) or not parts:
        parts.append((rest, *_by_row(messages.take(pa.array(rest)).to_pylist(), kind, decode)))
    return _in_order(parts)


def _by_row(
    messages: Sequence[bytes | None], kind: pa.DataType, decode: Callable[[bytes | None], Outcome]
) -> tuple[pa.Array, pa.Array]:
    outcomes = [decode(message) for message in messages]
    values, reasons = [value for value, _ in outcomes], [reason for _, reason in outcomes]
    try:
        array = pa.array(values, kind)
    except _UNFIT:
        for row, value in enumerate(values):
            try:
                pa.array([value], kind)
            except _UNFIT as error:
                values[row], reasons[row] = None, f"malformed payload: the value is none of Spark's type: {error}"
        array = pa.array(values, kind)
    return array, pa.array(reasons, pa.string())


#: The exceptions of Arrow for a value that does not fit its type.
_UNFIT = (pa.ArrowException, ValueError, TypeError, OverflowError)


def _in_order(parts: Sequence[tuple[Longs, pa.Array, pa.Array]]) -> tuple[pa.Array, pa.Array]:
    """The values and reasons of all parts, in the original order of the rows."""
    which, values, reasons = zip(*parts, strict=True)
    if len(parts) == 1:
        return values[0], reasons[0]
    places = np.concatenate(which)
    order = np.empty(len(places), np.int64)
    order[places] = np.arange(len(places))
    indices = pa.array(order)
    return pa.concat_arrays(values).take(indices), pa.concat_arrays(reasons).take(indices)


def _by_id(messages: pa.Array) -> Iterator[tuple[int, Longs, Rows]]:
    """The schema ids of at least FEW messages: the id, the messages' indices, and their payloads."""
    if len(messages) < part.FEW:
        return
    bounds = _bounds(messages)
    first, last = bounds[0], bounds[-1]
    data = np.zeros(last - first + PADDING, np.uint8)
    if last > first:
        data[:-PADDING] = np.frombuffer(messages.buffers()[2], np.uint8)[first:last]
    starts, ends = bounds[:-1] - first, bounds[1:] - first
    valid = messages.is_valid().to_numpy(zero_copy_only=False)
    with_header = np.flatnonzero(valid & (ends - starts >= wire.V0_SIZE) & (data[starts] == 0))
    numbers = np.ndarray((len(data) - wire.V0_SIZE,), ">u4", data, offset=1, strides=(1,))
    ids = numbers[starts[with_header]]
    buffer = Buffer(data)
    for schema_id, count in zip(*np.unique(ids, return_counts=True), strict=True):
        if count >= part.FEW:
            which = with_header[ids == schema_id]
            yield int(schema_id), which, Rows(buffer, starts[which] + wire.V0_SIZE, ends[which])
