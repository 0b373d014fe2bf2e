"""Everything in which a reader schema differs from a writer schema, in the reference's order."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace

from compat.budget import Budget
from compat.difference import NEVER, Difference
from compat.protobuf.program.builtin import builtin
from compat.protobuf.program.parsed import Program, Unit
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
    Members,
    OneofPair,
    Place,
    TypePair,
    field_type,
    members,
)
from compat.protobuf.schema import ProtobufSchema
from compat.protobuf.text.nodes import SCALAR_TYPES, Constant, Enum, Message
from compat.schema import ParsedSchema, Pointer

#: What is found in an imported message is told again for each field of its type, until there are this many differences.
MAX_REPEATED = 10_000


@dataclass(frozen=True)
class Content:
    """The request to compare two imported messages; the answer is whether their differences break a reader."""

    writer: FieldType
    reader: FieldType


@dataclass(frozen=True)
class Steps:
    """Word of the steps that the next part of the walk takes."""

    count: int


#: The walk through one pair of messages or files: yields steps, differences, and requests that are answered.
Walk = Generator[Difference | Content | Steps, bool, None]
#: The steps of a declaration, of a field that may differ, and of comparing two files of a program.
_STEPS_A_DECLARATION = 4
_STEPS_A_FIELD = 4
_STEPS_A_FILE = 4
#: How many members of a oneof are looked for in a step, and how many differences are told again.
_MEMBERS_A_STEP = 16
_REPEATED_A_STEP = 32


def differences(reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None) -> list[Difference]:
    """What a reader schema changed from a writer schema, the harmless included; see SchemaFormat.

    Args:
        reader: The schema that reads; a ProtobufSchema.
        writer: The schema that wrote; a ProtobufSchema.
        budget: What the work is taken from.

    Raises:
        InvalidSchema: A schema that one of them refers to is none.
        TooMuchWork: The comparison goes beyond the budget.
    """
    if not isinstance(reader, ProtobufSchema) or not isinstance(writer, ProtobufSchema):
        raise TypeError("both schemas must be of type PROTOBUF")
    return _Comparison(budget or Budget()).run(_files(reader.program, writer.program))


@dataclass
class _Comparison:
    """The walk over two schemas.

    Types refer to types of other files as deep as they like, so these are walked with a stack of our own; each pair is
    walked once.
    """

    budget: Budget
    known: dict[tuple[str, str], list[Difference]] = field(default_factory=dict)
    entered: set[tuple[str, str]] = field(default_factory=set)
    repeated: int = 0

    def run(self, walk: Walk) -> list[Difference]:
        found: list[Difference] = []
        stack: list[tuple[Walk, list[Difference], tuple[str, str]]] = [(walk, found, ("", ""))]
        answer: bool | None = None
        while stack:
            current, collected, key = stack[-1]
            try:
                event = next(current) if answer is None else current.send(answer)
            except StopIteration:
                stack.pop()
                if stack:
                    self.entered.discard(key)
                    self.known[key] = collected
                    answer = self.tell(stack[-1][1], collected)
                continue
            answer = None
            if isinstance(event, Steps):
                self.budget.spend(event.count)
                continue
            if isinstance(event, Difference):
                self.budget.spend(_STEPS_A_FIELD)
                collected.append(event)
                continue
            pair = _key(event)
            self.budget.spend(_STEPS_A_FIELD + len(self.known.get(pair, ())) // _REPEATED_A_STEP)
            if pair in self.known:
                self.repeated += len(self.known[pair])
                answer = self.tell(collected, self.known[pair], silent=self.repeated > MAX_REPEATED)
            elif pair in self.entered:
                answer = False  # the pair is being compared further up, where its differences are told
            elif _same_files(event, self.budget):
                self.known[pair] = []
                answer = False
            else:
                self.entered.add(pair)
                stack.append((_imported(event), [], pair))
        return found

    @staticmethod
    def tell(collected: list[Difference], more: list[Difference], *, silent: bool = False) -> bool:
        """Put what was found in an imported message where its field is; True if any of it breaks a reader."""
        if not silent:
            collected.extend(more)
        return any(difference.rule.allowed is NEVER for difference in more)


def _key(content: Content) -> tuple[str, str]:
    writer, reader = content.writer.symbol, content.reader.symbol
    return (writer.full_name if writer else "", reader.full_name if reader else "")


def _files(reader: Program, writer: Program) -> Walk:
    new, old = reader.root.tree, writer.root.tree
    yield from judge("file", FilePair((), old, new), (), ())
    outer = DeclaredPair(
        (),
        "",
        Message("", messages=old.messages, enums=old.enums),
        Message("", messages=new.messages, enums=new.enums),
        Place(writer, writer.root, old.package or "", ()),
        Place(reader, reader.root, new.package or "", ()),
    )
    yield from _nested(outer)


def _imported(content: Content) -> Walk:
    """The walk through a message of another file, whose path begins anew at its file."""
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


def _place(program: Program, unit: Unit, full_name: str) -> Place:
    local = full_name.removeprefix(unit.prefix)
    return Place(program, unit, full_name, tuple(local.split(".")) if unit is program.root else None)


def _nested(outer: DeclaredPair) -> Walk:
    """The messages and enums inside of a pair of messages, or of files."""
    old, new = outer.writer, outer.reader
    if not isinstance(old, Message) or not isinstance(new, Message):
        return
    declarations = len(old.messages) + len(new.messages) + len(old.enums) + len(new.enums)
    yield Steps(_STEPS_A_DECLARATION * declarations)
    old_messages = {each.name: (index, each) for index, each in enumerate(old.messages)}
    new_messages = {each.name: (index, each) for index, each in enumerate(new.messages)}
    for name in union_order(old_messages, new_messages):
        old_index, old_message = old_messages.get(name, (0, None))
        new_index, new_message = new_messages.get(name, (0, None))
        pair = _declared(outer, name, old_message, new_message, old_index, new_index)
        if old_message is not None and new_message is not None:
            yield from _message(pair)
            if old_index == new_index:
                continue
        yield from judge("message", pair, *_pointers(pair))
    old_enums = {each.name: each for each in old.enums}
    new_enums = {each.name: each for each in new.enums}
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
    """Where the reader has the declaration and where the writer has it, or the place it is missing in."""
    return (
        pair.reader_place.pointer if pair.reader is not None else None,
        pair.writer_place.pointer if pair.writer is not None else None,
    )


def _constants(pair: DeclaredPair) -> Iterator[Difference | Steps]:
    if not isinstance(pair.writer, Enum) or not isinstance(pair.reader, Enum):
        return
    if pair.writer.constants == pair.reader.constants:
        return
    yield Steps(_STEPS_A_FIELD * (len(pair.writer.constants) + len(pair.reader.constants)))
    old: dict[int, Constant] = {each.number: each for each in pair.writer.constants}
    new: dict[int, Constant] = {each.number: each for each in pair.reader.constants}
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
    """Two messages of one name: their oneofs, their fields by number, and what is nested in them."""
    if not isinstance(pair.writer, Message) or not isinstance(pair.reader, Message):
        return
    old, new = members(pair.writer), members(pair.reader)
    yield Steps(_STEPS_A_FIELD * (1 + len(old.by_number) + len(new.by_number)))
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
    """True for two fields that no judge can tell apart; most fields of most versions are such."""
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
    # a field is told where the reader has it, or, where it has it no longer, where the writer had it
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
            # Whether the reader has another member of the oneof is looked for among all of them.
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
    """True for two messages of one name whose content nobody compares unless we do.

    Those of the schemas themselves are compared where they are declared.
    """
    old, new = writer.symbol, reader.symbol
    if old is None or new is None or writer.local_name != reader.local_name:
        return False
    is_local = old.unit is writer.place.program.root and new.unit is reader.place.program.root
    return not is_local and not (old.unit is new.unit and _is_builtin(old.unit))


def _is_builtin(unit: Unit) -> bool:
    """True for a file that is the same everywhere; a reference's may import something else in each schema."""
    return unit is builtin(unit.path)


def _same_files(content: Content, budget: Budget) -> bool:
    """True for types of files that are the same, and that import the same."""
    old, new = content.writer.symbol, content.reader.symbol
    if old is None or new is None:
        return False
    old_program, new_program = content.writer.place.program, content.reader.place.program
    seen: set[str] = set()
    queue = [(old.unit, new.unit)]
    while queue:
        first, second = queue.pop()
        budget.spend(_STEPS_A_FILE)
        if first.path in seen or (first is second and _is_builtin(first)):
            continue
        seen.add(first.path)
        if first.path != second.path or first.text != second.text:
            return False
        if first.text is None and first.tree != second.tree:
            return False
        for entry in first.tree.imports:
            inner = old_program.units.get(entry.path), new_program.units.get(entry.path)
            if inner[0] is None or inner[1] is None:
                if inner[0] is not inner[1]:
                    return False
                continue
            queue.append((inner[0], inner[1]))
    return True


def message(difference: Difference, reader: str, writer: str) -> str:
    """The reference's message for a difference, given the words for the two schemas."""
    description = difference.fill(difference.rule.description, reader, writer)
    return f'{{errorType:"{difference.rule.name}", description:"{description}"}}'
