"""The plan for decoding a column: one branch for each writer's schema, decoded by the JVM, checked byte for byte.

Spark's `from_avro` accepts bytes left over, and in PERMISSIVE mode turns unreadable bytes into a struct of nulls. So:

- A guard of fixed bytes follows the payload, and the writer's schema gets a field for it: unions that decode
  only these bytes, because their other branches reach beyond the end. The reader has no such field and skips it.
- If the reader's record has a field that is never null, a null in it means that the payload was broken. Otherwise a
  marker field is added to both schemas and left out of the result.

Spark plans every mention of a decoded column as a separate expression, and computes two of them once only if both are
always evaluated. So `value` and `sound` mention it once each, and `modes` evaluates both. The error's text is not
deterministic (it names the Spark partition), which keeps the optimiser from decoding again in a filter pushed down.
Columns consist of public functions only, so all this also works over Spark Connect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.avro.functions import from_avro

from serdes.message import wire
from spark_avro.errors import UnsupportedSchema
from spark_avro.plan import decimals
from spark_avro.plan import tree as trees
from spark_avro.plan.guard import shape
from spark_avro.plan.resolution import Resolved, Unreadable, resolve, with_nulls
from spark_avro.plan.tree import Tree
from spark_avro.plan.types import spark_type
from spark_avro.registry import Version
from spark_avro.sent_schema import GUID

#: The kinds of broken messages: the error's `reason` begins with one of these.
SHORT = "payload too short"
MAGIC = "wrong magic byte"
UNKNOWN = "unknown schema id"
UNREADABLE = "unreadable schema"
MALFORMED = "malformed payload"
TOO_MANY_DIGITS = "too many digits"


class ColumnPlan(Protocol):
    """How a column is decoded, planned from one snapshot of the registry."""

    @property
    def ids(self) -> Sequence[int]:
        """The ids whose records can be read."""

    @property
    def unreadable(self) -> Mapping[int, str]:
        """The reasons why records cannot be read, by id."""

    def parts(self, payload: Column) -> Decoded:
        """The parts of a payload decoded by this plan."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Versions whose records are decoded the same way: their ids, the writer's tree, and the reader's tree for it."""

    ids: tuple[int, ...]
    writer: Tree
    reader: Resolved


@dataclass(frozen=True, slots=True)
class Decoding:
    """The plan of decoding a column.

    Attributes:
        reader: The tree whose Spark type the column gets.
        branches: The branches, newest first.
        unreadable: The reasons why records cannot be read, by id.
        unselected: Ids of records that are not selected: they become null without being broken.
        origin: The source of the versions, for errors, such as `subject flights-value`.
    """

    reader: Tree
    branches: tuple[Branch, ...]
    unreadable: Mapping[int, str] = field(default_factory=dict)
    unselected: tuple[int, ...] = ()
    origin: str = ""

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids whose records can be read."""
        return tuple(schema_id for branch in self.branches for schema_id in branch.ids)

    def parts(self, payload: Column) -> Decoded:
        """The parts of a payload decoded by this plan."""
        return decoded(payload, self)


def decoding(versions: Sequence[Version], reader: Tree, origin: str, *, record: str | None = None) -> Decoding:
    """Plans how records of versions, newest first, are read as a reader's tree; equal writers' trees share a branch.

    Args:
        versions: The registry's versions.
        reader: The tree whose Spark type the column gets.
        origin: The source of the versions, for errors.
        record: The full name of the records to select; other records become null.

    Raises:
        UnsupportedSchema: Spark has a type for none of the versions' schemas.
    """
    groups: dict[str, tuple[Tree, list[Version]]] = {}
    unreadable: dict[int, str] = {}
    unselected = tuple(version.id for version in versions if record not in (None, version.schema.full_name))
    for version in versions:
        if version.id in unselected:
            continue
        if version.refusal is not None:
            unreadable[version.id] = version.refusal
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
    return Decoding(reader, tuple(branches), unreadable, unselected, origin)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded column's parts: the value (null if broken), whether the payload is sound, the reason if not, the id."""

    value: Column
    sound: Column
    reason: Column
    schema_id: Column


