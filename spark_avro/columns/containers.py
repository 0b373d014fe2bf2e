"""Values with parts, of all rows: records field by field, and unions branch by branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from spark_avro.columns.part import Read
from spark_avro.columns.rows import Longs, Rows


def record(steps: Sequence[tuple[int, Read]], absent: Sequence[tuple[int, Read]], kind: pa.DataType | None) -> Read:
    """Reads records: the writer's fields in their order.

    Args:
        steps: For each writer's field, the index of the reader's field, -1 for none, and the reader of its values.
        absent: The reader's other fields by index, and the readers that return their defaults.
        kind: The struct type; None to skip the record.
    """

    def read(rows: Rows) -> pa.Array | None:
        columns = {target: step(rows) for target, step in steps}
        if kind is None:
            return None
        columns |= {target: default(rows) for target, default in absent}
        return pa.StructArray.from_arrays([columns[target] for target in range(kind.num_fields)], fields=list(kind))

    return read


#: The index of a branch's member in the struct, -1 if the branch is not a member, and the branch's reader.
Branch = tuple[int, Read]


def union(branches: Sequence[Branch], kind: pa.DataType | None) -> Read:
    """Reads unions.

    Args:
        branches: The writer's branches.
        kind: The struct type of members, or the one type of all branches; None to skip the union.
    """
    gather = _gathered_as_members if any(member >= 0 for member, _ in branches) else _gathered

    def read(rows: Rows) -> pa.Array | None:
        index = rows.integers()
        rows.mark_broken((index < 0) | (index >= len(branches)))
        # Broken rows need a valid index.
        index[rows.broken] = 0
        parts: list[_Part] = []
        for number, (member, branch) in enumerate(branches):
            which = np.flatnonzero(index == number)
            if len(which):
                inside = rows.pick(which)
                parts.append(_Part(member, which, branch(inside)))
                rows.put(which, inside)
        return None if kind is None else gather(parts, len(rows), kind)

    return read


def member(branch: Branch, kind: pa.DataType) -> Read:
    """Reads a value as a struct of members if only the reader has a union."""
    index, read_branch = branch

    def read(rows: Rows) -> pa.Array:
        return _gathered_as_members([_Part(index, np.arange(len(rows)), read_branch(rows))], len(rows), kind)

    return read


class _Part(NamedTuple):
    """The values of a branch, and the rows that have it."""

    member: int
    which: Longs
    values: pa.Array


def _gathered(parts: Sequence[_Part], size: int, kind: pa.DataType) -> pa.Array:
    """The values of all parts in the order of the rows, null for rows without a value."""
    if not parts:
        return pa.nulls(size, kind)
    if len(parts) == 1 and len(parts[0].which) == size:
        return parts[0].values
    order, count = np.full(size, -1), 0
    for part in parts:
        order[part.which] = np.arange(count, count + len(part.which))
        count += len(part.which)
    return pa.concat_arrays([part.values for part in parts]).take(pa.array(order, mask=order < 0))


def _gathered_as_members(parts: Sequence[_Part], size: int, kind: pa.DataType) -> pa.Array:
    absent = np.ones(size, np.bool_)
    for part in parts:
        absent[part.which] = part.member < 0
    members = [
        _gathered([part for part in parts if part.member == index], size, field.type)
        for index, field in enumerate(kind)
    ]
    return pa.StructArray.from_arrays(members, fields=list(kind), mask=pa.array(absent))
