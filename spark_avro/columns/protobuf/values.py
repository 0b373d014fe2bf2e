"""Single Protobuf values in all rows: how each field type is read from the wire, and its Arrow array.

The rules are those of the Protobuf encoding (protobuf.dev, "Encoding"). A value that needs care, such as an unknown
enum number, makes its row broken, and the decoder of single messages reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

from spark_avro.columns.leaves import binary, text
from spark_avro.columns.rows import Content, Longs, Rows, ULongs

_T = FieldDescriptor

#: Wire types.
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
#: A size on the wire has at most this number of bytes.
_SIZE_BYTES = 5


@dataclass(frozen=True, slots=True)
class Scalar:
    """A field type without parts.

    Attributes:
        wire_type: The wire type of one value.
        dtype: The type of the numbers; None if the value is a Content.
        read: Reads the values of rows.
        present: Makes the Arrow array of the values.
    """

    wire_type: int
    dtype: Any
    read: Callable[[Rows], Any]
    present: Callable[[Rows, Any], pa.Array]

    @property
    def width(self) -> int | None:
        """The size in bytes of each value, if all have the same."""
        return {FIXED64: 8, FIXED32: 4}.get(self.wire_type)


def scalar(field: FieldDescriptor) -> Scalar:
    """The decoding of a field without a message type."""
    if field.enum_type is not None:
        return Scalar(VARINT, np.dtype(np.int32), _int32, _names(field.enum_type))
    return _SCALARS[field.type]


def size(rows: Rows) -> Longs:
    """Reads the size before length-delimited bytes."""
    before = rows.at
    value = rows.varints().view(np.int64)
    rows.mark_broken(rows.at - before > _SIZE_BYTES)
    return value


def content(rows: Rows) -> Content:
    """Reads length-delimited bytes."""
    return rows.content(size(rows))


def skip(rows: Rows, wire_type: int) -> None:
    """Skips a value of an unknown field; a row with a group is broken."""
    if wire_type == VARINT:
        rows.varints()
    elif wire_type == LENGTH:
        content(rows)
    elif wire_type in (FIXED32, FIXED64):
        rows.skip(4 if wire_type == FIXED32 else 8)
    else:
        rows.mark_broken(np.ones(len(rows), np.bool_))


def _uint32(rows: Rows) -> Any:
    return rows.varints().astype(np.uint32)


def _int32(rows: Rows) -> Any:
    return _uint32(rows).view(np.int32)


def _int64(rows: Rows) -> Any:
    return rows.varints().view(np.int64)


def _sint32(rows: Rows) -> Any:
    value = _uint32(rows)
    return (value >> np.uint32(1)).view(np.int32) ^ -(value & np.uint32(1)).view(np.int32)


def _bool(rows: Rows) -> Any:
    return rows.varints() != 0


def _fixed(dtype: Any) -> Callable[[Rows], Any]:
    """Reads little-endian numbers of four or eight bytes."""
    of_type = np.dtype(dtype)

    def read(rows: Rows) -> Any:
        words = rows.buffer.words[rows.at]
        rows.skip(of_type.itemsize)
        return (words if of_type.itemsize == 8 else words.astype(np.uint32)).view(of_type)

    return read


def _numbers(_: Rows, values: Any) -> pa.Array:
    return pa.array(values)


def _longs(_: Rows, values: Any) -> pa.Array:
    return pa.array(values.astype(np.int64))


def _decimals(_: Rows, values: ULongs) -> pa.Array:
    halves = np.zeros((len(values), 2), np.uint64)
    halves[:, 0] = values
    return pa.Array.from_buffers(pa.decimal128(20, 0), len(values), [None, pa.py_buffer(halves)])


def _bytes(rows: Rows, values: Content) -> pa.Array:
    return binary(rows, values).cast(pa.binary())


def _texts(rows: Rows, values: Content) -> pa.Array:
    return text(rows, values).cast(pa.string())


def _names(enum: EnumDescriptor) -> Callable[[Rows, Any], pa.Array]:
    """Makes the names of an enum's numbers; a row with another number is broken."""
    # If a number has several names, the runtime returns the first.
    by_number = {number: value.name for number, value in enum.values_by_number.items()}
    numbers = np.array(sorted(by_number), np.int32)
    names = pa.array([by_number[number] for number in sorted(by_number)], pa.string())

    def present(rows: Rows, values: Any) -> pa.Array:
        index = np.minimum(np.searchsorted(numbers, values), len(numbers) - 1)
        rows.mark_broken(numbers[index] != values)
        return names.take(pa.array(index))

    return present


_SCALARS: Mapping[int, Scalar] = {
    _T.TYPE_INT32: Scalar(VARINT, np.dtype(np.int32), _int32, _numbers),
    _T.TYPE_INT64: Scalar(VARINT, np.dtype(np.int64), _int64, _numbers),
    _T.TYPE_UINT32: Scalar(VARINT, np.dtype(np.uint32), _uint32, _longs),
    _T.TYPE_UINT64: Scalar(VARINT, np.dtype(np.uint64), Rows.varints, _decimals),
    _T.TYPE_SINT32: Scalar(VARINT, np.dtype(np.int32), _sint32, _numbers),
    _T.TYPE_SINT64: Scalar(VARINT, np.dtype(np.int64), Rows.integers, _numbers),
    _T.TYPE_BOOL: Scalar(VARINT, np.dtype(np.bool_), _bool, _numbers),
    _T.TYPE_FIXED32: Scalar(FIXED32, np.dtype(np.uint32), _fixed(np.uint32), _longs),
    _T.TYPE_SFIXED32: Scalar(FIXED32, np.dtype(np.int32), _fixed(np.int32), _numbers),
    _T.TYPE_FLOAT: Scalar(FIXED32, np.dtype(np.float32), _fixed(np.float32), _numbers),
    _T.TYPE_FIXED64: Scalar(FIXED64, np.dtype(np.uint64), _fixed(np.uint64), _decimals),
    _T.TYPE_SFIXED64: Scalar(FIXED64, np.dtype(np.int64), _fixed(np.int64), _numbers),
    _T.TYPE_DOUBLE: Scalar(FIXED64, np.dtype(np.float64), _fixed(np.float64), _numbers),
    _T.TYPE_STRING: Scalar(LENGTH, None, content, _texts),
    _T.TYPE_BYTES: Scalar(LENGTH, None, content, _bytes),
}