def decoded(payload: Column, plan: Decoding) -> Decoded:
    """The parts of a decoded column; if `value` and `sound` are both always evaluated, Spark decodes once."""
    raw_bytes = plan.reader == {"type": "bytes"} and all(branch.writer == {"type": "bytes"} for branch in plan.branches)
    build = _raw if raw_bytes else _decoded_by_avro
    value, sound = build(payload, plan)
    return Decoded(value, sound, reason(payload, plan), schema_id(payload))


def _raw(payload: Column, plan: Decoding) -> tuple[Column, Column]:
    """A top-level `bytes` is the payload itself, without a length (wire format, Avro payloads)."""
    body = F.substring(payload, wire.V0_SIZE + 1, 2**31 - 1)
    value = _by_header(payload, body, plan, lambda _branch, body: body, plan.reader)
    return value, value.isNotNull() == _expected(payload, plan)


def _decoded_by_avro(payload: Column, plan: Decoding) -> tuple[Column, Column]:
    around = shape(plan.reader, [branch.writer for branch in plan.branches])
    # rpad copies the payload in a third of concat's time. It is called by name because PySpark 3.5's function does not
    # accept columns.
    body = F.call_function(
        "rpad",
        F.substring(payload, wire.V0_SIZE + 1, 2**31 - 1),
        F.octet_length(payload) + F.lit(len(around.suffix) - wire.V0_SIZE),
        F.lit(around.suffix),
    )

    common, casts = around.reader(_common(plan)), _has_casts(plan)

    def decode(branch: Branch, body: Column) -> Column:
        reader = trees.text(around.reader(decimals.uncut(branch.reader.tree)))
        writer = trees.text(around.writer(with_nulls(branch.writer, plan.reader)))
        column = from_avro(body, writer, {"mode": "PERMISSIVE", "avroSchema": reader})
        return column.cast(spark_type(common)) if casts else column

    whole = _by_header(payload, body, plan, decode, common)
    value, is_there = around.result(whole), whole[around.witness].isNotNull()
    fits = _decimals_fit(payload, around.value(whole), plan)
    if fits is None:
        return value, is_there == _expected(payload, plan)
    # As in `modes`, `get` always evaluates both sides. The cast raises for decimals that do not fit, so it comes last.
    value = F.get(F.array(value), F.when(fits, F.lit(0))).cast(spark_type(plan.reader))
    return value, (is_there & fits) == _expected(payload, plan)


def _common(plan: Decoding) -> Tree:
    """The tree of the type that all branches have before their decimals are compared with their types."""
    if not any(decimals.is_cut(branch.reader.tree) for branch in plan.branches):
        return plan.reader
    return decimals.widest(plan.reader) if _has_casts(plan) else decimals.uncut(plan.reader)


def _has_casts(plan: Decoding) -> bool:
    return any(branch.reader.cast for branch in plan.branches)


def _decimals_fit(payload: Column, value: Column, plan: Decoding) -> Column | None:
    """Whether the decimals of a value have at most the digits of their types; None if Spark's reader compares them."""
    by_tree: dict[str, tuple[Tree, list[int]]] = {}
    for branch in plan.branches:
        tree = branch.reader.tree
        by_tree.setdefault(trees.text(tree), (tree, []))[1].extend(branch.ids)
    conditions = [(decimals.fits(value, tree), ids) for tree, ids in by_tree.values()]
    if len(conditions) == 1:
        return conditions[0][0]
    header = F.substring(payload, 1, wire.V0_SIZE)
    column = None
    for condition, ids in conditions:
        if condition is not None:
            test = header.isin(*(F.lit(wire.prefix(schema_id)) for schema_id in ids))
            column = F.when(test, condition) if column is None else column.when(test, condition)
    return None if column is None else column.otherwise(F.lit(True))


def _expected(payload: Column, plan: Decoding) -> Column:
    """Whether the payload is expected to have a value."""
    if not plan.unselected:
        return payload.isNotNull()
    prefixes = [F.lit(wire.prefix(schema_id)) for schema_id in plan.unselected]
    return payload.isNotNull() & ~F.substring(payload, 1, wire.V0_SIZE).isin(*prefixes)


