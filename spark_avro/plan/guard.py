"""The fields added to a schema and the bytes appended to a payload, which make a broken payload detectable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan import tree as trees
from spark_avro.plan.tree import Tree

#: More bytes than a payload can have after it, and within the limits that `session` sets for the JVM's Avro.
_BEYOND = 2**27
#: With so many branches, the index of the null branch (the last, and the last but one) takes two bytes in the guard's
#: unions. No suffix of these four bytes is a prefix of them, so fewer than four bytes left over are always detected;
#: of longer leftovers, one in four thousand million begins with these bytes by chance.
_GUARD_BRANCHES = 66
_GUARD_BYTES = b"\x82\x01\x80\x01"
_MARKER_BYTES = b"\x01"


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields added to the schemas, and the extraction of the result.

    Attributes:
        names: Unused names for three fields: a value that is not a record, the guard, and the marker.
        wrapped: Whether the value is a field of an added record, because not all schemas are records.
        marked: Whether the marker is the witness.
        witness: The field of the decoded struct that is null if and only if the payload was broken.
        kept: The fields of the result, if the marker must be removed from them.
    """

    names: tuple[str, str, str]
    wrapped: bool
    marked: bool
    witness: str
    kept: tuple[str, ...]

    @property
    def suffix(self) -> bytes:
        """The bytes that are appended to each payload."""
        return _GUARD_BYTES + (_MARKER_BYTES if self.marked else b"")

    def writer(self, schema: Tree) -> Tree:
        """A writer's tree with fields for the appended bytes."""
        _, guard, marker = self.names
        # In the record's namespace, so that the long text does not repeat a namespace.
        space = "" if self.wrapped else schema["name"].rpartition(".")[0]
        taken = set(trees.names(schema))
        prefix = next(name for name in _candidates("g") if not any(f"{space}.{name}_" in f".{n}" for n in taken))
        stem = f"{space}.{prefix}_" if space else f"{prefix}_"
        beyond = [{"type": "fixed", "name": f"{stem}{index}", "size": _BEYOND} for index in range(_GUARD_BRANCHES - 1)]
        nulls = {"last": [*beyond, {"type": "null"}], "last_but_one": [*beyond[:-1], {"type": "null"}, beyond[-1]]}
        halves = [{"name": name, "type": union} for name, union in nulls.items()]
        fields: list[Tree] = [{"name": guard, "type": {"type": "record", "name": f"{stem}guard", "fields": halves}}]
        if self.marked:
            fields.append({"name": marker, "type": {"type": "boolean"}})
        return self._around(schema, fields)

    def reader(self, schema: Tree) -> Tree:
        """The reader's tree: with the marker, if any, and without the guard."""
        return self._around(schema, [{"name": self.names[2], "type": {"type": "boolean"}}] if self.marked else [])

    def _around(self, schema: Tree, more: list[Tree]) -> Tree:
        if not self.wrapped:
            return {**schema, "fields": [*schema["fields"], *more]}
        taken = set(trees.names(schema))
        name = next(name for name in _candidates("Wrapped_") if name not in taken)
        return {"type": "record", "name": name, "fields": [{"name": self.names[0], "type": schema}, *more]}

    def value(self, whole: Column) -> Column:
        """The column whose fields are those of the value, and perhaps the marker."""
        return whole[self.names[0]] if self.wrapped else whole

    def result(self, whole: Column) -> Column:
        """Extracts the value from a decoded struct."""
        if self.wrapped or not self.marked:
            return self.value(whole)
        return F.when(whole.isNotNull(), F.struct(*(whole[name].alias(name) for name in self.kept)))


def shape(reader: Tree, writers: Sequence[Tree]) -> Shape:
    """The shape for a reader's tree and the trees of its writers."""
    schemas = [reader, *writers]
    wrapped = not all(trees.is_record(schema) for schema in schemas)
    taken = {member["name"].lower() for schema in schemas if not wrapped for member in schema["fields"]}
    value, guard, marker = (
        next(name for name in _candidates(base) if name not in taken) for base in ("value", "guard_", "marker_")
    )
    fields = [] if wrapped else reader["fields"]
    witness = next((member["name"] for member in fields if not trees.is_nullable(member["type"])), None)
    kept = tuple(member["name"] for member in fields)
    return Shape((value, guard, marker), wrapped, witness is None, witness or marker, kept)


def _candidates(base: str) -> Sequence[str]:
    return [base, *(f"{base}{number}" for number in range(1000))]
