"""Fields of Protobuf messages in columns: the values that a field has read of each row, and their array."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from spark_avro.columns.collections import with_duplicate_key
from spark_avro.columns.items import Places, find_of_width, find_varints, in_order
from spark_avro.columns.part import Read, RowByRow
from spark_avro.columns.protobuf.values import LENGTH, VARINT, Scalar, content, scalar
from spark_avro.columns.rows import Content, Flags, Longs, Rows
from spark_avro.plan.protobuf_types import has_presence, is_repeated, is_timestamp, is_wrapper, map_entry

_EPOCH_SECONDS = (-62_135_596_800, 253_402_300_799)

#: Makes the reader of a message as structs of a type.
MakeMessage = Callable[[Descriptor, pa.DataType], Read]


class Cells(ABC):
    """The values that a field has read of each row so far."""

    @abstractmethod
    def take(self, tag: int, which: Longs, inside: Rows) -> None:
        """Read the field of some rows, whose positions are after the tag; `which` has the rows' indices."""

    @abstractmethod
    def finish(self, rows: Rows) -> pa.Array:
        """The array of all rows."""


class Field(ABC):
    """A field of a message.

    Attributes:
        number: The field's number.
        tags: The tags of the field: number and wire type.
    """

    def __init__(self, field: FieldDescriptor, *wire_types: int) -> None:
        self.number: int = field.number
        self.tags = tuple(field.number << 3 | wire_type for wire_type in wire_types)

    @abstractmethod
    def cells(self, rows: Rows, cases: dict[str, Longs]) -> Cells:
        """Empty cells for rows; `cases` has the number of the field that is set for each oneof of the message."""


def field_of(field: FieldDescriptor, kind: pa.DataType, make: MakeMessage) -> Field:
    """The reader of a field as an array of a type.

    Raises:
        RowByRow: the field is required or a group, or a part of it is not read in columns.
    """
    if field.is_required or field.type == FieldDescriptor.TYPE_GROUP:
        raise RowByRow
    entry = map_entry(field)
    if entry is not None:
        return _Map(field, kind, make)
    if is_repeated(field):
        return _Repeated(field, kind, make)
    return _Singular(field, kind, make)


class _Presence:
    """Whether a field is set in each row: setting another field of the same oneof unsets it."""

    def __init__(self, field: FieldDescriptor, size: int, cases: dict[str, Longs]) -> None:
        self._number = field.number
        oneof = field.containing_oneof
        name = field.name if oneof is None else oneof.name
        self._case = cases.setdefault(f"{oneof is None} {name}", np.zeros(size, np.int64))

    def set(self, which: Longs) -> None:
        self._case[which] = self._number

    def is_set(self) -> Flags:
        flags: Flags = self._case == self._number
        return flags


class _Singular(Field):
    """A field with one value: the last one on the wire counts."""

    def __init__(self, field: FieldDescriptor, kind: pa.DataType, make: MakeMessage) -> None:
        self._field = field
        self._kind = kind
        self._value = _Value(field, kind, make)
        super().__init__(field, self._value.wire_type)

    def cells(self, rows: Rows, cases: dict[str, Longs]) -> Cells:
        presence = _Presence(self._field, len(rows), cases) if has_presence(self._field) else None
        return _SingularCells(self._value, self._kind, presence, rows)


class _SingularCells(Cells):
    def __init__(self, value: _Value, kind: pa.DataType, presence: _Presence | None, rows: Rows) -> None:
        self._value = value
        self._kind = kind
        self._presence = presence
        self._held = value.empty(rows)

    def take(self, tag: int, which: Longs, inside: Rows) -> None:
        del tag
        values = self._value.read(inside)
        if self._presence is not None:
            self._presence.set(which)
        if isinstance(values, Content):
            # A message that comes twice is merged, and the first of two texts must be valid, too.
            inside.mark_broken(self._held.size[which] > 0)
            self._held.start[which], self._held.size[which] = values
        else:
            self._held[which] = values

    def finish(self, rows: Rows) -> pa.Array:
        if self._presence is None:
            return self._value.present(rows, self._held)
        is_set = self._presence.is_set()
        if isinstance(self._held, Content):
            # Replaced by another member of the oneof, but it must be valid.
            rows.mark_broken((self._held.size > 0) & ~is_set)
        is_set &= ~rows.broken
        if is_set.all():
            return self._value.present(rows, self._held)
        which = np.flatnonzero(is_set)
        if not len(which):
            return pa.nulls(len(rows), self._kind)
        inside = rows.pick(which)
        held = (
            Content(self._held.start[which], self._held.size[which])
            if isinstance(self._held, Content)
            else self._held[which]
        )
        values = self._value.present(inside, held)
        rows.put(which, inside)
        order = np.full(len(rows), -1)
        order[which] = np.arange(len(which))
        return values.take(pa.array(order, mask=~is_set))


class _Value:
    """One value of a field: a scalar, or a message."""

    def __init__(self, field: FieldDescriptor, kind: pa.DataType, make: MakeMessage) -> None:
        self._scalar = None if field.message_type is not None else scalar(field)
        self._message = None if field.message_type is None else _message(field.message_type, kind, make)
        self.wire_type = LENGTH if self._scalar is None else self._scalar.wire_type

    @property
    def packs(self) -> Scalar | None:
        """The scalar, if repeated values of it can be packed."""
        return None if self.wire_type == LENGTH else self._scalar

    def empty(self, rows: Rows) -> Any:
        """The values of rows that are not set."""
        if self._scalar is None or self._scalar.dtype is None:
            # Contents must be in the order of the rows.
            return Content(rows.at.copy(), np.zeros(len(rows), np.int64))
        return np.zeros(len(rows), self._scalar.dtype)

    def read(self, rows: Rows) -> Any:
        return content(rows) if self._scalar is None else self._scalar.read(rows)

    def present(self, rows: Rows, values: Any) -> pa.Array:
        if self._scalar is not None:
            return self._scalar.present(rows, values)
        assert self._message is not None
        inside = Rows(rows.buffer, values.start, values.start + values.size)
        array = self._message(inside)
        rows.mark_broken(inside.broken)
        return array


