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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.avro.functions import from_avro

from serdes.message import wire
from spark_avro.errors import UnsupportedSchema
from spark_avro.plan import decimals
from spark_avro.plan import tree as trees
from spark_avro.plan.column_fit import fit
from spark_avro.plan.frames import Guids, Message, body, schema_id
from spark_avro.plan.guard import shape
from spark_avro.plan.parts import Decoded, parts_of
from spark_avro.plan.reasons import TOO_MANY_DIGITS, reason, verbatim
from spark_avro.plan.resolution import Resolved, Unreadable, resolve, with_nulls
from spark_avro.plan.rules.carrying import Opened, carry_out
from spark_avro.plan.rules.reading import NO_RULES, ReadRules, avro_rules
from spark_avro.plan.tree import Tree
from spark_avro.plan.types import spark_type
from spark_avro.registry import Version


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
        guids: The ids of the schemas' guids, newest first.
        rules: The rules on records.
        kept: The tree of the part of the value that the column has after the rules; None for all.
    """

    reader: Tree
    branches: tuple[Branch, ...]
    unreadable: Mapping[int, str] = field(default_factory=dict)
    unselected: tuple[int, ...] = ()
    origin: str = ""
    guids: Guids = field(default_factory=dict)
    rules: ReadRules = NO_RULES
    kept: Tree | None = None
    has_indexes: ClassVar[bool] = False

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids whose records can be read."""
        return tuple(schema_id for branch in self.branches for schema_id in branch.ids)

    def parts(self, message: Message) -> Decoded:
        """The parts of a message decoded by this plan."""
        return parts_of(
            message, self.guids, lambda by_id: decoded(by_id, self, message.replayed), before=self.rules.by_id
        )


