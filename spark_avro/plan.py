"""The plan of a column that decodes: one branch for each writer's schema, decoded by the JVM, checked byte for byte.

Spark's `from_avro` takes bytes left over, and in PERMISSIVE mode makes a struct of nulls of bytes it cannot read. So:

- A guard of known bytes is put behind the payload, and the writer's schema gets a field for it: unions that only these
  bytes lead through, since their other branches reach beyond the end. The reader has no such field: it is skipped.
- Where the reader's record has a field that is never null, its null says that the payload was broken; else a marker
  field is added to both sides and left out of the result.

The decoded struct stands twice where Spark always evaluates it, so that Spark computes it once and keeps it. The
error's text is not deterministic (it names the Spark partition), so that the optimiser never decodes again in a filter
pushed below. Columns are built of public functions only: all this holds over Spark Connect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.avro.functions import from_avro

from serdes import wire
from spark_avro import tree as trees
from spark_avro.errors import UnsupportedSchema
from spark_avro.known import GUID
from spark_avro.registry import Version
from spark_avro.resolution import Resolved, Unreadable, resolve, with_nulls
from spark_avro.tree import Tree
from spark_avro.types import spark_type

#: How many ways a schema id's message goes wrong are told apart: the error's `reason` begins with one of these.
SHORT = "payload too short"
MAGIC = "wrong magic byte"
UNKNOWN = "unknown schema id"
UNREADABLE = "unreadable schema"
MALFORMED = "malformed payload"

#: No payload has so many bytes left over behind it. Within the limits that `session` sets to the JVM's Avro.
_BEYOND = 2**27
#: The guard's unions have so many branches that the index of their null, the last and the last but one, takes two
#: bytes. No end of these four is a beginning of them, so that a leftover of less than four is always seen; of longer
#: ones, by chance, one of four thousand million begins with them.
_GUARD_BRANCHES = 66
_GUARD_BYTES = b"\x82\x01\x80\x01"
_MARKER_BYTES = b"\x01"


@dataclass(frozen=True, slots=True)
class Branch:
    """Versions whose records are decoded alike: their ids, the writer's tree, and the reader's for this writer."""

    ids: tuple[int, ...]
    writer: Tree
    reader: Resolved


@dataclass(frozen=True, slots=True)
class Decoding:
    """How a column is decoded.

    Attributes:
        reader: The tree whose Spark type the column gets.
        branches: Newest first.
        unreadable: Why an id's records cannot be read, by id.
        others: Ids whose records are not asked for: null without being broken.
        origin: What was planned for, in errors: `subject flights-value`.
    """

    reader: Tree
    branches: tuple[Branch, ...]
    unreadable: Mapping[int, str] = field(default_factory=dict)
    others: tuple[int, ...] = ()
    origin: str = ""

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids whose records can be read."""
        return tuple(schema_id for branch in self.branches for schema_id in branch.ids)


def decoding(versions: Sequence[Version], reader: Tree, origin: str, *, record: str | None = None) -> Decoding:
    """How records of versions, newest first, are read as a reader's tree; versions with equal bytes share a branch.

    Args:
        versions: What the registry has.
        reader: The tree whose type the column gets.
        origin: What the versions are of, in errors.
        record: The full name of the records asked for; those of others are null.

    Raises:
        UnsupportedSchema: Spark has no type for any version's schema.
    """
    groups: dict[str, tuple[Tree, list[Version]]] = {}
    unreadable: dict[int, str] = {}
    others = tuple(version.id for version in versions if record not in (None, version.schema.full_name))
    for version in versions:
        if version.id in others:
            continue
        try:
            writer = trees.tree(version.schema, version.label, reader=False)
        except UnsupportedSchema as error:
            if version is versions[-1] and not groups:
                raise
            unreadable[version.id] = f"{error.path or 'the schema'} {error.problem}"
            continue
        groups.setdefault(trees.text(writer), (writer, []))[1].append(version)
    branches = []
    for writer, members in groups.values():
        ids = tuple(version.id for version in members)
        try:
            resolved = resolve(writer, reader)
            trees.text(resolved.tree)
        except (Unreadable, ValueError) as error:
            unreadable.update(dict.fromkeys(ids, str(error)))
        else:
            branches.append(Branch(ids, writer, resolved))
    return Decoding(reader, tuple(branches), unreadable, others, origin)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A column's parts: the value (null where broken), whether the payload was sound, and what was wrong with it."""

    value: Column
    sound: Column
    reason: Column
    schema_id: Column


def decoded(payload: Column, how: Decoding) -> Decoded:
    """The parts of a decoded column; `value` and `sound` may stand in one expression at the cost of one decoding."""
    raw_bytes = how.reader == {"type": "bytes"} and all(branch.writer == {"type": "bytes"} for branch in how.branches)
    build = _raw if raw_bytes else _decoded_by_avro
    value, sound = build(payload, how)
    return Decoded(value, sound, reason(payload, how), schema_id(payload))


def _raw(payload: Column, how: Decoding) -> tuple[Column, Column]:
    """A top-level `bytes` is the payload itself, without a length (wire format, Avro payloads)."""
    value = _by_header(payload, how, lambda _branch: F.substring(payload, wire.V0_SIZE + 1, 2**31 - 1))
    return value, value.isNotNull() == _expected(payload, how)


