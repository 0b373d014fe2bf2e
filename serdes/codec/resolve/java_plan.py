"""Schema resolution as in the Avro library for Java, for data that must be read as that library reads it.

The differences from `plan`: a record is resolved by its fields, whatever its name. In a reader's union, a branch of the
writer's type comes before a promotion; among named types, the one of the same full name comes first; among records,
next the one that has the fields, preferably of the same unqualified name.
"""

from __future__ import annotations

from serdes.codec.errors import SchemaError
from serdes.codec.resolve.plan import PROMOTIONS, Plan, Resolver, has_default, same_name, unread
from serdes.codec.schema import Node


def resolve_as_java(writer: Node, reader: Node) -> Plan:
    """The plan that reads data of `writer` as `reader`.

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
        same_kind = [branch for branch in union.branches if branch.kind == writer.kind]
        # A branch with the writer's name as an alias comes before a branch of that name.
        named = [branch for branch in same_kind if writer.branch in branch.aliases]
        named += [branch for branch in same_kind if branch.branch == writer.branch]
        records = same_kind if writer.kind == "record" and not named else []
        alike = [branch for branch in records if self.has_fields(writer, branch)]
        called = [branch for branch in alike if branch.branch.rpartition(".")[2] == writer.branch.rpartition(".")[2]]
        promoted = [branch for branch in union.branches if (writer.kind, branch.kind) in PROMOTIONS]
        # Among records of the same unqualified name the last, as in that library.
        return next(iter([*named, *called[::-1], *alike, *promoted]), None)

    def has_fields(self, writer: Node, reader: Node) -> bool:
        """Whether the record and each of its fields can be read: types match, and missing fields have defaults."""
        plan = self.plan(writer, reader)
        return not _is_wrong(plan) and not any(_is_wrong(step) for _, step in plan.steps)


def _is_wrong(plan: Plan) -> bool:
    return plan.kind == "mismatch" or not all(has_default(field) for _, field in unread(plan))
