"""What is put around a schema and behind its bytes, so that a broken payload is seen as such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan import tree as trees
from spark_avro.plan.tree import Tree

#: No payload has so many bytes left over behind it. Within the limits that `session` sets to the JVM's Avro.
_BEYOND = 2**27
#: The guard's unions have so many branches that the index of their null, the last and the last but one, takes two
#: bytes. No end of these four is a beginning of them, so that a leftover of less than four is always seen; of longer
#: ones, by chance, one of four thousand million begins with them.
_GUARD_BRANCHES = 66
_GUARD_BYTES = b"\x82\x01\x80\x01"
_MARKER_BYTES = b"\x01"


@dataclass(frozen=True, slots=True)
class Shape:
    """What is put around the schemas, and how the result is taken out.

    Attributes:
        names: Names of the field of a value that is no record, of the guard, and of the marker: not among the fields.
        wrapped: Whether the value is a field of a record of ours, since it is no record or not always one.
        marked: Whether the marker is the witness.
        witness: The field of the decoded struct that is null where the payload was broken, and only there.
        kept: The fields of the result, where the marker has to be left out of them.
    """

    names: tuple[str, str, str]
    wrapped: bool
    marked: bool
    witness: str
    kept: tuple[str, ...]

    @property
    def behind(self) -> bytes:
        """The bytes that are put behind each payload."""
        return _GUARD_BYTES + (_MARKER_BYTES if self.marked else b"")

    def writer(self, schema: Tree) -> Tree:
        """A writer's tree with what follows its bytes."""
        _, guard, marker = self.names
        # In the record's own namespace, so that it need not be repeated in a text that is long enough.
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
        """The tree that a writer's is read as: the guard is left out."""
        return self._around(schema, [{"name": self.names[2], "type": {"type": "boolean"}}] if self.marked else [])

    def _around(self, schema: Tree, more: list[Tree]) -> Tree:
        if not self.wrapped:
            return {**schema, "fields": [*schema["fields"], *more]}
        taken = set(trees.names(schema))
        name = next(name for name in _candidates("Wrapped_") if name not in taken)
        return {"type": "record", "name": name, "fields": [{"name": self.names[0], "type": schema}, *more]}

    def result(self, whole: Column) -> Column:
        """The value of a decoded struct."""
        if self.wrapped:
            return whole[self.names[0]]
        if not self.marked:
            return whole
        return F.when(whole.isNotNull(), F.struct(*(whole[name].alias(name) for name in self.kept)))


def shape(reader: Tree, writers: Sequence[Tree]) -> Shape:
    """What is put around a reader's tree and those of its writers."""
    schemas = [reader, *writers]
    wrapped = not all(trees.is_record(schema) for schema in schemas)
    taken = {member["name"].lower() for schema in schemas if not wrapped for member in schema["fields"]}
    value, guard, marker = (
        next(name for name in _candidates(base) if name not in taken) for base in ("value", "guard_", "marker_")
    )
    own = [] if wrapped else reader["fields"]
    witness = next((member["name"] for member in own if not trees.is_nullable(member["type"])), None)
    kept = tuple(member["name"] for member in own)
    return Shape((value, guard, marker), wrapped, witness is None, witness or marker, kept)


def _candidates(base: str) -> Sequence[str]:
    return [base, *(f"{base}{number}" for number in range(1000))]