def _decoded_by_avro(payload: Column, how: Decoding) -> tuple[Column, Column]:
    shape = _shape(how)
    # rpad copies the payload in a third of the time that concat takes.
    body = F.rpad(
        F.substring(payload, wire.V0_SIZE + 1, 2**31 - 1),
        F.octet_length(payload) + F.lit(len(shape.behind) - wire.V0_SIZE),
        F.lit(shape.behind),
    )

    def decode(branch: Branch) -> Column:
        reader = trees.text(shape.reader(branch.reader.tree))
        writer = trees.text(shape.writer(with_nulls(branch.writer, how.reader)))
        column = from_avro(body, writer, {"mode": "PERMISSIVE", "avroSchema": reader})
        return column.cast(spark_type(shape.reader(how.reader))) if branch.reader.cast else column

    whole = _by_header(payload, how, decode)
    # `least` evaluates both, so that `whole` is computed once for all its mentions.
    sound = F.least(whole[shape.witness].isNotNull(), whole.isNotNull()) == _expected(payload, how)
    return shape.result(whole), sound


def _expected(payload: Column, how: Decoding) -> Column:
    """Whether there ought to be a value."""
    if not how.others:
        return payload.isNotNull()
    others = [F.lit(wire.prefix(schema_id)) for schema_id in how.others]
    return payload.isNotNull() & ~F.substring(payload, 1, wire.V0_SIZE).isin(*others)


def _by_header(payload: Column, how: Decoding, decode: Callable[[Branch], Column]) -> Column:
    header = F.substring(payload, 1, wire.V0_SIZE)
    column: Column | None = None
    for branch in how.branches:
        headers = [F.lit(wire.prefix(schema_id)) for schema_id in branch.ids]
        test = header == headers[0] if len(headers) == 1 else header.isin(*headers)
        column = F.when(test, decode(branch)) if column is None else column.when(test, decode(branch))
    if column is None:
        return F.lit(None).cast(spark_type(how.reader))
    if len(how.branches) == 1:
        # Into a CASE of one branch the optimiser pushes what is around it, and would decode for each mention. No header
        # is like this one.
        column = column.when(header == F.lit(b"\xff" * wire.V0_SIZE), decode(how.branches[0]))
    return column


@dataclass(frozen=True, slots=True)
class _Shape:
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
        return _GUARD_BYTES + (_MARKER_BYTES if self.marked else b"")

    def writer(self, schema: Tree) -> Tree:
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
        return self._around(schema, [{"name": self.names[2], "type": {"type": "boolean"}}] if self.marked else [])

    def _around(self, schema: Tree, more: list[Tree]) -> Tree:
        if not self.wrapped:
            return {**schema, "fields": [*schema["fields"], *more]}
        taken = set(trees.names(schema))
        name = next(name for name in _candidates("Wrapped_") if name not in taken)
        return {"type": "record", "name": name, "fields": [{"name": self.names[0], "type": schema}, *more]}

    def result(self, whole: Column) -> Column:
        if self.wrapped:
            return whole[self.names[0]]
        if not self.marked:
            return whole
        return F.when(whole.isNotNull(), F.struct(*(whole[name].alias(name) for name in self.kept)))


def _shape(how: Decoding) -> _Shape:
    schemas = [how.reader, *(branch.writer for branch in how.branches)]
    wrapped = not all(trees.is_record(schema) for schema in schemas)
    taken = {member["name"].lower() for schema in schemas if not wrapped for member in schema["fields"]}
    value, guard, marker = (
        next(name for name in _candidates(base) if name not in taken) for base in ("value", "guard_", "marker_")
    )
    own = [] if wrapped else how.reader["fields"]
    witness = next((member["name"] for member in own if not trees.is_nullable(member["type"])), None)
    kept = tuple(member["name"] for member in own)
    return _Shape((value, guard, marker), wrapped, witness is None, witness or marker, kept)


def _candidates(base: str) -> Sequence[str]:
    return [base, *(f"{base}{number}" for number in range(1000))]


def schema_id(payload: Column) -> Column:
    """The schema id in a payload's header as a long; null where there is none of this wire format."""
    digits = F.hex(F.substring(payload, 2, wire.V0_SIZE - 1))
    has_id = (F.substring(payload, 1, 1) == F.lit(b"\x00")) & (F.octet_length(payload) >= wire.V0_SIZE)
    return F.when(has_id, F.conv(digits, 16, 10).cast("long"))


def reason(payload: Column, how: Decoding) -> Column:
    """Why a payload that is not sound is not, as text; evaluated for such rows only."""
    number = schema_id(payload)
    shown = F.concat(number.cast("string"), F.lit(" (0x"), F.hex(F.substring(payload, 2, 4)), F.lit(")"))
    size = F.octet_length(payload)
    first = F.hex(F.substring(payload, 1, 1))
    magic = F.when(first == "01", F.lit(f"{MAGIC}: {GUID}")).otherwise(
        F.concat(F.lit(f"{MAGIC}: 0x"), first, F.lit(" where a schema id's message has 0x00"))
    )
    text = F.when(
        (size == 0) | ((F.substring(payload, 1, 1) == F.lit(b"\x00")) & (size < wire.V0_SIZE)),
        F.concat(F.lit(f"{SHORT}: "), size.cast("string"), F.lit(" bytes, the header alone has 5")),
    ).when(F.substring(payload, 1, 1) != F.lit(b"\x00"), magic)
    for unreadable, problem in how.unreadable.items():
        text = text.when(number == unreadable, F.concat(F.lit(f"{UNREADABLE}: id "), shown, F.lit(f": {problem}")))
    if how.ids:
        malformed = F.concat(
            F.lit(f"{MALFORMED}: the "),
            (size - wire.V0_SIZE).cast("string"),
            F.lit(" bytes after the header are not one value of schema id "),
            shown,
            F.lit(" (truncated, left over, or not for this reader)"),
        )
        text = text.when(number.isin(*how.ids), malformed)
    return text.otherwise(
        F.concat(F.lit(f"{UNKNOWN}: "), shown, F.lit(f" is not among those of {how.origin} when the query was planned"))
    )
