"""The walk over two Protobuf schemas: it pairs their declarations, and yields what the judges say of each pair."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from compat.difference import Difference
from compat.protobuf.program.builtin import is_builtin
from compat.protobuf.program.program import Program
from compat.protobuf.program.unit import Unit
from compat.protobuf.rules.java_order import union_order
from compat.protobuf.rules.judges import judge
from compat.protobuf.rules.pairs import (
    MAP,
    MESSAGE,
    ConstantPair,
    DeclaredPair,
    FieldPair,
    FieldType,
    FilePair,
    Location,
    Members,
    OneofPair,
    TypePair,
    field_type,
    members,
)
from compat.protobuf.text.nodes import SCALAR_TYPES, Constant, Enum, Message
from compat.schema import Pointer


@dataclass(frozen=True)
class Content:
    """A request to compare two imported messages; the reply is whether their differences break a reader."""

    writer: FieldType
    reader: FieldType


@dataclass(frozen=True)
class Steps:
    """The number of steps that the next part of the walk takes."""

    count: int


#: The walk through a pair of messages or files: yields steps, differences, and requests that get a reply.
Walk = Generator[Difference | Content | Steps, bool, None]
#: The steps for a declaration, and for a field that may differ.
_STEPS_A_DECLARATION = 4
STEPS_A_FIELD = 4
#: How many members of a oneof one step searches.
_MEMBERS_A_STEP = 16


def walk_files(reader: Program, writer: Program) -> Walk:
    """The walk through two schemas: their files' options, then all that they declare."""
    new, old = reader.root.tree, writer.root.tree
    yield from judge("file", FilePair((), old, new), (), ())
    outer = DeclaredPair(
        (),
        "",
        Message("", messages=old.messages, enums=old.enums),
        Message("", messages=new.messages, enums=new.enums),
        Location(writer, writer.root, old.package or "", ()),
        Location(reader, reader.root, new.package or "", ()),
    )
    yield from _nested(outer)


def walk_imported(content: Content) -> Walk:
    """The walk through a message of another file; its path starts at that file."""
    writer, reader = content.writer.symbol, content.reader.symbol
    if writer is None or reader is None:
        return
    path = tuple((content.writer.local_name or "").split("."))
    yield from _message(
        DeclaredPair(
            path,
            path[-1],
            writer.node if isinstance(writer.node, Message) else None,
            reader.node if isinstance(reader.node, Message) else None,
            _place(content.writer.place.program, writer.unit, writer.full_name),
            _place(content.reader.place.program, reader.unit, reader.full_name),
        )
    )


def _place(program: Program, unit: Unit, full_name: str) -> Location:
    local = full_name.removeprefix(unit.prefix)
    return Location(program, unit, full_name, tuple(local.split(".")) if unit is program.root else None)


def _nested(outer: DeclaredPair) -> Walk:
    """The messages and enums within a pair of messages or files."""
    old, new = outer.writer, outer.reader
    if not isinstance(old, Message) or not isinstance(new, Message):
        return
    declarations = len(old.messages) + len(new.messages) + len(old.enums) + len(new.enums)
    yield Steps(_STEPS_A_DECLARATION * declarations)
    old_messages = {nested.name: (index, nested) for index, nested in enumerate(old.messages)}
    new_messages = {nested.name: (index, nested) for index, nested in enumerate(new.messages)}
    for name in union_order(old_messages, new_messages):
        old_index, old_message = old_messages.get(name, (0, None))
        new_index, new_message = new_messages.get(name, (0, None))
        pair = _declared(outer, name, old_message, new_message, old_index, new_index)
        if old_message is not None and new_message is not None:
            yield from _message(pair)
            if old_index == new_index:
                continue
        yield from judge("message", pair, *_pointers(pair))
    old_enums = {enum.name: enum for enum in old.enums}
    new_enums = {enum.name: enum for enum in new.enums}
    for name in union_order(old_enums, new_enums):
        pair = _declared(outer, name, old_enums.get(name), new_enums.get(name))
        if name in old_enums and name in new_enums:
            yield from _constants(pair)
        else:
            yield from judge("enum", pair, *_pointers(pair))


def _declared(
    outer: DeclaredPair,
    name: str,
    old: Message | Enum | None,
    new: Message | Enum | None,
    old_index: int = 0,
    new_index: int = 0,
) -> DeclaredPair:
    old_place, new_place = outer.writer_place.inside(name), outer.reader_place.inside(name)
    return DeclaredPair((*outer.path, name), name, old, new, old_place, new_place, old_index, new_index)


def _pointers(pair: DeclaredPair) -> tuple[Pointer | None, Pointer | None]:
    """The declaration's places in the reader and in the writer; None if it is missing."""
    return (
        pair.reader_place.pointer if pair.reader is not None else None,
        pair.writer_place.pointer if pair.writer is not None else None,
    )


def _constants(pair: DeclaredPair) -> Iterator[Difference | Steps]:
    if not isinstance(pair.writer, Enum) or not isinstance(pair.reader, Enum):
        return
    if pair.writer.constants == pair.reader.constants:
        return
    yield Steps(STEPS_A_FIELD * (len(pair.writer.constants) + len(pair.reader.constants)))
    old: dict[int, Constant] = {constant.number: constant for constant in pair.writer.constants}
    new: dict[int, Constant] = {constant.number: constant for constant in pair.reader.constants}
    for number in union_order(old, new):
        constants = ConstantPair(
            (*pair.path, str(number)), old.get(number), new.get(number), pair.writer_place, pair.reader_place
        )
        yield from judge(
            "constant",
            constants,
            pair.reader_place.at(number) if number in new else pair.reader_place.pointer,
            pair.writer_place.at(number) if number in old else pair.writer_place.pointer,
        )


