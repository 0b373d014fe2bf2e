"""Values without parts: how each type's bytes are read in all rows, and how they become an Arrow array.

Reading follows the writer's type; it is all that is done for a field that nobody wants. Presenting follows the logical
types of both sides and the Arrow type of Spark's. What the decoder of single messages would refuse, such as text that
is no UTF-8 or a time beyond the day, breaks its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from serdes.codec.plan import Plan
from serdes.codec.schema import Node
from spark_avro.columns.decimals import decimals
from spark_avro.columns.part import Present, Read, RowByRow
from spark_avro.columns.rows import Content, Longs, Rows


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
        RowByRow: the reader drops the writer's logical type or has another, a decimal shrinks, or the type is not that
            which Spark gives the reader's.
    """
    written, read = plan.node.logical, plan.target.logical
    if written is None and read in (None, "uuid"):
        return _plain(plan.kind, kind)
    if written == "decimal" == read:
        return decimals(plan.node, kind)
    if written == "uuid" == read and kind == pa.string():
        return _uuids
    if (written, read) in _FACTORS and kind == _MOMENTS[read]:
        return _moments(*_LIMITS[written or read], _FACTORS[written, read], kind)
    raise RowByRow


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


def _plain(written: str, kind: pa.DataType) -> Present:
    if written == "null":
        return lambda _, count: pa.nulls(count, kind)
    if written in _NUMBERS and kind in _NUMBERS[written]:
        return _numbers(kind)
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


def _numbers(kind: pa.DataType) -> Present:
    own = kind.to_pandas_dtype()
    # A float is made of a double, as the codec makes it.
    between = np.float64 if pa.types.is_floating(kind) else own

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


#: The form in which uuids are printed; others that mean one are left to the codec, which prints them in this.
_UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def _uuids(rows: Rows, content: Content) -> pa.Array:
    found = _text(rows, content)
    rows.leave(~pc.match_substring_regex(found, _UUID).to_numpy(zero_copy_only=False))
    return found


#: The least and the greatest number of each logical type: Python's years are 1 to 9999.
_LIMITS: Mapping[str | None, tuple[int, int]] = {
    "date": (-719_162, 2_932_896),
    "time-millis": (0, 86_399_999),
    "time-micros": (0, 86_399_999_999),
    "timestamp-millis": (-62_135_596_800_000, 253_402_300_799_999),
    "timestamp-micros": (-62_135_596_800_000_000, 253_402_300_799_999_999),
    "local-timestamp-millis": (-62_135_596_800_000, 253_402_300_799_999),
    "local-timestamp-micros": (-62_135_596_800_000_000, 253_402_300_799_999_999),
}
#: Spark's type for each; times of day are numbers to it, timestamps microseconds.
_MOMENTS: Mapping[str | None, pa.DataType] = {
    "date": pa.date32(),
    "time-millis": pa.int32(),
    "time-micros": pa.int64(),
    "timestamp-millis": pa.timestamp("us", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
}
#: By what a writer's number is multiplied for a reader; what the writer calls no moment is in the reader's unit.
_FACTORS: Mapping[tuple[str | None, str | None], int] = {
    ("date", "date"): 1,
    ("time-millis", "time-millis"): 1,
    ("time-millis", "time-micros"): 1000,
    ("time-micros", "time-micros"): 1,
    (None, "date"): 1,
    (None, "time-millis"): 1,
    (None, "time-micros"): 1,
    **{
        (written and f"{kind}-{written}", f"{kind}-{read}"): factor
        for kind in ("timestamp", "local-timestamp")
        for written, read, factor in (
            ("millis", "millis", 1000),
            ("millis", "micros", 1000),
            ("micros", "millis", 1),
            ("micros", "micros", 1),
            (None, "millis", 1000),
            (None, "micros", 1),
        )
    },
}


def _moments(low: int, high: int, factor: int, kind: pa.DataType) -> Present:
    width = np.int32 if kind.bit_width == 32 else np.int64

    def present(rows: Rows, values: Longs) -> pa.Array:
        rows.leave((values < low) | (values > high))
        return pa.array((values * factor).astype(width)).view(kind)

    return present
