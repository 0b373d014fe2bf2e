"""Decimals: two's complement, the highest byte first, as Arrow's numbers of 16 bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from serdes.codec.schema import Node
from spark_avro.columns.part import Present, RowByRow
from spark_avro.columns.rows import Content, Flags, Longs, Rows

#: The bytes of a number of 128 bits, from the lowest on.
_BYTES = np.arange(16)


def decimals(written: str, node: Node, kind: pa.DataType) -> Present:
    """How decimals become an array of the type.

    Rows without bytes, with more of them than Arrow's numbers have, or with more digits than the decimal's type, are
    broken.

    Args:
        written: The writer's type, which need not say that its bytes are a decimal.
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
    own = pa.decimal128(node.precision, node.scale)

    def present(rows: Rows, content: Content) -> pa.Array:
        unlike = (content.size > len(_BYTES)) | (content.size == 0)
        numbers = _numbers(rows, content)
        rows.leave(unlike | ~_within(numbers, 10**node.precision))
        numbers[rows.broken] = 0
        found = pa.Array.from_buffers(own, len(rows), [None, pa.py_buffer(numbers)])
        return found if kind == own else found.cast(kind)

    return present


def _numbers(rows: Rows, content: Content) -> Longs:
    """The lower and the higher half of each row's number, shape (rows, 2)."""
    # A place before the first message counts from the buffer's end; whatever is there is not used.
    found = rows.buffer.data[(content.start + content.size - 1)[:, None] - _BYTES]
    beyond = content.size[:, None] <= _BYTES
    negative = (rows.buffer.data[content.start] > 127) & (content.size > 0)
    sign = np.where(negative, 255, 0).astype(np.uint8)
    return np.where(beyond, sign[:, None], found).view(np.int64)


def _within(numbers: Longs, limit: int) -> Flags:
    """Whether each number is nearer to zero than the limit."""
    low, high = numbers[:, 0].view(np.uint64), numbers[:, 1]

    def below(bound: int) -> Flags:
        bound_high, bound_low = divmod(bound, 1 << 64)
        found: Flags = (high < bound_high) | ((high == bound_high) & (low < bound_low))
        return found

    return below(limit) & ~below(1 - limit)
