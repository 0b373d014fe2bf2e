"""Values with parts: records field by field and unions branch by branch, of all rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from spark_avro.columns.part import Read
from spark_avro.columns.rows import Rows


def record(steps: Sequence[tuple[int, Read]], absent: Sequence[tuple[int, Read]], kind: pa.DataType | None) -> Read:
    """Reads records, the writer's fields in their order.

    Args:
        steps: Which of the reader's fields each of the writer's is, -1 for none, and what reads it.
        absent: The reader's other fields, and what gives them.
        kind: The struct; None where nobody wants it.
    """

    def read(rows: Rows) -> pa.Array | None:
        columns = {target: step(rows) for target, step in steps}
        if kind is None:
            return None
        columns |= {target: default(rows) for target, default in absent}
        return pa.StructArray.from_arrays([columns[target] for target in range(kind.num_fields)], fields=list(kind))

    return read


def union(branches: Sequence[Read], kind: pa.DataType | None) -> Read:
    """Reads unions whose branches all become the same type; None where nobody wants it."""

    def read(rows: Rows) -> pa.Array | None:
        index = rows.integers()
        rows.leave((index < 0) | (index >= len(branches)))
        # The broken ones have to be somewhere.
        index[rows.broken] = 0
        parts: list[pa.Array] = []
        order, done = np.empty(len(rows), np.int64), 0
        for number, branch in enumerate(branches):
            which = np.flatnonzero(index == number)
            if len(which) == len(rows):
                return branch(rows)
            if len(which):
                inside = rows.pick(which)
                parts.append(branch(inside))
                rows.put(which, inside)
                order[which] = np.arange(done, done + len(which))
                done += len(which)
        return None if kind is None else pa.concat_arrays(parts).take(pa.array(order))

    return read
