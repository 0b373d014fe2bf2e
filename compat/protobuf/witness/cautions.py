"""Breaks of Protobuf data that the rules allow: fields whose values do not survive the wire.

Fields are paired by number in messages of the same name. A caution about values includes a message that shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from google.protobuf.descriptor import FieldDescriptor

from compat.budget import Budget
from compat.difference import Difference, Judged, NotExamined, Rule
from compat.protobuf.descriptor.undescribe import is_repeated
from compat.protobuf.schema import ProtobufSchema
from compat.protobuf.witness.data import Field, is_map, is_required
from compat.protobuf.witness.reused_numbers import NUMBER_RULES, caution, of_numbers, path_of, reused, type_of
from compat.protobuf.witness.trial import Trial, one_field
from compat.protobuf.witness.wider_types import holds_all
from compat.schema import InvalidSchema, Pointer

_CHANGE = "The field {name} is `{reader_type}` in the {reader} schema and `{writer_type}` in the {writer} schema."
_OTHER_NUMBER = "Keep `{writer_type}`, or add a field with another number."
_WRITER_OTHER_NUMBER = "Keep `{reader_type}`, or add a field with another number."

REPEATED_NUMBER_TO_SINGLE = caution(
    "REPEATED_NUMBER_TO_SINGLE",
    _CHANGE,
    "Repeated numbers are packed into one value, which readers of a single number skip.",
    _OTHER_NUMBER,
    _WRITER_OTHER_NUMBER,
)
REPEATED_VALUE_TO_SINGLE = caution(
    "REPEATED_VALUE_TO_SINGLE",
    _CHANGE,
    "A reader of a single value keeps the last one; single messages are merged from all of them.",
    _OTHER_NUMBER,
    _WRITER_OTHER_NUMBER,
)
NUMBER_NARROWED = caution(
    "NUMBER_NARROWED",
    _CHANGE,
    "Numbers beyond the bounds of `{reader_type}` are cut off or change their sign.",
    _OTHER_NUMBER,
    _WRITER_OTHER_NUMBER,
)
NUMBER_TO_CLOSED_ENUM = caution(
    "NUMBER_TO_CLOSED_ENUM",
    _CHANGE,
    "A closed enum does not take numbers that it has no value for: the field is read as not set.",
    "Keep `{writer_type}`, or use an open enum.",
    "Keep `{reader_type}`, or write the enum's values only.",
)
CLOSED_ENUM_NARROWED = caution(
    "CLOSED_ENUM_NARROWED",
    "The closed enum of the field {name} lacks values in the {reader} schema that it has in the {writer} schema.",
    "The field is read as not set if it has one of them.",
    "Keep the values of the enum.",
    "Leave the new values out until all readers have them.",
)
BYTES_TO_STRING = caution(
    "BYTES_TO_STRING",
    _CHANGE,
    "A reader refuses messages if the bytes are not UTF-8.",
    "Keep `{writer_type}`.",
    "Keep `{reader_type}`.",
)
FIELD_MADE_REQUIRED = caution(
    "FIELD_MADE_REQUIRED",
    "The field {name} is required in the {reader} schema and need not be set in the {writer} schema.",
    "A reader refuses messages that do not have it.",
    "Leave the field optional.",
    "Keep the field required until no reader requires it.",
)
FIELD_TO_GROUP = caution(
    "FIELD_TO_GROUP",
    _CHANGE,
    "A group is encoded in another way than any other type, so readers skip the value.",
    _OTHER_NUMBER,
    _WRITER_OTHER_NUMBER,
)
CAUTIONS: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (
        REPEATED_NUMBER_TO_SINGLE,
        REPEATED_VALUE_TO_SINGLE,
        NUMBER_NARROWED,
        NUMBER_TO_CLOSED_ENUM,
        CLOSED_ENUM_NARROWED,
        BYTES_TO_STRING,
        FIELD_MADE_REQUIRED,
        FIELD_TO_GROUP,
        *NUMBER_RULES,
    )
}


class _Fields(NamedTuple):
    """Two fields with the same number, and their place."""

    writer: Field
    reader: Field
    pointer: Pointer


_NUMBERS = frozenset(
    {
        FieldDescriptor.TYPE_INT32,
        FieldDescriptor.TYPE_INT64,
        FieldDescriptor.TYPE_UINT32,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_SINT32,
        FieldDescriptor.TYPE_SINT64,
        FieldDescriptor.TYPE_FIXED32,
        FieldDescriptor.TYPE_FIXED64,
        FieldDescriptor.TYPE_SFIXED32,
        FieldDescriptor.TYPE_SFIXED64,
        FieldDescriptor.TYPE_BOOL,
        FieldDescriptor.TYPE_ENUM,
    }
)
_PACKED = _NUMBERS | {FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE}


def _is_enum(field: Field) -> bool:
    return field.enum_type is not None


def _is_closed(field: Field) -> bool:
    return field.enum_type is not None and bool(field.enum_type.is_closed)


#: The caution for a pair of fields if a message shows it: the first one whose condition holds.
_KINDS: Sequence[tuple[Rule, Callable[[Field, Field], bool]]] = (
    (FIELD_TO_GROUP, lambda old, new: FieldDescriptor.TYPE_GROUP in {old.type, new.type} and old.type != new.type),
    (
        REPEATED_NUMBER_TO_SINGLE,
        lambda old, new: is_repeated(old) and not is_repeated(new) and old.type in _PACKED and new.type in _PACKED,
    ),
    (REPEATED_VALUE_TO_SINGLE, lambda old, new: is_repeated(old) and not is_repeated(new)),
    (NUMBER_TO_CLOSED_ENUM, lambda old, new: _is_closed(new) and old.type in _NUMBERS and not _is_enum(old)),
    (CLOSED_ENUM_NARROWED, lambda old, new: _is_closed(new) and _is_enum(old)),
    (NUMBER_NARROWED, lambda old, new: old.type != new.type and old.type in _NUMBERS and new.type in _NUMBERS),
    (
        BYTES_TO_STRING,
        lambda old, new: old.type == FieldDescriptor.TYPE_BYTES and new.type == FieldDescriptor.TYPE_STRING,
    ),
)


def cautions(judged: Judged, budget: Budget) -> Iterator[Difference]:
    """Values that do not survive the wire although the rules allow the change, and numbers that are not reserved.

    Raises:
        TooMuchWork: The search exceeds the budget.
        NotExamined: No message can be made of a schema, because an import is missing or protoc refuses it.
    """
    reader, writer = judged.reader, judged.writer
    assert isinstance(reader, ProtobufSchema)
    assert isinstance(writer, ProtobufSchema)
    fault: InvalidSchema | None = None
    try:
        yield from _of_values(reader, writer, budget)
    except InvalidSchema as error:
        fault = error
    yield from of_numbers(judged)
    if fault is not None:
        raise NotExamined(f"no messages can be made of one of them: {fault.detail}") from fault


def _of_values(reader: ProtobufSchema, writer: ProtobufSchema, budget: Budget) -> Iterator[Difference]:
    trial = Trial(reader, writer, budget)
    old, new = writer.linked.file, reader.linked.file
    for fields in _pairs(old.message_types_by_name, new.message_types_by_name, budget):
        yield from _made_required(fields, trial)
        yield from _lost(fields, trial, budget)
        yield from reused(*fields, trial)


def _pairs(old: Mapping[str, Any], new: Mapping[str, Any], budget: Budget) -> Iterator[_Fields]:
    """The pairs of fields of all messages with the same name, including nested messages."""
    todo: list[tuple[Pointer, Any, Any]] = [((name,), old[name], new[name]) for name in old if name in new]
    while todo:
        pointer, before, after = todo.pop(0)
        budget.spend(1 + len(before.fields) + len(after.fields))
        for field in before.fields:
            if field.number in after.fields_by_number:
                yield _Fields(field, after.fields_by_number[field.number], (*pointer, field.number))
        nested = after.nested_types_by_name
        todo += [
            ((*pointer, inner.name), inner, nested[inner.name])
            for inner in before.nested_types
            if inner.name in nested and not inner.GetOptions().map_entry
        ]


def _parts(old: Field, new: Field) -> list[tuple[Field, Field]]:
    """The two fields; for two maps, their keys and their values."""
    if is_map(old) and is_map(new):
        return list(zip(old.message_type.fields, new.message_type.fields, strict=True))
    return [(old, new)]


def _lost(fields: _Fields, trial: Trial, budget: Budget) -> Iterator[Difference]:
    old, new, pointer = fields
    rule = next((rule for part in _parts(old, new) for rule, applies in _KINDS if applies(*part)), None)
    if rule is None or (is_repeated(old) == is_repeated(new) and holds_all(old, new, budget)):
        return
    names = old.containing_type.full_name, new.containing_type.full_name
    witness = trial.find(one_field(trial.written(names[0]), old.number), names[1])
    if witness is not None:
        yield Difference(rule, path_of(pointer), _arguments(old, new), pointer, pointer, witness)


def _made_required(fields: _Fields, trial: Trial) -> Iterator[Difference]:
    old, new, pointer = fields
    if is_required(new) and not is_required(old):
        witness = trial.find(iter([(trial.written(old.containing_type.full_name), ())]), new.containing_type.full_name)
        if witness is not None:
            yield Difference(FIELD_MADE_REQUIRED, path_of(pointer), _arguments(old, new), pointer, pointer, witness)


def _arguments(old: Field, new: Field) -> dict[str, str]:
    return {"name": new.name, "writer_type": type_of(old), "reader_type": type_of(new)}