def decoding(
    versions: Sequence[Version], reader: Tree, origin: str, *, guids: Guids, record: str | None = None
) -> Decoding:
    """Plans how records of versions, newest first, are read as a reader's tree; equal writers' trees share a branch.

    Args:
        versions: The registry's versions.
        reader: The tree whose Spark type the column gets.
        origin: The source of the versions, for errors.
        guids: The ids of the schemas' guids.
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
    return Decoding(reader, tuple(branches), unreadable, unselected, origin, guids)


def decoded(message: Column, plan: Decoding, replayed: Column | None = None) -> Decoded:
    """The parts of a message with an id before the payload; `replayed` is the rule that a record skips.

    If `value` and `sound` are both always evaluated, Spark decodes once.
    """
    raw_bytes = plan.reader == {"type": "bytes"} and all(branch.writer == {"type": "bytes"} for branch in plan.branches)
    build = _raw if raw_bytes else _decoded_by_avro
    value, sound, failure = build(message, plan, replayed)
    why = reason(
        message,
        ids=plan.ids,
        unreadable=plan.unreadable,
        origin=plan.origin,
        explained=list(long_decimals(message, plan)),
    )
    parts = Decoded(value, sound, why, schema_id(message))
    return parts if failure is None else parts.failed(failure)


def long_decimals(message: Column, plan: Decoding) -> Iterator[tuple[Sequence[int], Column, str]]:
    """The ids of schemas with decimals, whether a message has one of too many digits, and the reason."""
    for branch in plan.branches:
        names = ", ".join(decimals.decimal_names(branch.reader.tree))
        if names:
            has_one = decimals.has_long_decimal(body(message), branch.writer, branch.reader.tree)
            why = f"{TOO_MANY_DIGITS}: a decimal of id %3$s (0x%4$s) has more than its type: {verbatim(names)}"
            yield branch.ids, has_one, why


#: The value, whether it is sound, and the failure of a rule; None without rules.
_Built = tuple[Column, Column, Column | None]


def _raw(message: Column, plan: Decoding, replayed: Column | None) -> _Built:
    """A top-level `bytes` is the message itself, without a length (wire format, Avro payloads)."""
    raw = body(message)
    whole = _by_schema(message, raw, plan, lambda _branch, raw: raw, plan.reader)
    return _after_rules(whole, lambda whole: (whole, whole.isNotNull()), message, plan, replayed)


def _after_rules(
    whole: Column,
    parts: Callable[[Column], tuple[Column, Column]],
    message: Column,
    plan: Decoding,
    replayed: Column | None,
) -> _Built:
    """Carry out the rules on a decoded column.

    Args:
        whole: What is decoded.
        parts: Takes it, and returns the value and whether there is one.
        message: The messages.
        plan: The plan.
        replayed: The rule that a record skips.
    """
    expected = _expected(message, plan)
    if not plan.rules.domain:
        value, is_there = parts(whole)
        return value, is_there == expected, None
    start = Opened(whole, lambda whole: parts(whole)[0], lambda whole: parts(whole)[1], replayed)
    carried = carry_out(avro_rules(plan.rules.domain, plan.reader), start)
    return kept_part(carried.value, plan), carried.sound == expected, carried.failure


def kept_part(value: Column, plan: Decoding) -> Column:
    """The part of a decoded value that the column has."""
    return value if plan.kept is None else fit(value, spark_type(plan.reader), plan.kept, drop_extra=True)


def _decoded_by_avro(message: Column, plan: Decoding, replayed: Column | None) -> _Built:
    around = shape(plan.reader, [branch.writer for branch in plan.branches])
    # rpad copies the message in a third of concat's time. It is called by name because PySpark 3.5's function does not
    # accept columns.
    guarded = F.call_function(
        "rpad",
        body(message),
        F.octet_length(message) + F.lit(len(around.suffix) - wire.V0_SIZE),
        F.lit(around.suffix),
    )

    common, casts = around.reader(_common(plan)), _has_casts(plan)

    def decode(branch: Branch, guarded: Column) -> Column:
        reader = trees.text(around.reader(decimals.uncut(branch.reader.tree)))
        writer = trees.text(around.writer(with_nulls(branch.writer, plan.reader)))
        column = from_avro(guarded, writer, {"mode": "PERMISSIVE", "avroSchema": reader})
        return column.cast(spark_type(common)) if casts else column

    whole = _by_schema(message, guarded, plan, decode, common)

    def parts(whole: Column) -> tuple[Column, Column]:
        value, is_there = around.result(whole), whole[around.witness].isNotNull()
        fits = _decimals_fit(message, around.value(whole), plan)
        if fits is None:
            return value, is_there
        # As in `modes`, `get` always evaluates both sides. The cast raises for decimals that do not fit, so it comes
        # last.
        return F.get(F.array(value), F.when(fits, F.lit(0))).cast(spark_type(plan.reader)), is_there & fits

    return _after_rules(whole, parts, message, plan, replayed)


def _common(plan: Decoding) -> Tree:
    """The tree of the type that all branches have before their decimals are compared with their types."""
    if not any(decimals.is_cut(branch.reader.tree) for branch in plan.branches):
        return plan.reader
    return decimals.widest(plan.reader) if _has_casts(plan) else decimals.uncut(plan.reader)


def _has_casts(plan: Decoding) -> bool:
    return any(branch.reader.cast for branch in plan.branches)


def _decimals_fit(message: Column, value: Column, plan: Decoding) -> Column | None:
    """Whether the decimals of a value have at most the digits of their types; None if Spark's reader compares them."""
    by_tree: dict[str, tuple[Tree, list[int]]] = {}
    for branch in plan.branches:
        tree = branch.reader.tree
        by_tree.setdefault(trees.text(tree), (tree, []))[1].extend(branch.ids)
    conditions = [(decimals.fits(value, tree), ids) for tree, ids in by_tree.values()]
    if len(conditions) == 1:
        return conditions[0][0]
    header = F.substring(message, 1, wire.V0_SIZE)
    column = None
    for condition, ids in conditions:
        if condition is not None:
            test = header.isin(*(F.lit(wire.prefix(schema_id)) for schema_id in ids))
            column = F.when(test, condition) if column is None else column.when(test, condition)
    return None if column is None else column.otherwise(F.lit(True))


def _expected(message: Column, plan: Decoding) -> Column:
    """Whether the message is expected to have a value."""
    if not plan.unselected:
        return message.isNotNull()
    prefixes = [F.lit(wire.prefix(schema_id)) for schema_id in plan.unselected]
    return message.isNotNull() & ~F.substring(message, 1, wire.V0_SIZE).isin(*prefixes)


def _by_schema(
    message: Column, bytes_: Column, plan: Decoding, decode: Callable[[Branch, Column], Column], reader: Tree
) -> Column:
    """The bytes decoded by the branch of the message's schema; NULL of the reader's type if no branch has it."""
    header = F.substring(message, 1, wire.V0_SIZE)
    cases: list[tuple[Column, Branch]] = []
    for branch in plan.branches:
        headers = [F.lit(wire.prefix(schema_id)) for schema_id in branch.ids]
        cases.append((header == headers[0] if len(headers) == 1 else header.isin(*headers), branch))
    if not cases:
        return F.lit(None).cast(spark_type(reader))
    if len(cases) == 1:
        # The optimiser would push expressions around it into a CASE of one branch, and so decode for each mention.
        return decode(cases[0][1], F.when(cases[0][0], bytes_))
    column = F.when(cases[0][0], decode(cases[0][1], bytes_))
    for test, branch in cases[1:]:
        column = column.when(test, decode(branch, bytes_))
    return column
