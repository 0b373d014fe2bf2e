"""What a decoder does with what a writer wrote: the writer's schema resolved against the reader's, as a graph.

Rules are those of the Avro specification ("Schema Resolution") in fastavro's reading: named types match by unqualified
name or alias, a reader's union gives its first branch that matches, and a writer's logical type is what is presented.
Where no reader is given every part is read as it was written.

The product resolves schemas in three ways, because users compare what they read with three readers that differ:

- This module resolves as fastavro does, for serializers, the REST proxy and the console tools: confluent-kafka decodes
  with fastavro, and a program that moves to our serializers must read the same data.
- `java_plan` resolves as the Avro library for Java does, for Spark's Python workers: they decode columns that Spark's
  own reader, which is Java's, cannot decode, and both must present the same values.
- `spark_avro.plan.resolution` resolves nothing by itself. It writes the reader's schema for each writer, so that the
  JVM reader of Spark, which ignores logical types, does not take milliseconds for microseconds.
"""

from __future__ import annotations

from serdes.codec.schema import MISSING, Field, Node

NAMED = frozenset({"record", "enum", "fixed"})

_TO_FLOAT = "float"
#: How a primitive of one type becomes another's: (writer, reader) to a conversion, None where the value stays.
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


class Plan:
    """How one part of a datum is read.

    Attributes:
        kind: The writer's kind, or `mismatch` (reading it is an error, for the reason in `detail`), or `tagged`
            (`child` is a branch, tagged `tag`, of a reader's union that the writer does not have).
        node: The writer's node.
        target: The reader's node; the writer's where there is no reader.
        convert: The promotion's conversion: `float`, `encode`, `decode` or None.
        steps: Of a record, per writer's field: the index of the field in `fields`, or -1 to skip, and its plan.
        fields: Of a record, the reader's fields; those that no step reads take their defaults.
        branches: Of a union, per writer's branch: its tag (None for null, and where the reader has no union) and plan.
        symbols: Of an enum, the reader's symbol per writer's index, None where the reader knows none.
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
    """The plan for data of `writer`, presented as `reader` says."""
    return Resolver().plan(writer, reader)


def matches(writer: Node, reader: Node) -> bool:
    """Whether data of `writer` could be read as `reader`; unions are judged later, branch by branch."""
    if "union" in (writer.kind, reader.kind):
        return True
    if writer.kind in NAMED or reader.kind in NAMED:
        return writer.kind == reader.kind and same_name(writer, reader) and writer.size == reader.size
    if writer.kind == reader.kind:
        return writer.kind not in {"array", "map"} or matches(writer.item, reader.item)
    return (writer.kind, reader.kind) in PROMOTIONS


def same_name(writer: Node, reader: Node) -> bool:
    """Whether a reader's named type is called as the writer's, or as it once was."""
    unqualified = writer.branch.rpartition(".")[2]
    return (
        unqualified == reader.branch.rpartition(".")[2]
        or writer.branch in reader.aliases
        or unqualified in reader.aliases
    )


def _tag(branch: Node) -> str | None:
    return None if branch.kind == "null" else branch.branch


class Resolver:
    """The plans made so far, by pair of nodes: recursive types come back to the same plan."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], Plan] = {}

    def plan(self, writer: Node, reader: Node | None) -> Plan:
        """The plan of a pair of nodes; without a reader, of what is read as it was written."""
        key = (id(writer), id(reader))
        if key in self.known:
            return self.known[key]
        if writer.kind == "union":
            plan = self.known[key] = Plan("union", writer, reader or writer)
            plan.branches = tuple(self._branch(branch, reader) for branch in writer.branches)
            return plan
        if reader is None:
            plan = self.known[key] = Plan(writer.kind, writer, writer)
            self._fill(plan, writer, None)
            return plan
        if reader.kind == "union":
            return self._from_union(writer, reader)
        if not self.reads(writer, reader):
            return _mismatch(writer, reader)
        plan = self.known[key] = Plan(writer.kind, writer, reader)
        self._fill(plan, writer, reader)
        return plan

    def _branch(self, writer: Node, reader: Node | None) -> tuple[str | None, Plan]:
        """The plan of a writer's branch and the tag under which the reader's union shows it."""
        if reader is None:
            return _tag(writer), self.plan(writer, None)
        if reader.kind != "union":
            return None, self.plan(writer, reader)
        chosen = self.chosen(writer, reader)
        return (None, _mismatch(writer, reader)) if chosen is None else (_tag(chosen), self.plan(writer, chosen))

    def reads(self, writer: Node, reader: Node) -> bool:
        """Whether data of a writer's type may be read as a reader's, neither being a union."""
        return matches(writer, reader)

    def chosen(self, writer: Node, union: Node) -> Node | None:
        """The branch of a reader's union that data of a writer's type are read as."""
        return next((branch for branch in union.branches if matches(writer, branch)), None)

    def _from_union(self, writer: Node, reader: Node) -> Plan:
        tag, child = self._branch(writer, reader)
        if tag is None:
            return child
        plan = Plan("tagged", writer, reader)
        plan.tag, plan.child = tag, child
        return plan

    def _fill(self, plan: Plan, writer: Node, reader: Node | None) -> None:
        """What the kind needs beyond the nodes."""
        if writer.kind in {"array", "map"}:
            plan.child = self.plan(writer.item, reader.item if reader else None)
        elif writer.kind == "enum":
            known, default = (reader.symbols, reader.default) if reader else (writer.symbols, None)
            plan.symbols = tuple(symbol if symbol in known else default for symbol in writer.symbols)
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
    """The fields of a record's plan that no step reads, with their indices; the writer did not know them."""
    read = {index for index, _ in plan.steps}
    return [(index, field) for index, field in enumerate(plan.fields) if index not in read]


def has_default(field: Field) -> bool:
    """Whether the schema gives the field a default."""
    return field.default is not MISSING


def _mismatch(writer: Node, reader: Node) -> Plan:
    plan = Plan("mismatch", writer, reader)
    plan.detail = f"{writer.words()} cannot be read as {reader.words()}"
    return plan
