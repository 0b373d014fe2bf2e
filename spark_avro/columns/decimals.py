"""Converts decimals from big-endian two's complement to Arrow's decimals of 16 bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from serdes.codec.schema import Node
from spark_avro.columns.part import Present, RowByRow
from spark_avro.columns.rows import Content, Flags, Longs, Rows

#: The byte numbers of a 128-bit integer, from the lowest byte.
_BYTES = np.arange(16)


def decimals(written: str, node: Node, kind: pa.DataType) -> Present:
    """Makes the function that converts decimals to an array of the type.

    A row is broken if it has no bytes, more bytes than Arrow's decimals, or more digits than the decimal's precision.

    Args:
        written: The writer's type, whose logical type may be missing.
        node: The decimal's precision and scale.
        kind: The type.

    Raises:
        RowByRow: a text is read as a decimal, or some decimals would not fit the type.
    """
    whole, fraction = node.precision - node.scale, node.scale
    if not pa.types.is_decimal128(kind) or whole > kind.precision - kind.scale or fraction > kind.scale:
        raise RowByRow
    if written not in ("bytes", "fixed"):
        raise RowByRow
    precise = pa.decimal128(node.precision, node.scale)

    def present(rows: Rows, content: Content) -> pa.Array:
        misfit = (content.size > len(_BYTES)) | (content.size == 0)
        numbers = _numbers(rows, content)
        rows.mark_broken(misfit | ~_within(numbers, 10**node.precision))
        numbers[rows.broken] = 0
        array = pa.Array.from_buffers(precise, len(rows), [None, pa.py_buffer(numbers)])
        return array if kind == precise else array.cast(kind)

    return present


def _numbers(rows: Rows, content: Content) -> Longs:
    """The low and the high half of each row's number, shape (rows, 2)."""
    # An index before the first message wraps to the buffer's end; such bytes are not used.
    octets = rows.buffer.data[(content.start + content.size - 1)[:, None] - _BYTES]
    beyond = content.size[:, None] <= _BYTES
    negative = (rows.buffer.data[content.start] > 127) & (content.size > 0)
    sign = np.where(negative, 255, 0).astype(np.uint8)
    return np.where(beyond, sign[:, None], octets).view(np.int64)


def _within(numbers: Longs, limit: int) -> Flags:
    """Whether the absolute value of each number is below the limit."""
    low, high = numbers[:, 0].view(np.uint64), numbers[:, 1]

    def below(bound: int) -> Flags:
        bound_high, bound_low = divmod(bound, 1 << 64)
        flags: Flags = (high < bound_high) | ((high == bound_high) & (low < bound_low))
        return flags

    return below(limit) & ~below(1 - limit)
