"""Finds messages that show an incompatibility, written and read by the runtime's classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any

from compat.budget import Budget, TooMuchWork
from compat.difference import Difference, Witness
from compat.json import json_text
from compat.protobuf.rules import table as rules
from compat.protobuf.rules.judges import ProtobufDifference
from compat.protobuf.rules.pairs import DeclaredPair, FieldPair, OneofPair, TypePair
from compat.protobuf.schema import ProtobufSchema
from compat.protobuf.witness.data import NoData, fill, settings
from compat.protobuf.witness.reception import json_of
from compat.protobuf.witness.trial import Candidate, Trial, one_field
from compat.protobuf.witness.wider_types import holds_all
from compat.schema import InvalidSchema, ParsedSchema

_SAME_BYTES = (
    "No data can break: the bytes do not carry the package. Programs that look messages up by their full names break."
)


def witness(
    difference: Difference, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None
) -> Witness | None:
    """A small message that the reader refuses, loses or reads as another value; see SchemaFormat."""
    assert isinstance(difference, ProtobufDifference)
    assert isinstance(reader, ProtobufSchema)
    assert isinstance(writer, ProtobufSchema)
    try:
        return _FINDERS[difference.rule.name](difference.pair, Trial(reader, writer, budget or Budget()))
    except (TooMuchWork, InvalidSchema, NoData, KeyError):
        # The stored text may be a schema that the runtime refuses.
        return None


def _in_field(pair: FieldPair, trial: Trial) -> Witness | None:
    number = (pair.writer or pair.reader).number  # type: ignore[union-attr]  # at least one exists
    return trial.find(one_field(trial.written(pair.writer_place.scope), number), pair.reader_place.scope)


def _in_type(pair: TypePair, trial: Trial) -> Witness | None:
    name, other = pair.writer_place.scope, pair.reader_place.scope
    proof = trial.find(one_field(trial.written(name), pair.number), other)
    if proof is not None:
        return proof
    before, after = (
        message.DESCRIPTOR.fields_by_number[pair.number] for message in (trial.written(name), trial.read(other))
    )
    if not holds_all(before, after, trial.budget):
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


def _empty(pair: FieldPair, trial: Trial) -> Witness | None:
    return trial.find(iter([(trial.written(pair.writer_place.scope), ())]), pair.reader_place.scope)


def _two_of_a_oneof(pair: OneofPair, trial: Trial) -> Witness | None:
    """Two fields of the reader's oneof that are separate in the writer's schema."""
    name = pair.writer_place.scope
    numbers = [field.number for field in pair.reader.oneofs[pair.name].fields if field.number in pair.writer.by_number]

    def candidates() -> Iterator[Candidate]:
        for one, other in combinations(numbers, 2):
            message = trial.written(name)
            for number in (one, other):
                next(settings(message.DESCRIPTOR.fields_by_number[number]))(message)
            # They may be members of one oneof in the writer's schema too, and then only the second one is set.
            if all(
                message.HasField(message.DESCRIPTOR.fields_by_number[number].name)
                for number in (one, other)
                if message.DESCRIPTOR.fields_by_number[number].has_presence
            ):
                yield message, (one, other)

    return trial.find(candidates(), pair.reader_place.scope)


def _no_type(pair: DeclaredPair, trial: Trial) -> Witness:
    """A message for which the reader's file has no type."""
    message = trial.written(pair.writer_place.scope)
    fill(message)
    sentence = f"The reader's file has no message {pair.name}: it cannot read a record of that type."
    return Witness(sentence, json_text.dumps(json_of(message)), message.SerializeToString(deterministic=True))


def _same_bytes(_pair: Any, _trial: Trial) -> Witness:
    return Witness(_SAME_BYTES)


_FINDERS: Mapping[str, Callable[[Any, Trial], Witness | None]] = {
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
