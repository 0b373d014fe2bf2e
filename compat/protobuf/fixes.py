"""Edits of a `.proto` text that remove an incompatibility."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from compat.difference import Difference
from compat.edits import Fix, apply_edits
from compat.protobuf.reserving import Numbered, numbered
from compat.protobuf.rules import table as rules
from compat.protobuf.rules.judges import ProtobufDifference
from compat.protobuf.rules.pairs import DeclaredPair, FieldPair, OneofPair
from compat.protobuf.schema import ProtobufSchema, edited
from compat.protobuf.statements import Statements
from compat.protobuf.text.nodes import MAX_FIELD_NUMBER, Message, bounds
from compat.protobuf.witness.cautions import (
    BYTES_TO_STRING,
    FIELD_MADE_REQUIRED,
    NUMBER_NARROWED,
    NUMBER_TO_CLOSED_ENUM,
    REPEATED_NUMBER_TO_SINGLE,
    REPEATED_VALUE_TO_SINGLE,
)
from compat.protobuf.witness.reused_numbers import (
    ENUM_NUMBER_REUSED,
    NAME_NOT_RESERVED,
    NUMBER_NOT_RESERVED,
    NUMBER_REUSED,
)
from compat.schema import ParsedSchema, Pointer

#: Field numbers that the runtime reserves for itself.
_RUNTIME_NUMBERS = range(19000, 20000)
_MAX_ENUM_NUMBER = 2**31 - 1


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
        case = _Case(difference, pair, Statements(new), Statements(old), new_at, old_at)
        for fix in find(case):
            yield _with_imports(fix, case)


def _with_imports(fix: Fix, case: _Case) -> Fix:
    """The fix, also with the imports of the types that a restored declaration uses."""
    new = case.new.schema
    paths = {statement.path for statement in case.old.schema.tree.imports}
    if not paths:
        return fix
    try:
        remarks = edited(new, apply_edits(new.source, fix.edits)).linked.remarks
        missing = sorted(
            {remark.missing for remark in remarks} & paths - {remark.missing for remark in new.linked.remarks}
        )
    except ValueError:
        # The fix will not be offered.
        return fix
    if not missing:
        return fix
    lines = "\n".join(f'import "{path}";' for path in missing)
    return Fix(fix.title, (*fix.edits, case.new.insert_after_syntax(lines)))


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
    """Restore the type of a field that kept its name; another field must get another number."""
    if _given_up_name(case) is None:
        yield Fix("Keep the type", (case.new.replace_type(case.new_at, case.old.type_text(case.old_at)),))
    yield from _new_number(case)


def _keep_name(case: _Case) -> Iterator[Fix]:
    """Give another field or enum value another number, or restore the name of the same one."""
    yield from _new_number(case)
    name = _given_up_name(case)
    if name is not None:
        yield Fix(f"Keep the name {name}", (case.new.replace_name(case.new_at, name),))


def _given_up_name(case: _Case) -> str | None:
    """The old name of a number that has another name now; None if it kept its name."""
    before = dict(numbered(case.old.schema.tree)).get(case.old_at[:-1])
    now = dict(numbered(case.new.schema.tree)).get(case.new_at[:-1])
    if before is None or now is None:
        return None
    name = before.names.get(case.old_at[-1])  # type: ignore[arg-type]  # the last step is a number
    return None if name == now.names.get(case.new_at[-1]) else name  # type: ignore[arg-type]


def _new_number(case: _Case) -> Iterator[Fix]:
    """Give the field or enum value another number for its new meaning, and reserve the old number and name."""
    outer, given_up = case.new_at[:-1], case.new_at[-1]
    holder = dict(numbered(case.new.schema.tree)).get(outer)
    if holder is None or not isinstance(given_up, int):
        return
    number = _free_number(holder, case.new.message(outer))
    if number is None:
        return
    name = _given_up_name(case)
    reserved = f"reserved {given_up};"
    kind = "value" if holder.is_enum else "field"
    title = f"Give the {kind} the number {number}, and reserve {given_up}"
    if name is not None and name not in holder.names.values() and name not in holder.reserved_names:
        reserved += f"\n{{indent}}{_reserving_name(case, name)}"
        title += f" and the name {name}"
    moved = case.new.replace_number(case.new_at, number)
    yield Fix(title, (moved, case.new.prepend_to(outer, reserved)))
    if name is not None:
        block = _block_of(case.old, case.old_at)
        if block in case.new.schema.places:
            restored = case.new.append_to(block, case.old.text(case.old_at))
            yield Fix(f"Keep the {kind} {name}, and give the other one the number {number}", (moved, restored))


def _block_of(statements: Statements, pointer: Pointer) -> Pointer:
    """The block around a field or enum value: its message or enum, or its oneof."""
    message = statements.message(pointer[:-1])
    oneofs = message.oneofs if message is not None else ()
    name = next((oneof.name for oneof in oneofs for member in oneof.members if member.number == pointer[-1]), None)
    return pointer[:-1] if name is None else (*pointer[:-1], name)


def _free_number(holder: Numbered, message: Message | None) -> int | None:
    """The first number after all that are used; None if there is none. Enums have numbers as large as int32."""
    numbers = [*holder.names, *(end for _, end in holder.ranges)]
    numbers += [bounds(value)[1] for part in message.extensions for value in part.ranges] if message else []
    free = max(numbers) + 1
    if holder.is_enum:
        return free if free <= _MAX_ENUM_NUMBER else None
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
    return _reserving_name(case, name)


def _reserving_name(case: _Case, name: str) -> str:
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
    NUMBER_REUSED.name: _keep_name,
    ENUM_NUMBER_REUSED.name: _keep_name,
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
