"""Messages that show an incompatibility of Protobuf schemas: written and read by the runtime's own classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, islice
from typing import Any

from google.protobuf import message_factory
from google.protobuf.message import Message

from compat import json_text
from compat.budget import Budget, TooMuchWork
from compat.difference import Difference, Witness
from compat.protobuf import rules
from compat.protobuf.data import NoData, fill, settings
from compat.protobuf.judges import ProtobufDifference
from compat.protobuf.pairs import DeclaredPair, FieldPair, OneofPair, TypePair
from compat.protobuf.reception import effect, json_of
from compat.protobuf.schema import ProtobufSchema
from compat.protobuf.wider_types import holds_all
from compat.schema import InvalidSchema, ParsedSchema

#: Messages that are tried for a difference, and the steps of one; how much of the schemas' text takes a step.
_MOST_TRIED = 400
_STEPS_A_TRY = 20
_CHARACTERS_A_STEP = 40

#: A message with some fields set, and the fields that are looked at when it is read.
Candidate = tuple[Message, tuple[int, ...]]

_SAME_BYTES = (
    "No data can break: the bytes do not carry the package. Programs that look messages up by their full names break."
)


def witness(
    difference: Difference, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None
) -> Witness | None:
    """The smallest message that the reader refuses, loses or reads as another value; see SchemaFormat."""
    assert isinstance(difference, ProtobufDifference)
    assert isinstance(reader, ProtobufSchema)
    assert isinstance(writer, ProtobufSchema)
    try:
        return _FINDERS[difference.rule.name](difference.pair, _Sides(reader, writer, budget or Budget()))
    except (TooMuchWork, InvalidSchema, NoData, KeyError):
        # What is stored may be a schema that the runtime does not take.
        return None


class _Sides:
    """The classes of the two schemas."""

    def __init__(self, reader: ProtobufSchema, writer: ProtobufSchema, budget: Budget) -> None:
        """Link the schemas.

        Raises:
            TooMuchWork: They are too long.
            InvalidSchema: One of them does not link.
        """
        self.budget = budget
        for schema in (reader, writer):
            texts = (unit.text or unit.tree for unit in schema.program.units.values())
            budget.spend(sum(len(text) if isinstance(text, str) else 0 for text in texts) // _CHARACTERS_A_STEP)
        self._reader, self._writer = reader.linked.pool, writer.linked.pool

    def written(self, name: str) -> Message:
        """An empty message of the writer's; raises KeyError if it has none of this name."""
        return message_factory.GetMessageClass(self._writer.FindMessageTypeByName(name))()

    def read(self, name: str) -> Message:
        """The same of the reader's."""
        return message_factory.GetMessageClass(self._reader.FindMessageTypeByName(name))()

    def find(self, candidates: Iterator[Candidate], reader_name: str) -> Witness | None:
        """The first message that the reader does not get as it was written."""
        for message, numbers in islice(candidates, _MOST_TRIED):
            self.budget.spend(_STEPS_A_TRY)
            try:
                fill(message)
                data = message.SerializeToString(deterministic=True)
                text = json_text.dumps(json_of(message))
                shown = effect(message, self.read(reader_name), data, numbers)
            except (NoData, ValueError, TypeError):
                continue
            if shown is not None:
                return Witness(shown, text, data)
        return None

    def one_field(self, name: str, number: int) -> Iterator[Candidate]:
        """Messages with one field, in all its kinds of values."""
        field = self.written(name).DESCRIPTOR.fields_by_number[number]
        for setting in settings(field):
            message = self.written(name)
            setting(message)
            yield message, (number,)


def _in_field(pair: FieldPair, sides: _Sides) -> Witness | None:
    number = (pair.writer or pair.reader).number  # type: ignore[union-attr]  # one of them is there
    return sides.find(sides.one_field(pair.writer_place.scope, number), pair.reader_place.scope)


def _in_type(pair: TypePair, sides: _Sides) -> Witness | None:
    name, other = pair.writer_place.scope, pair.reader_place.scope
    shown = sides.find(sides.one_field(name, pair.number), other)
    if shown is not None:
        return shown
    before, after = (
        message.DESCRIPTOR.fields_by_number[pair.number] for message in (sides.written(name), sides.read(other))
    )
    if not holds_all(before, after, sides.budget):
        return None
    if (pair.writer_label, pair.reader_label) in _HARMLESS_LABELS:
        return Witness(_HARMLESS_LABELS[pair.writer_label, pair.reader_label])
    if pair.writer_label == pair.reader_label:
        names = (type_.symbol.full_name if type_.symbol else type_.name for type_ in (pair.reader, pair.writer))
        return Witness(
            f"No data can break: the reader's {next(names)} and the writer's {next(names)} have the same fields."
        )
    return None


_HARMLESS_LABELS: Mapping[tuple[str | None, str | None], str] = {
    ("optional", "repeated"): "No data can break: a single value is read as a list of one.",
    ("required", "repeated"): "No data can break: a single value is read as a list of one.",
    ("required", "optional"): "No data can break: the field is in all data.",
}


def _empty(pair: FieldPair, sides: _Sides) -> Witness | None:
    return sides.find(iter([(sides.written(pair.writer_place.scope), ())]), pair.reader_place.scope)


def _two_of_a_oneof(pair: OneofPair, sides: _Sides) -> Witness | None:
    """Two fields of the reader's oneof that the writer has apart."""
    name = pair.writer_place.scope
    numbers = [field.number for field in pair.reader.oneofs[pair.name].fields if field.number in pair.writer.by_number]

    def candidates() -> Iterator[Candidate]:
        for one, other in combinations(numbers, 2):
            message = sides.written(name)
            for number in (one, other):
                next(settings(message.DESCRIPTOR.fields_by_number[number]))(message)
            # Members of one oneof exclude each other in the writer's message too.
            if all(
                message.HasField(message.DESCRIPTOR.fields_by_number[number].name)
                for number in (one, other)
                if message.DESCRIPTOR.fields_by_number[number].has_presence
            ):
                yield message, (one, other)

    return sides.find(candidates(), pair.reader_place.scope)


def _no_type(pair: DeclaredPair, sides: _Sides) -> Witness:
    """A message that the reader's file has no type for."""
    message = sides.written(pair.writer_place.scope)
    fill(message)
    shown = f"The reader's file has no message {pair.name}: it cannot read a record of that type."
    return Witness(shown, json_text.dumps(json_of(message)), message.SerializeToString(deterministic=True))


def _same_bytes(_pair: Any, _sides: _Sides) -> Witness:
    return Witness(_SAME_BYTES)


_FINDERS: Mapping[str, Callable[[Any, _Sides], Witness | None]] = {
    rules.PACKAGE_CHANGED.name: _same_bytes,
    rules.MESSAGE_REMOVED.name: _no_type,
    rules.FIELD_KIND_CHANGED.name: _in_type,
    rules.FIELD_SCALAR_KIND_CHANGED.name: _in_type,
    rules.FIELD_NAMED_TYPE_CHANGED.name: _in_type,
    rules.FIELD_NUMERIC_LABEL_CHANGED.name: _in_type,
    rules.REQUIRED_FIELD_ADDED.name: _empty,
    rules.REQUIRED_FIELD_REMOVED.name: _in_field,
    rules.ONEOF_FIELD_REMOVED.name: _in_field,
    rules.MULTIPLE_FIELDS_MOVED_TO_ONEOF.name: _two_of_a_oneof,
    rules.FIELD_MOVED_TO_EXISTING_ONEOF.name: _two_of_a_oneof,
}
