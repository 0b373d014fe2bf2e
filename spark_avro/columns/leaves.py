"""Values without parts: how each type's bytes are read in all rows, and how they become an Arrow array.

Reading follows the writer's type; it is all that is done for a field that nobody wants. Presenting follows what the
value stands for, and Spark's type in Arrow. What the decoder of single messages would refuse, such as text that is no
UTF-8, breaks its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from serdes.codec.decode.plan import Plan
from serdes.codec.schema import Node
from spark_avro.columns.decimals import decimals
from spark_avro.columns.part import Present, Read, RowByRow
from spark_avro.columns.rows import Content, Longs, Rows
from spark_avro.workers.spark_form import Unlike, stands_for


def reading(node: Node) -> Read:
    """How the bytes of a writer's type are read.

    Raises:
        RowByRow: a fixed of more bytes than any message has.
    """
    if node.kind != "fixed":
        return _READ[node.kind]
    if node.size >= 1 << 31:
        raise RowByRow
    return lambda rows: rows.content(node.size)


def presenting(plan: Plan, kind: pa.DataType) -> Present:
    """How what was read becomes an array of the type.

    Raises:
        RowByRow: the logical types of writer and reader are not converted, or the type is not that which Spark gives
            the reader's.
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
    """Reads enums as the reader's symbols, None where it has none for the writer's; `kind` is None to pass them over.

    Raises:
        RowByRow: there are no symbols.
    """
    if not symbols or kind not in (None, pa.string()):
        raise RowByRow
    known = pa.array(symbols, pa.string())
    unknown = known.is_null().to_numpy(zero_copy_only=False)

    def read(rows: Rows) -> pa.Array | None:
        index = rows.integers()
        rows.leave((index < 0) | (index >= len(symbols)))
        index[rows.broken] = 0
        if kind is None:
            return None
        rows.leave(unknown[index])
        return known.take(pa.array(index))

    return read


def _ints(rows: Rows) -> Longs:
    values = rows.integers()
    rows.leave(values != values.astype(np.int32))
    return values


def _booleans(rows: Rows) -> Any:
    values = rows.buffer.data[rows.at]
    rows.skip(1)
    rows.leave(values > 1)
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
        return lambda rows, content: _text(rows, content).cast(kind)
    raise RowByRow


#: The Arrow types in which a number of each type is shown, promoted or in a union of numbers.
_NUMBERS: Mapping[str, tuple[pa.DataType, ...]] = {
    "boolean": (pa.bool_(),),
    "int": (pa.int32(), pa.int64(), pa.float32(), pa.float64()),
    "long": (pa.int64(), pa.float32(), pa.float64()),
    "float": (pa.float32(), pa.float64()),
    "double": (pa.float64(),),
}


def _numbers(read: str, kind: pa.DataType) -> Present:
    own = kind.to_pandas_dtype()
    # Of a union of numbers a branch is shown as a wider type than its own.
    between = np.float32 if read == "float" else own

    def present(_: Rows, values: Any) -> pa.Array:
        # Some of what is not a number is said to be invalid when it is widened.
        with np.errstate(invalid="ignore"):
            return pa.array(values.astype(between, copy=False).astype(own, copy=False))

    return present


def binary(rows: Rows, content: Content) -> pa.Array:
    """The bytes of each row, as an array with offsets of 64 bits."""
    # Over the messages' buffer lies an array of what is wanted and what is between, in turn; of it each other one is
    # taken, which copies the bytes.
    bounds = np.empty(2 * len(rows), np.int64)
    bounds[0::2] = content.start
    bounds[1::2] = content.start + content.size
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(rows.buffer.data)]
    pieces = pa.Array.from_buffers(pa.large_binary(), max(len(bounds) - 1, 0), buffers)
    return pieces.take(pa.array(np.arange(0, len(bounds), 2)))


def _text(rows: Rows, content: Content) -> pa.Array:
    found = binary(rows, content)
    try:
        return found.cast(pa.string())
    except pa.ArrowInvalid:
        wrong = np.array([not _is_text(value) for value in found.to_pylist()], np.bool_)
        rows.leave(wrong)
        return pc.if_else(wrong, pa.scalar(b"", found.type), found).cast(pa.string())


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


_UTC, _LOCAL = pa.timestamp("us", "UTC"), pa.timestamp("us")
#: What Spark has a type of its own for, and by what the number is multiplied for it.
_MOMENTS: Mapping[str | None, tuple[pa.DataType, int]] = {
    "date": (pa.date32(), 1),
    "timestamp-millis": (_UTC, 1000),
    "timestamp-micros": (_UTC, 1),
    "local-timestamp-millis": (_LOCAL, 1000),
    "local-timestamp-micros": (_LOCAL, 1),
}
_LONG = np.iinfo(np.int64)


def _moments(own: pa.DataType, factor: int, kind: pa.DataType) -> Present:
    if kind != own:
        raise RowByRow
    width = np.int32 if kind.bit_width == 32 else np.int64
    low, high = -(_LONG.max // factor), _LONG.max // factor

    def present(rows: Rows, values: Longs) -> pa.Array:
        if factor > 1:
            rows.leave((values < low) | (values > high))
        return pa.array((values * factor).astype(width)).view(kind)

    return present
