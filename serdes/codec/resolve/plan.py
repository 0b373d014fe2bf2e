"""Plans of decoding: the writer's schema resolved against the reader's, as a graph.

The rules are those of the Avro specification ("Schema Resolution") as fastavro applies them: named types match by
unqualified name or alias, a reader's union is read as its first branch that matches, and the writer's logical type
decides the value. Without a reader, every part is read as it was written.

There are three resolutions, because users compare their results with three readers that differ:

- This module resolves as fastavro does, for serializers, the REST proxy and the console tools: confluent-kafka decodes
  with fastavro, and a program that moves to these serializers must read the same data.
- `java_plan` resolves as the Avro library for Java does, for Spark's Python workers: they decode columns that Spark's
  JVM reader, which uses that library, cannot decode, and both must return the same values.
- `spark_avro.plan.resolution` does not resolve. It writes a reader's schema for each writer, so that Spark's JVM
  reader, which ignores logical types, does not take milliseconds for microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from serdes.codec.schema import MISSING, Field, Node

NAMED = frozenset({"record", "enum", "fixed"})

_TO_FLOAT = "float"
#: The promotions of primitives: (writer, reader) to a conversion, None if the value stays the same.
PROMOTIONS: dict[tuple[str, str], str | None] = {
    ("int", "long"): None,
    ("int", "float"): _TO_FLOAT,
    ("int", "double"): _TO_FLOAT,
    ("long", "float"): _TO_FLOAT,
    ("long", "double"): _TO_FLOAT,
    ("float", "double"): None,
    ("string", "bytes"): "encode",
    ("bytes", "string"): "decode",
}
#: Conversion -> its function.
CONVERT: Mapping[str, Callable[[Any], Any]] = {"float": float, "encode": str.encode, "decode": bytes.decode}


class Plan:
    """The plan for reading one part of a datum.

    Attributes:
        kind: The writer's kind, or `mismatch` (reading raises an error with `detail`), or `tagged` (only the reader has
            a union: `child` is read as its branch `tag`).
        node: The writer's node.
        target: The reader's node; without a reader, the writer's.
        convert: The promotion's conversion: `float`, `encode`, `decode` or None.
        steps: Of a record, per writer's field: its index in `fields`, or -1 to skip it, and its plan.
        fields: Of a record, the reader's fields; a field that no step reads gets its default.
        branches: Of a union, per writer's branch: its tag (None for null, or if the reader has no union) and its plan.
        symbols: Of an enum, the reader's symbol per writer's index, None if the reader has none for it.
    """

    __slots__ = (
        "branches", "child", "convert", "detail", "fields", "kind", "node", "steps", "symbols", "tag", "target",
    )  # fmt: skip

    def __init__(self, kind: str, node: Node, target: Node) -> None:
        self.kind = kind
        self.node = node
        self.target = target
        self.convert: str | None = None
        self.steps: tuple[tuple[int, Plan], ...] = ()
        self.fields: tuple[Field, ...] = ()
        self.branches: tuple[tuple[str | None, Plan], ...] = ()
        self.symbols: tuple[str | None, ...] = ()
        self.child: Plan = self
        self.tag: str | None = None
        self.detail = ""


def resolve(writer: Node, reader: Node | None) -> Plan:
    """The plan that reads data of `writer` as `reader`."""
    return Resolver().plan(writer, reader)


def matches(writer: Node, reader: Node) -> bool:
    """Whether data of `writer` may be read as `reader`; unions always match, as branches are resolved later."""
    if "union" in (writer.kind, reader.kind):
        return True
    if writer.kind in NAMED or reader.kind in NAMED:
        return writer.kind == reader.kind and same_name(writer, reader) and writer.size == reader.size
    if writer.kind == reader.kind:
        return writer.kind not in {"array", "map"} or matches(writer.item, reader.item)
    return (writer.kind, reader.kind) in PROMOTIONS


def same_name(writer: Node, reader: Node) -> bool:
    """Whether a reader's named type has the writer's unqualified name, or has it as an alias."""
    unqualified = writer.branch.rpartition(".")[2]
    return (
        unqualified == reader.branch.rpartition(".")[2]
        or writer.branch in reader.aliases
        or unqualified in reader.aliases
    )


def _tag(branch: Node) -> str | None:
    return None if branch.kind == "null" else branch.branch


class Resolver:
    """Makes plans, one per pair of nodes, so that a recursive type refers to the plan of itself."""

    def __init__(self) -> None:
        self.plans: dict[tuple[int, int], Plan] = {}

    def plan(self, writer: Node, reader: Node | None) -> Plan:
        """The plan of a pair of nodes; without a reader, the data is read as it was written."""
        key = (id(writer), id(reader))
        if key in self.plans:
            return self.plans[key]
        if writer.kind == "union":
            plan = self.plans[key] = Plan("union", writer, reader or writer)
            plan.branches = tuple(self._branch(branch, reader) for branch in writer.branches)
            return plan
        if reader is None:
            plan = self.plans[key] = Plan(writer.kind, writer, writer)
            self._fill(plan, writer, None)
            return plan
        if reader.kind == "union":
            return self._from_union(writer, reader)
        if not self.reads(writer, reader):
            return _mismatch(writer, reader)
        plan = self.plans[key] = Plan(writer.kind, writer, reader)
        self._fill(plan, writer, reader)
        return plan

    def _branch(self, writer: Node, reader: Node | None) -> tuple[str | None, Plan]:
        """The tag of the reader's branch, and the plan of a writer's branch."""
        if reader is None:
            return _tag(writer), self.plan(writer, None)
        if reader.kind != "union":
            return None, self.plan(writer, reader)
        chosen = self.chosen(writer, reader)
        return (None, _mismatch(writer, reader)) if chosen is None else (_tag(chosen), self.plan(writer, chosen))

    def reads(self, writer: Node, reader: Node) -> bool:
        """Whether data of a writer's type may be read as a reader's; neither is a union."""
        return matches(writer, reader)

    def chosen(self, writer: Node, union: Node) -> Node | None:
        """The branch of a reader's union as which data of a writer's type is read."""
        return next((branch for branch in union.branches if matches(writer, branch)), None)

    def _from_union(self, writer: Node, reader: Node) -> Plan:
        tag, child = self._branch(writer, reader)
        if tag is None:
            return child
        plan = Plan("tagged", writer, reader)
        plan.tag, plan.child = tag, child
        return plan

    def _fill(self, plan: Plan, writer: Node, reader: Node | None) -> None:
        """Sets the attributes that the kind needs beyond the nodes."""
        if writer.kind in {"array", "map"}:
            plan.child = self.plan(writer.item, reader.item if reader else None)
        elif writer.kind == "enum":
            symbols, default = (reader.symbols, reader.default) if reader else (writer.symbols, None)
            plan.symbols = tuple(symbol if symbol in symbols else default for symbol in writer.symbols)
        elif writer.kind == "record":
            self._fill_record(plan, writer, reader)
        elif reader:
            plan.convert = PROMOTIONS.get((writer.kind, reader.kind))

    def _fill_record(self, plan: Plan, writer: Node, reader: Node | None) -> None:
        if reader is None:
            plan.fields = writer.fields
            plan.steps = tuple((index, self.plan(field.node, None)) for index, field in enumerate(writer.fields))
            return
        by_name = {field.name: index for index, field in enumerate(reader.fields)}
        by_alias = {alias: index for index, field in enumerate(reader.fields) for alias in field.aliases}
        steps: list[tuple[int, Plan]] = []
        for field in writer.fields:
            index = by_name.get(field.name, by_alias.get(field.name, -1))
            if index in (taken for taken, _ in steps):
                index = -1
            steps.append((index, self.plan(field.node, reader.fields[index].node if index >= 0 else None)))
        plan.steps = tuple(steps)
        plan.fields = reader.fields


def unread(plan: Plan) -> list[tuple[int, Field]]:
    """The fields of a record's plan that no step reads, with their indices: the writer does not have them."""
    read = {index for index, _ in plan.steps}
    return [(index, field) for index, field in enumerate(plan.fields) if index not in read]


def has_default(field: Field) -> bool:
    """Whether the field has a default in the schema."""
    return field.default is not MISSING


def _mismatch(writer: Node, reader: Node) -> Plan:
    plan = Plan("mismatch", writer, reader)
    plan.detail = f"{writer.words()} cannot be read as {reader.words()}"
    return plan
