"""Edits of a `.proto` text that remove an incompatibility."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from compat.difference import Difference
from compat.protobuf.reserving import numbered
from compat.protobuf.rules import table as rules
from compat.protobuf.rules.cautions import (
    BYTES_TO_STRING,
    FIELD_MADE_REQUIRED,
    NAME_NOT_RESERVED,
    NUMBER_NARROWED,
    NUMBER_NOT_RESERVED,
    NUMBER_TO_CLOSED_ENUM,
    REPEATED_NUMBER_TO_SINGLE,
    REPEATED_VALUE_TO_SINGLE,
)
from compat.protobuf.rules.judges import ProtobufDifference
from compat.protobuf.rules.pairs import DeclaredPair, FieldPair, OneofPair
from compat.protobuf.schema import ProtobufSchema
from compat.protobuf.text.nodes import MAX_FIELD_NUMBER, Message, bounds
from compat.protobuf.text.statements import Statements
from compat.report.edits import Fix
from compat.schema import ParsedSchema, Pointer

#: Field numbers that the runtime reserves for itself.
_RUNTIME_NUMBERS = range(19000, 20000)


class _Case(NamedTuple):
    """A difference, the pair that it is about, the statements of the two texts, and its places in them."""

    difference: Difference
    pair: Any
    new: Statements
    old: Statements
    new_at: Pointer
    old_at: Pointer


def fixes(difference: Difference, new: ParsedSchema, old: ParsedSchema, *, new_reads_old: bool) -> Iterator[Fix]:
    """The fixes of a difference; see SchemaFormat. Imported files are not edited."""
    assert isinstance(new, ProtobufSchema)
    assert isinstance(old, ProtobufSchema)
    places = (difference.reader_at, difference.writer_at)
    new_at, old_at = places if new_reads_old else places[::-1]
    find = (_OF_READER if new_reads_old else _OF_WRITER).get(difference.rule.name)
    pair = difference.pair if isinstance(difference, ProtobufDifference) else None
    if new_at is None and isinstance(pair, DeclaredPair) and pair.reader_place.pointer:
        # Only the old schema has the declaration, so use the enclosing declaration of the new schema.
        new_at = pair.reader_place.pointer[:-1]
    if find is None or new_at is None or old_at is None or not (new.is_text and old.is_text):
        return
    if new_at in new.places and old_at in old.places:
        yield from find(_Case(difference, pair, Statements(new), Statements(old), new_at, old_at))


def _keep_package(case: _Case) -> Iterator[Fix]:
    before = case.old.schema.tree.package
    statement = f"package {before};" if before else ""
    if case.new.schema.tree.package is not None:
        yield Fix(f"Keep {statement or 'no package'}", (case.new.replace((), statement),))
    elif before:
        yield Fix(f"Keep {statement}", (case.new.insert_after_syntax(statement),))


def _keep_message(case: _Case) -> Iterator[Fix]:
    statement = case.old.text(case.old_at)
    yield Fix(f"Keep the message {case.old_at[-1]}", (case.new.append_to(case.new_at, statement),))


def _keep_field(case: _Case) -> Iterator[Fix]:
    """Restore a field of the old message, within its oneof if that still exists."""
    pair: FieldPair = case.pair
    field = pair.writer or pair.reader
    if field is None:
        return
    oneof = pair.writer_oneof or pair.reader_oneof
    block = case.new_at if oneof is None else (*case.new_at, oneof)
    if block in case.new.schema.places:
        yield Fix(f"Keep the field {field.name}", (case.new.append_to(block, case.old.text(case.old_at)),))


def _optional(case: _Case) -> Iterator[Fix]:
    """Replace `required` by `optional`."""
    edit = case.new.replace_label(case.new_at, "optional")
    if edit is not None:
        yield Fix("Make the field optional", (edit,))


def _keep_type(case: _Case) -> Iterator[Fix]:
    yield Fix("Keep the type", (case.new.replace_type(case.new_at, case.old.type_text(case.old_at)),))
    yield from _new_number(case)


def _new_number(case: _Case) -> Iterator[Fix]:
    """Give the field another number for its new meaning, and reserve the old number."""
    outer = case.new_at[:-1]
    given_up = case.new_at[-1]
    message = case.new.message(outer)
    if message is None or not isinstance(given_up, int):
        return
    number = _free_number(message, given_up)
    if number is None:
        return
    edits = (case.new.replace_number(case.new_at, number), case.new.prepend_to(outer, f"reserved {given_up};"))
    yield Fix(f"Give the field the number {number}, and reserve {given_up}", edits)


def _free_number(message: Message, given_up: int) -> int | None:
    numbers = [field.number for field in message.fields] + [group.number for group in message.groups]
    numbers += [member.number for oneof in message.oneofs for member in oneof.members]
    numbers += [bounds(value)[1] for part in message.reserved for value in part.values if not isinstance(value, str)]
    numbers += [bounds(value)[1] for part in message.extensions for value in part.ranges]
    free = max([given_up, *numbers]) + 1
    free = _RUNTIME_NUMBERS.stop if free in _RUNTIME_NUMBERS else free
    return free if free <= MAX_FIELD_NUMBER else None


def _keep_label(case: _Case) -> Iterator[Fix]:
    before = case.old.label(case.old_at)
    edit = case.new.replace_label(case.new_at, before)
    if edit is not None:
        yield Fix(f"Keep the label {before}" if before else "Keep the field without a label", (edit,))
    yield from _new_number(case)


def _move_out(case: _Case) -> Iterator[Fix]:
    """Move fields that had been outside of oneofs out of the oneof again."""
    pair: OneofPair = case.pair
    oneof = pair.reader.oneofs[pair.name]
    outside = [field for field in oneof.fields if field.number in pair.writer.by_number]
    outside = [field for field in outside if field.number not in pair.writer.oneof_of]
    if not outside:
        return
    outer = case.new_at[:-1]
    edits = case.new.move_out(case.new_at, [(*outer, field.number) for field in outside], len(oneof.members))
    names = ", ".join(field.name for field in outside)
    yield Fix(f"Leave {names} outside of the oneof {pair.name}", edits)


def _reserve_number(case: _Case) -> Iterator[Fix]:
    """Reserve a number, and also its name if nothing else uses it."""
    number, name = case.difference.arguments["number"], case.difference.arguments["name"]
    names = _reserved_name(case)
    if names is not None:
        lines = f"reserved {number};\n{{indent}}{names}"
        yield Fix(f"Reserve the number {number} and the name {name}", (case.new.prepend_to(case.new_at, lines),))
    yield Fix(f"Reserve the number {number}", (case.new.prepend_to(case.new_at, f"reserved {number};"),))


def _reserve_name(case: _Case) -> Iterator[Fix]:
    names = _reserved_name(case)
    if names is not None:
        name = case.difference.arguments["name"]
        yield Fix(f"Reserve the name {name}", (case.new.prepend_to(case.new_at, names),))


def _reserved_name(case: _Case) -> str | None:
    """The statement that reserves a name; None if the name is in use."""
    name = case.difference.arguments["name"]
    after = dict(numbered(case.new.schema.tree)).get(case.new_at)
    if after is None or name in after.names.values() or name in after.reserved_names:
        return None
    return f"reserved {name};" if case.new.schema.tree.syntax == "editions" else f'reserved "{name}";'


_Finder = Callable[[_Case], Iterator[Fix]]
#: The fixes in both directions.
_OF_BOTH: Mapping[str, _Finder] = {
    rules.PACKAGE_CHANGED.name: _keep_package,
    rules.FIELD_KIND_CHANGED.name: _keep_type,
    rules.FIELD_SCALAR_KIND_CHANGED.name: _keep_type,
    rules.FIELD_NAMED_TYPE_CHANGED.name: _keep_type,
    rules.FIELD_NUMERIC_LABEL_CHANGED.name: _keep_label,
    REPEATED_NUMBER_TO_SINGLE.name: _keep_label,
    REPEATED_VALUE_TO_SINGLE.name: _keep_label,
    NUMBER_NARROWED.name: _keep_type,
    NUMBER_TO_CLOSED_ENUM.name: _keep_type,
    BYTES_TO_STRING.name: _keep_type,
    FIELD_MADE_REQUIRED.name: _keep_label,
    NUMBER_NOT_RESERVED.name: _reserve_number,
    NAME_NOT_RESERVED.name: _reserve_name,
}
#: The fixes if the new schema reads old data.
_OF_READER: Mapping[str, _Finder] = {
    **_OF_BOTH,
    rules.MESSAGE_REMOVED.name: _keep_message,
    rules.REQUIRED_FIELD_ADDED.name: _optional,
    rules.REQUIRED_FIELD_REMOVED.name: _keep_field,
    rules.ONEOF_FIELD_REMOVED.name: _keep_field,
    rules.MULTIPLE_FIELDS_MOVED_TO_ONEOF.name: _move_out,
    rules.FIELD_MOVED_TO_EXISTING_ONEOF.name: _move_out,
}
#: The fixes if the new schema writes data for old readers.
_OF_WRITER: Mapping[str, _Finder] = {
    **_OF_BOTH,
    rules.REQUIRED_FIELD_ADDED.name: _keep_field,
    rules.REQUIRED_FIELD_REMOVED.name: _optional,
}
