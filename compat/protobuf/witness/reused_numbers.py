"""Numbers and names that a schema gives up or gives to another field; a message or enum keeps them for old data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from google.protobuf.descriptor import FieldDescriptor

from compat.difference import STRICT_AND_LENIENT, Difference, Judged, Rule
from compat.protobuf.descriptor.undescribe import is_repeated
from compat.protobuf.reserving import Numbered, numbered
from compat.protobuf.schema import ProtobufSchema
from compat.protobuf.witness.data import Field, is_map
from compat.protobuf.witness.trial import Trial, one_field
from compat.schema import Pointer


def caution(name: str, change: str, harm: str, remedy: str, writer_remedy: str = "") -> Rule:
    """A rule of a break that every policy allows."""
    return Rule(name, STRICT_AND_LENIENT, change=change, harm=harm, remedy=remedy, writer_remedy=writer_remedy)


NUMBER_REUSED = caution(
    "NUMBER_REUSED",
    "The number {number} is `{reader_type} {name}` in the {reader} schema and `{writer_type} {writer_name}` in the"
    " {writer} schema.",
    "Readers take the values of `{writer_name}` for `{name}`. JSON and text format go by names, so they do not find"
    " `{name}`.",
    "Give another field a number that was never used, and reserve {number}. If it is the same field, keep its name.",
)
ENUM_NUMBER_REUSED = caution(
    "ENUM_NUMBER_REUSED",
    "The number {number} of {holder} is {name} in the {reader} schema and {writer_name} in the {writer} schema.",
    "Readers take {writer_name} for {name}. JSON and text format go by names, so readers refuse {writer_name}.",
    "Give another value a number that was never used, and reserve {number}. If it is the same value, keep its name,"
    " also as an alias (`allow_alias`).",
)
NUMBER_NOT_RESERVED = caution(
    "NUMBER_NOT_RESERVED",
    "{holder} gave up the number {number} of {name} and does not reserve it.",
    "The next one to take the number reads old data as something else.",
    "Add `reserved {number};`.",
)
NAME_NOT_RESERVED = caution(
    "NAME_NOT_RESERVED",
    "{holder} gave up the name {name} and does not reserve it.",
    "JSON and text format go by names: the next field of this name reads old texts.",
    'Add `reserved "{name}";`.',
)
NUMBER_RULES = (NUMBER_REUSED, ENUM_NUMBER_REUSED, NUMBER_NOT_RESERVED, NAME_NOT_RESERVED)


def reused(old: Field, new: Field, pointer: Pointer, trial: Trial) -> Iterator[Difference]:
    """A number that names another field, with a message that is read as that field.

    Names that are the same in JSON (`an_id` and `anId`) are the same field.

    Args:
        old: The writer's field.
        new: The reader's field with the same number.
        pointer: The field's place in both schemas.
        trial: Writes and reads messages; raises TooMuchWork beyond its budget.
    """
    if old.name == new.name or old.json_name == new.json_name:
        return
    names = old.containing_type.full_name, new.containing_type.full_name
    witness = trial.find(one_field(trial.written(names[0]), old.number), names[1], by_name=True)
    arguments = {
        "number": str(old.number),
        "name": new.name,
        "writer_name": old.name,
        "reader_type": type_of(new),
        "writer_type": type_of(old),
    }
    yield Difference(NUMBER_REUSED, path_of(pointer), arguments, pointer, pointer, witness)


def of_numbers(judged: Judged) -> Iterator[Difference]:
    """The enums' numbers that name another value, and the numbers and names that are given up and not reserved."""
    reader, writer = judged.reader, judged.writer
    assert isinstance(reader, ProtobufSchema)
    assert isinstance(writer, ProtobufSchema)
    read = dict(numbered(reader.tree))
    for pointer, written in numbered(writer.tree):
        if pointer in read and written.is_enum:
            yield from _renamed(pointer, written, read[pointer])
    new, old = (reader, writer) if judged.new_reads_old else (writer, reader)
    for difference in _unreserved(new, old):
        yield difference if judged.new_reads_old else _swapped(difference)


def _renamed(pointer: Pointer, written: Numbered, read: Numbered) -> Iterator[Difference]:
    kept = {number for number, _ in written.all_names & read.all_names}
    for number, name in written.names.items():
        # A number may have several names (`allow_alias`): any of them that stays is enough.
        if number not in read.names or number in kept:
            continue
        at = (*pointer, number)
        arguments = {
            "holder": _holder(pointer, written),
            "number": str(number),
            "name": read.names[number],
            "writer_name": name,
        }
        yield Difference(ENUM_NUMBER_REUSED, path_of(at), arguments, at, at)


def _unreserved(new: ProtobufSchema, old: ProtobufSchema) -> Iterator[Difference]:
    """Numbers and names that the new schema, here the reader, no longer uses and does not reserve."""
    now = dict(numbered(new.tree))
    for pointer, before in numbered(old.tree):
        after = now.get(pointer)
        if after is not None:
            yield from _given_up(pointer, before, after)


def _given_up(pointer: Pointer, before: Numbered, after: Numbered) -> Iterator[Difference]:
    for number, name in before.names.items():
        if number in after.names:
            continue
        arguments = {"holder": _holder(pointer, before, "The"), "number": str(number), "name": name}
        at = (*pointer, number)
        if not after.reserves(number):
            yield Difference(NUMBER_NOT_RESERVED, path_of(at), arguments, pointer, at)
        elif name not in after.reserved_names and name not in after.names.values():
            yield Difference(NAME_NOT_RESERVED, path_of(at), arguments, pointer, at)


def _holder(pointer: Pointer, holder: Numbered, article: str = "the") -> str:
    return f"{article} {'enum' if holder.is_enum else 'message'} {pointer[-1]}"


def _swapped(difference: Difference) -> Difference:
    """The difference with the places of reader and writer swapped."""
    return replace(difference, reader_at=difference.writer_at, writer_at=difference.reader_at)


def path_of(pointer: Pointer) -> str:
    """The path of a place as messages print it."""
    return "#/" + "/".join(map(str, pointer))


def type_of(field: Field) -> str:
    """The type of a field as texts write it."""
    if is_map(field):
        key, value = field.message_type.fields
        return f"map<{type_of(key)}, {type_of(value)}>"
    named = field.message_type or field.enum_type
    name = named.name if named is not None else _TYPE_NAMES[field.type]
    return f"repeated {name}" if is_repeated(field) else name


_TYPE_NAMES = {
    value: name.removeprefix("TYPE_").lower() for name, value in vars(FieldDescriptor).items() if name[:5] == "TYPE_"
}
