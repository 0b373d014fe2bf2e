"""Messages in columns: the tags of all rows are read together, and each field takes the rows whose tag is its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
from google.protobuf.descriptor import Descriptor

from spark_avro.columns import part
from spark_avro.columns.part import Read, RowByRow
from spark_avro.columns.protobuf.fields import Cells, Field, field_of
from spark_avro.columns.protobuf.values import skip
from spark_avro.columns.rows import Longs, Rows

#: A row has no further tag.
_END = 0
#: The lowest tag: field number 1, wire type 0.
_LOWEST = 8
#: Field numbers have 29 bits and wire types 3.
_BEYOND = 1 << 32
#: The most bytes of a message index; the decoder of single messages reports longer ones.
_INDEX_BYTES = 5
#: The most passes over all fields; rows whose order of fields needs more are read one by one.
_PASSES = 8


@lru_cache(maxsize=256)
def message_reader(message: Descriptor, kind: pa.DataType) -> Read | None:
    """The reader of a message's payloads as an array of a struct type; None if they must be read one by one.

    It is None if a part has required fields, groups, or no fields at all.
    """
    try:
        return MessageReader(message, kind)
    except RowByRow:
        return None


def behind_indexes(read: Read, path: Sequence[int]) -> Read:
    """As `read`, but reads the message indexes of the Confluent format first.

    Args:
        read: The reader of the payloads.
        path: The indexes of its message; rows with others are left to the decoder of single messages.
    """

    def read_message(rows: Rows) -> pa.Array:
        count = _index(rows)
        # A count of 0 is the first message.
        rows.mark_broken((count != len(path)) & ((count != 0) | (tuple(path) != (0,))))
        which = np.flatnonzero((count > 0) & ~rows.broken)
        if len(which):
            inside = rows.pick(which)
            for index in path:
                inside.mark_broken(_index(inside) != index)
            rows.put(which, inside)
        return read(rows)

    return read_message


def _index(rows: Rows) -> Longs:
    """Read a message index, or their number."""
    before = rows.at
    value = rows.integers()
    rows.mark_broken(rows.at - before > _INDEX_BYTES)
    return value


class MessageReader:
    """Reads the messages of all rows as structs."""

    def __init__(self, message: Descriptor, kind: pa.DataType) -> None:
        """Make the readers of the fields.

        Raises:
            RowByRow: a part is not read in columns.
        """
        if (
            not pa.types.is_struct(kind)
            or not message.fields
            or [field.name for field in kind] != [field.name for field in message.fields]
        ):
            raise RowByRow
        self._kind = kind
        # The runtime drops a map's entry with unknown fields.
        self._skips_unknown = not message.GetOptions().map_entry
        self._fields: Sequence[Field] = [
            field_of(field, kind.field(index).type, MessageReader) for index, field in enumerate(message.fields)
        ]
        # Writers usually write fields in the order of their numbers.
        self._in_order = sorted(range(len(self._fields)), key=lambda index: self._fields[index].number)
        self._known = np.array([tag for field in self._fields for tag in field.tags], np.int64)

    def __call__(self, rows: Rows) -> pa.Array:
        """The messages as structs; rows are at their ends afterwards."""
        cases: dict[str, Longs] = {}
        cells = [field.cells(rows, cases) for field in self._fields]
        tags = _next_tags(rows)
        for _ in range(_PASSES):
            for index in self._in_order:
                for tag in self._fields[index].tags:
                    _take(rows, tags, tag, cells[index])
            if self._skips_unknown:
                _skip_unknown(rows, tags, self._known)
            if not tags.any():
                break
        rows.mark_broken(tags != _END)
        columns = [cell.finish(rows) for cell in cells]
        return pa.StructArray.from_arrays(columns, fields=list(self._kind))


def _take(rows: Rows, tags: Longs, tag: int, cells: Cells) -> None:
    """Read a field of all rows whose next tag is its own, as long as there are such rows."""
    turn = 0
    while True:
        which = np.flatnonzero(tags == tag)
        if not len(which):
            return
        if turn and len(which) < part.FEW + turn // 4:
            # A turn has a fixed cost, even for few rows.
            _leave(rows, tags, which)
            return
        if len(which) == len(rows):
            cells.take(tag, which, rows)
            tags[:] = _next_tags(rows)
        else:
            inside = rows.pick(which)
            cells.take(tag, which, inside)
            tags[which] = _next_tags(inside)
            rows.put(which, inside)
        turn += 1


def _skip_unknown(rows: Rows, tags: Longs, field_tags: Longs) -> None:
    """Skip each row's next fields as long as the message does not have them."""
    for _ in range(_PASSES):
        which = np.flatnonzero((tags != _END) & ~np.isin(tags, field_tags))
        if not len(which):
            return
        wire_types = tags[which] & 7
        for wire_type in range(_LOWEST):
            of_type = which[wire_types == wire_type]
            if len(of_type):
                inside = rows.pick(of_type)
                skip(inside, wire_type)
                tags[of_type] = _next_tags(inside)
                rows.put(of_type, inside)


def _leave(rows: Rows, tags: Longs, which: Longs) -> None:
    """Leave rows to the decoder of single messages."""
    left = np.zeros(len(rows), np.bool_)
    left[which] = True
    rows.mark_broken(left)
    tags[which] = _END


def _next_tags(rows: Rows) -> Longs:
    """Read the next tag of each row, _END at the end of a row."""
    at = rows.at
    more = at < rows.end
    first = rows.buffer.data[at]
    tags: Longs = np.where(more, first, _END).astype(np.int64)
    is_short = first < 128
    rows.at = at + (more & is_short)
    longer = np.flatnonzero(more & ~is_short)
    if len(longer):
        inside = rows.pick(longer)
        values = inside.varints()
        inside.mark_broken((values >= _BEYOND) | (inside.at - at[longer] > 5))
        tags[longer] = np.where(inside.broken, _END, values.view(np.int64))
        rows.put(longer, inside)
    rows.mark_broken(more & (tags < _LOWEST))
    return np.where(rows.broken, _END, tags)