class _Repeated(Field):
    """A field with any number of values, packed or not."""

    def __init__(self, field: FieldDescriptor, kind: pa.DataType, make: MakeMessage) -> None:
        self._kind = kind
        self._value = _Value(field, kind.value_type, make)
        packed = () if self._value.packs is None else (LENGTH,)
        super().__init__(field, self._value.wire_type, *packed)

    def cells(self, rows: Rows, cases: dict[str, Longs]) -> Cells:
        del cases
        return _RepeatedCells(self._value, len(rows), self.array)

    def array(self, rows: Rows, offsets: Longs, items: pa.Array) -> pa.Array:
        """The lists of all rows."""
        del rows
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, type=self._kind)


class _Map(_Repeated):
    """A map field; a map with a duplicate key, whose last value counts, is read row by row."""

    def __init__(self, field: FieldDescriptor, kind: pa.DataType, make: MakeMessage) -> None:
        entries = pa.list_(pa.struct([kind.key_field, kind.item_field]))
        super().__init__(field, entries, make)

    def array(self, rows: Rows, offsets: Longs, items: pa.Array) -> pa.Array:
        keys, values = items.field(0), items.field(1)
        for part in (keys, values):
            if part.null_count:
                # An entry without a key or value has the default, such as an empty message.
                rows.mark_broken(_with_any(part.is_null().to_numpy(zero_copy_only=False), offsets))
        rows.mark_broken(with_duplicate_key(offsets, keys))
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), keys, values)


class _RepeatedCells(Cells):
    def __init__(self, value: _Value, size: int, array: Callable[[Rows, Longs, pa.Array], pa.Array]) -> None:
        self._value = value
        self._array = array
        self._counts = np.zeros(size, np.int64)
        self._turns: list[tuple[Longs, Longs, Places]] = []

    def take(self, tag: int, which: Longs, inside: Rows) -> None:
        scalar_ = self._value.packs
        places = _packed(scalar_, inside) if scalar_ is not None and tag & 7 == LENGTH else self._one(inside)
        self._turns.append((which, self._counts[which], places))
        self._counts[which] += places.counts

    def _one(self, inside: Rows) -> Places:
        start = inside.at
        value = self._value.read(inside)
        ones = np.ones(len(inside), np.int64)
        if isinstance(value, Content):
            return Places(value.start, value.start + value.size, ones)
        return Places(start, inside.at, ones)

    def finish(self, rows: Rows) -> pa.Array:
        places = in_order(self._turns, self._counts)
        items = Rows(rows.buffer, places.starts, places.ends)
        if self._value.wire_type == LENGTH:
            values = self._value.present(items, Content(places.starts, places.ends - places.starts))
        else:
            values = self._value.present(items, self._value.read(items))
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(self._counts, out=offsets[1:])
        if items.broken.any():
            rows.mark_broken(_with_any(items.broken, offsets))
        return self._array(rows, offsets, values)


def _with_any(flags: Flags, offsets: Longs) -> Flags:
    """Whether any item of each row has a flag."""
    sums = np.concatenate([[0], np.cumsum(flags)])
    some: Flags = np.diff(sums[offsets]) > 0
    return some


def _packed(scalar_: Scalar, rows: Rows) -> Places:
    """The places of packed values."""
    start, length = content(rows)
    end = start + length
    counts = np.zeros(len(rows), np.int64)
    if scalar_.wire_type == VARINT:
        last_bytes = rows.buffer.last_bytes
        counts[:] = np.searchsorted(last_bytes, end) - np.searchsorted(last_bytes, start)
    else:
        assert scalar_.width is not None
        counts[:] = length // scalar_.width
    which = np.flatnonzero(counts)
    inside = Rows(rows.buffer, start[which], end[which])
    find = find_varints if scalar_.width is None else find_of_width(scalar_.width)
    places = find(inside, counts[which])
    # Rows whose last value is cut off, and rows that have bytes but no values.
    left = length > 0
    left[which] = inside.broken | (inside.at != inside.end)
    rows.mark_broken(left)
    counts[which] = places.counts
    return Places(places.starts, places.ends, counts)


def _message(message: Descriptor, kind: pa.DataType, make: MakeMessage) -> Read:
    """The reader of a message as a type: a struct, or Spark's type for a timestamp or a wrapper."""
    if is_timestamp(message):
        return _timestamp(make(message, pa.struct([("seconds", pa.int64()), ("nanos", pa.int32())])), kind)
    if is_wrapper(message):
        inner = make(message, pa.struct([("value", kind)]))
        return lambda rows: inner(rows).field(0)
    return make(message, kind)


def _timestamp(parts: Read, kind: pa.DataType) -> Read:
    """Reads timestamps in microseconds; nanoseconds are cut off, as the runtime does."""
    if kind != pa.timestamp("us", "UTC"):
        raise RowByRow
    first, last = _EPOCH_SECONDS

    def read(rows: Rows) -> pa.Array:
        array = parts(rows)
        seconds = array.field(0).to_numpy(zero_copy_only=False)
        nanos = array.field(1).to_numpy(zero_copy_only=False).astype(np.int64)
        rows.mark_broken((seconds < first) | (seconds > last) | (nanos < 0) | (nanos >= 1_000_000_000))
        micros = np.where(rows.broken, 0, seconds) * 1_000_000 + nanos // 1000
        return pa.array(micros).view(kind)

    return read