def _by_header(
    payload: Column, body: Column, plan: Decoding, decode: Callable[[Branch, Column], Column], reader: Tree
) -> Column:
    """The body decoded by the branch of the payload's header; NULL of the reader's type if no branch has the header."""
    header = F.substring(payload, 1, wire.V0_SIZE)
    cases: list[tuple[Column, Branch]] = []
    for branch in plan.branches:
        headers = [F.lit(wire.prefix(schema_id)) for schema_id in branch.ids]
        cases.append((header == headers[0] if len(headers) == 1 else header.isin(*headers), branch))
    if not cases:
        return F.lit(None).cast(spark_type(reader))
    if len(cases) == 1:
        # The optimiser would push expressions around it into a CASE of one branch, and so decode for each mention.
        return decode(cases[0][1], F.when(cases[0][0], body))
    column = F.when(cases[0][0], decode(cases[0][1], body))
    for test, branch in cases[1:]:
        column = column.when(test, decode(branch, body))
    return column


def schema_id(payload: Column) -> Column:
    """The schema id in a payload's header as a long; null if the payload has no header of this wire format."""
    digits = F.hex(F.substring(payload, 2, wire.V0_SIZE - 1))
    has_id = (F.substring(payload, 1, 1) == F.lit(b"\x00")) & (F.octet_length(payload) >= wire.V0_SIZE)
    return F.when(has_id, F.conv(digits, 16, 10).cast("long"))


def reason(payload: Column, plan: Decoding) -> Column:
    """The reason why a payload is not sound, as text; evaluated for broken rows only.

    All reasons share one format call, because Spark plans and compiles every expression of a query.
    """
    size = F.octet_length(payload)
    header = F.hex(F.substring(payload, 1, wire.V0_SIZE))
    first, digits = F.substring(header, 1, 2), F.substring(header, 3, 8)
    text = F.when(
        (size == 0) | ((first == "00") & (size < wire.V0_SIZE)),
        F.lit(f"{SHORT}: %1$s bytes, the header alone has {wire.V0_SIZE}"),
    )
    text = text.when(first == "01", F.lit(f"{MAGIC}: {GUID}"))
    text = text.when(first != "00", F.lit(f"{MAGIC}: 0x%2$s where a schema id's message has 0x00"))
    for unreadable, problem in plan.unreadable.items():
        explanation = f"{UNREADABLE}: id %3$s (0x%4$s): {_verbatim(problem)}"
        text = text.when(header == _shown(unreadable), F.lit(explanation))
    for branch in plan.branches:
        names = ", ".join(decimals.decimal_names(branch.reader.tree))
        if names:
            ids = header.isin(*map(_shown, branch.ids))
            explanation = f"{TOO_MANY_DIGITS}: a decimal of id %3$s (0x%4$s) has more than its type: {_verbatim(names)}"
            text = text.when(
                ids & decimals.has_long_decimal(payload, branch.writer, branch.reader.tree), F.lit(explanation)
            )
    if plan.ids:
        malformed = (
            f"{MALFORMED}: the %5$s bytes after the header are not one value of schema id %3$s (0x%4$s)"
            " (truncated, left over, or not for this reader)"
        )
        headers = F.lit(",".join(map(_shown, plan.ids)))
        text = text.when(F.find_in_set(header, headers) > 0, F.lit(malformed))
    unknown = f"{UNKNOWN}: %3$s (0x%4$s) is not among those of {_verbatim(plan.origin)} when the query was planned"
    number = F.conv(digits, 16, 10)
    return F.printf(text.otherwise(F.lit(unknown)), size, first, number, digits, size - wire.V0_SIZE)


def _verbatim(text: str) -> str:
    return text.replace("%", "%%")


def _shown(schema_id: int) -> str:
    """The header of an id's messages, in hexadecimal as Spark's `hex` writes it."""
    return wire.prefix(schema_id).hex().upper()
