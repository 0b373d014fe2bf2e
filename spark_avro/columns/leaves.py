"""Values without parts: reads each type's bytes in all rows, and presents them as an Arrow array.

Reading follows the writer's type, and is enough to skip a field. Presenting follows the value's logical type, and
Spark's type in Arrow. A value that the decoder of single messages would refuse, such as invalid UTF-8, makes its row
broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from serdes.codec.resolve.plan import Plan
from serdes.codec.schema import Node
from spark_avro.columns.decimals import decimals
from spark_avro.columns.part import Present, Read, RowByRow
from spark_avro.columns.rows import Content, Longs, Rows
from spark_avro.plan.spark_form import Unlike, stands_for


def reading(node: Node) -> Read:
    """The reader of a writer's type.

    Raises:
        RowByRow: the writer's type is a fixed that is larger than any message.
    """
    if node.kind != "fixed":
        return _READ[node.kind]
    if node.size >= 1 << 31:
        raise RowByRow
    return lambda rows: rows.content(node.size)


def presenting(plan: Plan, kind: pa.DataType) -> Present:
    """The function that makes an array of the type from the values that were read.

    Raises:
        RowByRow: the logical types of writer and reader are not converted, or the type is not Spark's type for the
            reader's schema.
    """
    try:
        node = stands_for(plan)
    except Unlike:
        raise RowByRow from None
    if node.logical == "decimal":
        return decimals(plan.kind, node, kind)
    if node.logical in _MOMENTS and plan.kind in ("int", "long"):
        return _moments(*_MOMENTS[node.logical], kind)
    return _plain(plan.kind, node.kind, kind)


def enum(symbols: Sequence[str | None], kind: pa.DataType | None) -> Read:
    """Reads enums as the reader's symbols, None if it lacks the writer's symbol; `kind` is None to skip them.

    Raises:
        RowByRow: there are no symbols, or the type is not a string.
    """
    if not symbols or kind not in (None, pa.string()):
        raise RowByRow
    array = pa.array(symbols, pa.string())
    missing = array.is_null().to_numpy(zero_copy_only=False)

    def read(rows: Rows) -> pa.Array | None:
        index = rows.integers()
        rows.mark_broken((index < 0) | (index >= len(symbols)))
        index[rows.broken] = 0
        if kind is None:
            return None
        rows.mark_broken(missing[index])
        return array.take(pa.array(index))

    return read


def _ints(rows: Rows) -> Longs:
    values = rows.integers()
    rows.mark_broken(values != values.astype(np.int32))
    return values


def _booleans(rows: Rows) -> Any:
    values = rows.buffer.data[rows.at]
    rows.skip(1)
    rows.mark_broken(values > 1)
    return values == 1


def _floats(rows: Rows) -> Any:
    values = rows.buffer.words[rows.at].astype(np.uint32).view(np.float32)
    rows.skip(4)
    return values


def _doubles(rows: Rows) -> Any:
    values = rows.buffer.words[rows.at].view(np.float64)
    rows.skip(8)
    return values


def _sized(rows: Rows) -> Content:
    return rows.content(rows.integers())


_READ: Mapping[str, Read] = {
    "null": len,
    "boolean": _booleans,
    "int": _ints,
    "long": Rows.integers,
    "float": _floats,
    "double": _doubles,
    "bytes": _sized,
    "string": _sized,
}


def _plain(written: str, read: str, kind: pa.DataType) -> Present:
    if written == "null":
        return lambda _, count: pa.nulls(count, kind)
    if written in _NUMBERS and kind in _NUMBERS[written]:
        return _numbers(read, kind)
    if written in ("string", "bytes", "fixed") and kind in (pa.string(), pa.binary()):
        if written != "string" and kind == pa.binary():
            return lambda rows, content: binary(rows, content).cast(kind)
        return lambda rows, content: text(rows, content).cast(kind)
    raise RowByRow


#: The Arrow types for numbers of each type, promoted or in a union of numbers.
_NUMBERS: Mapping[str, tuple[pa.DataType, ...]] = {
    "boolean": (pa.bool_(),),
    "int": (pa.int32(), pa.int64(), pa.float32(), pa.float64()),
    "long": (pa.int64(), pa.float32(), pa.float64()),
    "float": (pa.float32(), pa.float64()),
    "double": (pa.float64(),),
}


def _numbers(read: str, kind: pa.DataType) -> Present:
    target = kind.to_pandas_dtype()
    # In a union of numbers, the type may be wider than the branch's: convert to the branch's type first.
    between = np.float32 if read == "float" else target

    def present(_: Rows, values: Any) -> pa.Array:
        # numpy warns of signaling NaNs when they are widened.
        with np.errstate(invalid="ignore"):
            return pa.array(values.astype(between, copy=False).astype(target, copy=False))

    return present


def binary(rows: Rows, content: Content) -> pa.Array:
    """The bytes of each row, as an array with offsets of 64 bits."""
    # An array over the messages' buffer has the contents and the gaps between them in turn; taking every other element
    # copies the contents.
    bounds = np.empty(2 * len(rows), np.int64)
    bounds[0::2] = content.start
    bounds[1::2] = content.start + content.size
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(rows.buffer.data)]
    pieces = pa.Array.from_buffers(pa.large_binary(), max(len(bounds) - 1, 0), buffers)
    return pieces.take(pa.array(np.arange(0, len(bounds), 2)))


def text(rows: Rows, content: Content) -> pa.Array:
    """The texts of each row; a row is broken if its bytes are not UTF-8."""
    texts = binary(rows, content)
    try:
        return texts.cast(pa.string())
    except pa.ArrowInvalid:
        wrong = np.array([not _is_text(value) for value in texts.to_pylist()], np.bool_)
        rows.mark_broken(wrong)
        return pc.if_else(wrong, pa.scalar(b"", texts.type), texts).cast(pa.string())


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


_UTC, _LOCAL = pa.timestamp("us", "UTC"), pa.timestamp("us")
#: Logical types with a type in Spark: Arrow's type for it, and the factor for the number.
_MOMENTS: Mapping[str | None, tuple[pa.DataType, int]] = {
    "date": (pa.date32(), 1),
    "timestamp-millis": (_UTC, 1000),
    "timestamp-micros": (_UTC, 1),
    "local-timestamp-millis": (_LOCAL, 1000),
    "local-timestamp-micros": (_LOCAL, 1),
}
_LONG = np.iinfo(np.int64)


def _moments(moment: pa.DataType, factor: int, kind: pa.DataType) -> Present:
    if kind != moment:
        raise RowByRow
    width = np.int32 if kind.bit_width == 32 else np.int64
    low, high = -(_LONG.max // factor), _LONG.max // factor

    def present(rows: Rows, values: Longs) -> pa.Array:
        if factor > 1:
            rows.mark_broken((values < low) | (values > high))
        return pa.array((values * factor).astype(width)).view(kind)

    return present