def _message(pair: DeclaredPair) -> Walk:
    """Two messages with the same name: their oneofs, their fields by number, and their nested declarations."""
    if not isinstance(pair.writer, Message) or not isinstance(pair.reader, Message):
        return
    old, new = members(pair.writer), members(pair.reader)
    yield Steps(STEPS_A_FIELD * (1 + len(old.by_number) + len(new.by_number)))
    if old.oneof_of != new.oneof_of:
        for name in new.oneofs:
            yield from _oneof("united", pair, name, old, new)
    for name in sorted(old.oneofs.keys() ^ new.oneofs.keys()):
        yield from _oneof("oneof", pair, name, old, new)
    for number in sorted(old.by_number.keys() | new.by_number.keys()):
        if not _is_same(pair, number, old, new):
            yield from _field(pair, number, old, new)
    yield from _nested(pair)


def _is_same(pair: DeclaredPair, number: int, old: Members, new: Members) -> bool:
    """Whether no judge can tell two fields apart; this holds for most fields of most versions."""
    before, after = old.by_number.get(number), new.by_number.get(number)
    if before is None or after is None or old.oneof_of.get(number) != new.oneof_of.get(number):
        return False
    if before.type != after.type or before.name != after.name or before.label != after.label:
        return False
    kind = before.type
    if not isinstance(kind, str):
        return kind.value in SCALAR_TYPES
    if kind in SCALAR_TYPES:
        return True
    one, other = field_type(kind, pair.writer_place), field_type(kind, pair.reader_place)
    is_plain = one.kind == other.kind != MAP and one.local_name == other.local_name
    return is_plain and not (one.kind == MESSAGE and _may_differ(one, other))


def _oneof(kind: str, pair: DeclaredPair, name: str, old: Members, new: Members) -> Iterator[Difference]:
    oneofs = OneofPair((*pair.path, name), name, old, new, pair.writer_place, pair.reader_place)
    yield from judge(
        kind,
        oneofs,
        pair.reader_place.at(name) if name in new.oneofs else pair.reader_place.pointer,
        pair.writer_place.at(name) if name in old.oneofs else pair.writer_place.pointer,
    )


def _field(pair: DeclaredPair, number: int, old: Members, new: Members) -> Walk:
    # the path is the field's path in the reader, or in the writer if the reader lacks the field
    oneof = new.oneof_of.get(number) if number in new.by_number else old.oneof_of.get(number)
    path = (*pair.path, *([oneof] if oneof is not None else []), str(number))
    fields = FieldPair(
        path,
        old.by_number.get(number),
        new.by_number.get(number),
        old.oneof_of.get(number),
        new.oneof_of.get(number),
        old,
        new,
        pair.writer_place,
        pair.reader_place,
    )
    reader_at = pair.reader_place.at(number) if number in new.by_number else pair.reader_place.pointer
    writer_at = pair.writer_place.at(number) if number in old.by_number else pair.writer_place.pointer
    if fields.reader is None:
        if fields.writer_oneof is not None and fields.writer_oneof not in new.oneofs:
            # The judge searches all members of the oneof for one that the reader still has.
            yield Steps(len(old.oneofs[fields.writer_oneof].fields) // _MEMBERS_A_STEP)
        yield from judge("field removed", fields, reader_at, writer_at)
        return
    if fields.writer is None:
        yield from judge("field added", fields, reader_at, writer_at)
        return
    yield from judge("field kept", fields, reader_at, writer_at)
    yield from _types(
        TypePair(
            path,
            fields.reader.name,
            number,
            field_type(fields.writer.type, pair.writer_place),
            field_type(fields.reader.type, pair.reader_place),
            fields.writer.label,
            fields.reader.label,
            pair.writer_place,
            pair.reader_place,
        )
    )


def _types(pair: TypePair) -> Walk:
    writer, reader = pair.writer, pair.reader
    if writer.kind == reader.kind == MESSAGE and _may_differ(writer, reader):
        breaks = yield Content(writer, reader)
        pair = replace(pair, content_breaks=breaks)
    arguments = {"name": pair.name, "writer_type": writer.name, "reader_type": reader.name}
    yield from judge("type", pair, pair.reader_place.at(pair.number), pair.writer_place.at(pair.number), arguments)
    if writer.map is not None and reader.map is not None:
        for old, new in ((writer.map.key, reader.map.key), (writer.map.value, reader.map.value)):
            yield from _types(
                replace(
                    pair,
                    writer=field_type(old, writer.part_place),
                    reader=field_type(new, reader.part_place),
                    writer_label=None,
                    reader_label=None,
                )
            )


def _may_differ(writer: FieldType, reader: FieldType) -> bool:
    """Whether two messages with the same name must be compared because of this field.

    Messages of the schemas themselves are compared at their declarations.
    """
    old, new = writer.symbol, reader.symbol
    if old is None or new is None or writer.local_name != reader.local_name:
        return False
    is_local = old.unit is writer.place.program.root and new.unit is reader.place.program.root
    return not is_local and not (old.unit is new.unit and is_builtin(old.unit))
