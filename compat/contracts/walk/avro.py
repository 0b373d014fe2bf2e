"""Walks over Avro data: a field's full name is that of its record, a dot and its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compat.avro.nodes import Array, Enum, Field, Fixed, Map, Node, Primitive, Record, Union, children, reachable
from compat.avro.schema import parse
from compat.avro.text.logical_types import has_logical_type
from compat.contracts.model import Metadata
from compat.contracts.tags import TagPatterns, inline_tags
from compat.contracts.walk.avro_branches import chooser, indices_by_name
from compat.contracts.walk.avro_defaults import value_if_absent
from compat.contracts.walk.leaf import DeclaredField, Leaf, LeafFailed, Select, Step, Visit, Walk
from compat.contracts.walk.steps import (
    Forward,
    array_step,
    fixed_point,
    map_step,
    record_step,
    unchanged,
    whole_message,
)
from compat.schema import AVRO, Dependencies, InvalidSchema, SchemaText


class AvroWalk:
    """The fields of an Avro schema, and the walks over its messages; see FieldWalk.

    Args:
        root: The schema's outermost type.
        metadata: The metadata with tags by full names.
    """

    def __init__(self, root: Node, metadata: Metadata | None) -> None:
        self._root = root
        self._records = _records(root)
        patterns = TagPatterns(metadata)
        self._tags: dict[int, frozenset[str]] = {}
        fields: list[DeclaredField] = []
        leaves: dict[Leaf, None] = {}
        for record in self._records.values():
            for field in record.fields:
                full_name = _full_name(record, field)
                tags = self._tags[id(field)] = inline_tags(field.props) | patterns.of(full_name)
                parts = list(_parts(field.type))
                holds_records = any(isinstance(part, Record) for part in parts)
                fields.append(DeclaredField(full_name, field.name, _type_name(field.type), tags, holds_records))
                for part in parts:
                    if isinstance(part, Primitive | Enum | Fixed):
                        leaves[Leaf(full_name, field.name, _type_name(part), tags, _logical_type(part))] = None
        self.fields = tuple(fields)
        self.leaves = tuple(leaves)

    def compile(self, select: Select) -> Walk | None:
        """The walk that visits the selected leaves of a message; None if there is none. See FieldWalk."""
        visits = {leaf: visit for leaf in self.leaves if (visit := select(leaf)) is not None}
        if not visits:
            return None
        try:
            step = _Compiler(self._records, self._tags, visits).step(self._root, None)
        except RecursionError:
            raise InvalidSchema(AVRO, "the schema is nested too deeply for rules on fields") from None
        return None if step is None else whole_message(step)


def walk_of(schema: SchemaText, dependencies: Dependencies, metadata: Metadata | None) -> AvroWalk:
    """The fields of a schema; see `field_walk`."""
    return AvroWalk(parse(schema, dependencies, strict=False).root, metadata)


class _Compiler:
    def __init__(
        self,
        records: Mapping[int, Record],
        tags: Mapping[int, frozenset[str]],
        visits: Mapping[Leaf, Visit],
    ) -> None:
        self._tags = tags
        self._visits = visits
        self._walked = self._with_leaves(records)
        self._made: dict[int, Forward] = {}

    def _with_leaves(self, records: Mapping[int, Record]) -> set[int]:
        """The ids of the records with a selected leaf in them, however deep."""
        names = {(leaf.full_name, leaf.type_name, leaf.logical_type) for leaf in self._visits}
        direct: set[int] = set()
        users: dict[int, set[int]] = {key: set() for key in records}
        for key, record in records.items():
            for field in record.fields:
                for part in _parts(field.type):
                    if isinstance(part, Record):
                        users[id(part)].add(key)
                    elif (_full_name(record, field), _type_name(part), _logical_type(part)) in names:
                        direct.add(key)
        return fixed_point(direct, lambda key: users[key])

    def step(self, node: Node, holder: tuple[Record, Field] | None) -> Step | None:
        """The step into a type of a field; None if no selected leaf is in it."""
        match node:
            case Record():
                return self._record(node) if id(node) in self._walked else None
            case Array():
                step = self.step(node.items, holder)
                return None if step is None else array_step(step)
            case Map():
                step = self.step(node.values, holder)
                return None if step is None else map_step(step)
            case Union():
                return self._union(node, holder)
        if holder is None:
            return None
        record, field = holder
        tags, logical_type = self._tags[id(field)], _logical_type(node)
        return self._visits.get(Leaf(_full_name(record, field), field.name, _type_name(node), tags, logical_type))

    def _record(self, node: Record) -> Step:
        made = self._made.get(id(node))
        if made is None:
            made = self._made[id(node)] = Forward()
            steps = [
                (field.name, step, value_if_absent(field))
                for field in node.fields
                if (step := self.step(field.type, (node, field))) is not None
            ]
            made.step = record_step(steps)
            return made.step
        return made if made.step is unchanged else made.step

    def _union(self, node: Union, holder: tuple[Record, Field] | None) -> Step | None:
        steps = [self.step(branch, holder) for branch in node.branches]
        if not any(steps):
            return None
        walked = [unchanged if step is None else step for step in steps]
        by_name = indices_by_name(node)
        is_nullable = len(walked) == 2 and "null" in node.types
        null = walked[by_name["null"]] if "null" in by_name else unchanged
        other = walked[1 - by_name["null"]] if is_nullable else unchanged
        choose = chooser(node)

        def walk(value: Any, record: Any) -> Any:
            if value is None:
                return null(value, record)
            if value.__class__ is tuple:
                return tagged(value, record)
            return other(value, record) if is_nullable else walked[choose(value)](value, record)

        def tagged(value: Any, record: Any) -> Any:
            """A pair of the branch's name and the value: the name stays."""
            if len(value) != 2 or value[0] not in by_name:
                raise LeafFailed("a tuple in a union has to be the name of a branch and the value")
            new = walked[by_name[value[0]]](value[1], record)
            return value if new is value[1] else (value[0], new)

        return walk


def _records(root: Node) -> dict[int, Record]:
    """All records of a schema by id, the outer before the inner."""
    return {id(node): node for node in reachable(root) if isinstance(node, Record)}


def _parts(node: Node) -> Iterator[Node]:
    """The types that values of a field may have, down to records and leaves."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Array | Map | Union):
            waiting += [child for _, child in children(part)][::-1]
        else:
            yield part


def _full_name(record: Record, field: Field) -> str:
    return f"{record.name.full}.{field.name}"


def _type_name(node: Node) -> str:
    return "COMBINED" if isinstance(node, Union) else node.type.upper()


def _logical_type(node: Node) -> str | None:
    return node.props["logicalType"] if isinstance(node, Primitive | Fixed) and has_logical_type(node) else None
