"""Schemas resolved as the Avro library for Java resolves them, for data that have to be read as it reads them.

Where that differs from `plan`: a record is read by its fields whatever it is called; in a reader's union the branch of
the writer's own type is taken before one that it could be promoted to, of named types the one of the same full name,
of records then one that has the fields, best of the same unqualified name.
"""

from __future__ import annotations

from serdes.codec.decode.plan import PROMOTIONS, Plan, Resolver, has_default, same_name, unread
from serdes.codec.errors import SchemaError
from serdes.codec.schema import Node


def resolve_as_java(writer: Node, reader: Node) -> Plan:
    """The plan for data of `writer`, presented as `reader` says.

    Raises:
        SchemaError: The schemas are nested too deeply.
    """
    try:
        return _JavaResolver().plan(writer, reader)
    except RecursionError:
        raise SchemaError("the schema is nested too deeply") from None


class _JavaResolver(Resolver):
    def reads(self, writer: Node, reader: Node) -> bool:
        if writer.kind != reader.kind:
            return (writer.kind, reader.kind) in PROMOTIONS
        return writer.kind not in {"enum", "fixed"} or (same_name(writer, reader) and writer.size == reader.size)

    def chosen(self, writer: Node, union: Node) -> Node | None:
        own = [branch for branch in union.branches if branch.kind == writer.kind]
        # What has an alias for it is called as it, even beside what is.
        named = [branch for branch in own if writer.branch in branch.aliases]
        named += [branch for branch in own if branch.branch == writer.branch]
        alike = [branch for branch in own if not named and writer.kind == "record" and self.has_fields(writer, branch)]
        called = [branch for branch in alike if branch.branch.rpartition(".")[2] == writer.branch.rpartition(".")[2]]
        promoted = [branch for branch in union.branches if (writer.kind, branch.kind) in PROMOTIONS]
        # Of records that are called alike the last, as there.
        return next(iter([*named, *called[::-1], *alike, *promoted]), None)

    def has_fields(self, writer: Node, reader: Node) -> bool:
        """Whether nothing is wrong with a record as it is seen from outside, or with any field of it."""
        plan = self.plan(writer, reader)
        return not _is_wrong(plan) and not any(_is_wrong(step) for _, step in plan.steps)


def _is_wrong(plan: Plan) -> bool:
    return plan.kind == "mismatch" or not all(has_default(field) for _, field in unread(plan))
