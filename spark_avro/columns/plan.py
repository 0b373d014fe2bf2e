"""Readers of a schema's data in columns, made of the codec's plan: one reader for each part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
import pyarrow as pa

from serdes.codec.codec import CACHED_CODECS
from serdes.codec.encode.walk import default_bytes
from serdes.codec.resolve.plan import Plan, resolve, unread
from serdes.codec.schema import Field, Node
from serdes.codec.size import least_size
from spark_avro.columns import collections, containers, leaves, part
from spark_avro.columns.part import Read, RowByRow
from spark_avro.columns.rows import PADDING, Buffer, Rows
from spark_avro.plan.spark_form import FORM

_KEY = resolve(Node("string"), None)


@lru_cache(maxsize=CACHED_CODECS)
def column_reader(plan: Plan, kind: pa.DataType) -> Read | None:
    """The reader of a plan's data as an array of a type, or None if the decoder of single messages must read it.

    It is None if a part is a type that contains itself, a collection of items without bytes, a record without fields, a
    field that is neither written nor has a default, a value whose logical types Spark does not convert, or a text that
    is read as a decimal.
    """
    try:
        return _Planner().read(plan, kind)
    except (RowByRow, RecursionError):
        return None


class _Planner:
    """Makes the readers of the parts; a reader for the type None skips its part."""

    def __init__(self) -> None:
        #: Readers by plan and type; None while a reader is being made.
        self._readers: dict[tuple[Plan, pa.DataType | None], Read | None] = {}

    def read(self, plan: Plan, kind: pa.DataType | None) -> Read:
        key = (plan, kind)
        if key not in self._readers:
            self._readers[key] = None
            self._readers[key] = _METHODS.get(plan.kind, _Planner.leaf)(self, plan, kind)
        reader = self._readers[key]
        if reader is None:
            raise RowByRow
        return reader

    def leaf(self, plan: Plan, kind: pa.DataType | None) -> Read:
        read = leaves.reading(plan.node)
        if kind is None:
            return read
        present = leaves.presenting(plan, kind)
        return lambda rows: present(rows, read(rows))

    def enum(self, plan: Plan, kind: pa.DataType | None) -> Read:
        return leaves.enum(plan.symbols, kind)

    def record(self, plan: Plan, kind: pa.DataType | None) -> Read:
        if kind is None:
            return containers.record([(-1, self.read(step, None)) for _, step in plan.steps], (), None)
        names = [field.name for field in plan.fields]
        if not names or not pa.types.is_struct(kind) or [field.name for field in kind] != names:
            raise RowByRow
        types = {-1: None, **{index: field.type for index, field in enumerate(kind)}}
        steps = [(target, self.read(step, types[target])) for target, step in plan.steps]
        absent = [(target, self.default(field, types[target])) for target, field in unread(plan)]
        return containers.record(steps, absent, kind)

    def default(self, field: Field, kind: pa.DataType) -> Read:
        """The reader that returns a field's default for each row."""
        stored = default_bytes(field)
        if stored is None:
            raise RowByRow
        # Read as if it were written, in as many rows as reading in columns needs.
        data = np.frombuffer(stored * part.FEW + bytes(PADDING), np.uint8)
        starts = np.arange(part.FEW) * len(stored)
        rows = Rows(Buffer(data), starts, starts + len(stored))
        values = self.read(resolve(field.node, None), kind)(rows)
        if rows.broken.any():
            raise RowByRow
        return lambda rows: values.take(pa.array(np.zeros(len(rows), np.int64)))

    def array(self, plan: Plan, kind: pa.DataType | None) -> Read:
        least = least_size(plan.node.item)
        if least == 0 or not (kind is None or pa.types.is_list(kind)):
            raise RowByRow
        item, skip = self.read(plan.child, kind and kind.value_type), self.read(plan.child, None)
        return collections.array(item, skip, plan.node.item, least, kind)

    def map(self, plan: Plan, kind: pa.DataType | None) -> Read:
        if not (kind is None or pa.types.is_map(kind)):
            raise RowByRow
        key, value = self.read(_KEY, kind and kind.key_type), self.read(plan.child, kind and kind.item_type)
        entry = [(-1, self.read(step, None)) for step in (_KEY, plan.child)]
        skip = containers.record(entry, (), None)
        return collections.mapping(key, value, skip, least_size(plan.node.item) + 1, kind)

    def union(self, plan: Plan, kind: pa.DataType | None) -> Read:
        if not plan.branches:
            raise RowByRow
        return containers.union([self.branch(plan.target, tag, branch, kind) for tag, branch in plan.branches], kind)

    def tagged(self, plan: Plan, kind: pa.DataType | None) -> Read:
        branch = self.branch(plan.target, plan.tag, plan.child, kind)
        return branch[1] if branch[0] < 0 else containers.member(branch, kind)

    def branch(self, union: Node, tag: str | None, plan: Plan, kind: pa.DataType | None) -> containers.Branch:
        """The reader of a branch, for the reader's union and the branch's tag in it."""
        keys = FORM.keys(union, tag)
        if kind is None or keys is None:
            return -1, self.read(plan, kind)
        if not pa.types.is_struct(kind) or [field.name for field in kind] != list(keys[0]):
            raise RowByRow
        member = keys[0].index(keys[1])
        return member, self.read(plan, kind.field(member).type)

    def mismatch(self, _: Plan, kind: pa.DataType | None) -> Read:
        def read(rows: Rows) -> pa.Array | None:
            rows.mark_broken(np.ones(len(rows), np.bool_))
            return None if kind is None else pa.nulls(len(rows), kind)

        return read


_METHODS: Mapping[str, Callable[[_Planner, Plan, pa.DataType | None], Read]] = {
    "enum": _Planner.enum,
    "record": _Planner.record,
    "array": _Planner.array,
    "map": _Planner.map,
    "union": _Planner.union,
    "tagged": _Planner.tagged,
    "mismatch": _Planner.mismatch,
}
