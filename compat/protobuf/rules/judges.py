"""One generator for each rule, with the rule's name; it gets a pair that is already matched.

`JUDGES` lists the rules for each kind of pair, in the order of the reference's differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from compat.difference import Difference
from compat.protobuf.rules.pairs import (
    MESSAGE,
    SCALAR,
    STRING_OR_BYTES,
    ConstantPair,
    DeclaredPair,
    FieldPair,
    FilePair,
    OneofPair,
    TypePair,
)
from compat.protobuf.rules.table import RULES
from compat.protobuf.text.nodes import Message
from compat.schema import Pointer

Arguments = Iterator[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class ProtobufDifference(Difference):
    """A difference between two Protobuf schemas; `pair` is the judged pair, one of those in `pairs`."""

    pair: Any = field(default=None, compare=False, repr=False)


def package_changed(pair: FilePair) -> Arguments:
    """The files are in different packages."""
    if pair.reader.package != pair.writer.package:
        yield {
            "reader_package": pair.reader.package or "(none)",
            "writer_package": pair.writer.package or "(none)",
        }


def message_removed(pair: DeclaredPair) -> Arguments:
    """The reader lacks a message that is not a map's entry."""
    if isinstance(pair.writer, Message) and pair.reader is None and pair.writer.map_type is None:
        yield {"name": pair.name}


def message_added(pair: DeclaredPair) -> Arguments:
    """The writer lacks a message that is not a map's entry."""
    if isinstance(pair.reader, Message) and pair.writer is None and pair.reader.map_type is None:
        yield {"name": pair.name}


def message_moved(pair: DeclaredPair) -> Arguments:
    """A message has another index among the messages."""
    if pair.writer is not None and pair.reader is not None and pair.writer_index != pair.reader_index:
        yield {"name": pair.name}


def enum_removed(pair: DeclaredPair) -> Arguments:
    """The reader lacks an enum."""
    if pair.reader is None:
        yield {"name": pair.name}


def enum_added(pair: DeclaredPair) -> Arguments:
    """The writer lacks an enum."""
    if pair.writer is None:
        yield {"name": pair.name}


def enum_const_removed(pair: ConstantPair) -> Arguments:
    """The reader has no enum value with this number."""
    if pair.writer is not None and pair.reader is None:
        yield {"name": pair.writer.name}


def enum_const_added(pair: ConstantPair) -> Arguments:
    """The writer has no enum value with this number."""
    if pair.writer is None and pair.reader is not None:
        yield {"name": pair.reader.name}


def enum_const_changed(pair: ConstantPair) -> Arguments:
    """The enum value with this number has another name."""
    if pair.writer is not None and pair.reader is not None and pair.writer.name != pair.reader.name:
        yield {"writer_name": pair.writer.name, "reader_name": pair.reader.name}


def _united(pair: OneofPair) -> tuple[int, int, str]:
    """The old fields that a oneof of the reader unites.

    Old fields of one oneof already exclude each other and count as one party. A field outside of oneofs counts as a
    party of its own. New fields do not count, because old data never has them.

    Returns:
        The number of parties, the number of them that were outside of oneofs, and the names of their fields.
    """
    old_fields = [field for field in pair.reader.oneofs[pair.name].fields if field.number in pair.writer.by_number]
    outside = [field for field in old_fields if field.number not in pair.writer.oneof_of]
    oneofs = {pair.writer.oneof_of[field.number] for field in old_fields if field.number in pair.writer.oneof_of}
    return len(outside) + len(oneofs), len(outside), ", ".join(field.name for field in old_fields)


def multiple_fields_moved_to_oneof(pair: OneofPair) -> Arguments:
    """A oneof unites several fields that were outside of oneofs."""
    parties, outside, names = _united(pair)
    if parties > 1 and outside > 1:
        yield {"name": pair.name, "fields": names}


def field_moved_to_existing_oneof(pair: OneofPair) -> Arguments:
    """A oneof unites the members of an old oneof with a field from outside, or the members of several oneofs."""
    parties, outside, names = _united(pair)
    if parties > 1 and outside <= 1:
        yield {"name": pair.name, "fields": names}


def oneof_removed(pair: OneofPair) -> Arguments:
    """The reader has no oneof with this name."""
    if pair.name not in pair.reader.oneofs:
        yield {"name": pair.name}


def oneof_added(pair: OneofPair) -> Arguments:
    """The writer has no oneof with this name."""
    if pair.name not in pair.writer.oneofs:
        yield {"name": pair.name}


def oneof_field_removed(pair: FieldPair) -> Arguments:
    """A member of a oneof was removed, but not the whole oneof with all of its members."""
    oneof = pair.writer_oneof
    if pair.reader is not None or pair.writer is None or oneof is None:
        return
    # removing a oneof with all of its members does not count as a loss
    if oneof in pair.reader_members.oneofs or any(
        field.number in pair.reader_members.by_number for field in pair.writer_members.oneofs[oneof].fields
    ):
        yield {"name": pair.writer.name, "oneof": oneof}


def _is_gone(pair: FieldPair) -> bool:
    """Whether only the writer has the field, outside of oneofs."""
    return pair.reader is None and pair.writer_oneof is None


def _is_new(pair: FieldPair) -> bool:
    """Whether only the reader has the field, outside of oneofs."""
    return pair.writer is None and pair.reader_oneof is None


def required_field_removed(pair: FieldPair) -> Arguments:
    """The reader lacks a required field."""
    if _is_gone(pair) and pair.writer is not None and pair.writer.label == "required":
        yield {"name": pair.writer.name}


def field_removed(pair: FieldPair) -> Arguments:
    """The reader lacks a field that is neither in a oneof nor required."""
    if _is_gone(pair) and pair.writer is not None and pair.writer.label != "required":
        yield {"name": pair.writer.name}


def oneof_field_added(pair: FieldPair) -> Arguments:
    """The writer lacks a field that the reader has in a oneof."""
    if pair.writer is None and pair.reader is not None and pair.reader_oneof is not None:
        yield {"name": pair.reader.name}


def required_field_added(pair: FieldPair) -> Arguments:
    """The writer lacks a required field."""
    if _is_new(pair) and pair.reader is not None and pair.reader.label == "required":
        yield {"name": pair.reader.name}


def field_added(pair: FieldPair) -> Arguments:
    """The writer lacks a field that is neither in a oneof nor required."""
    if _is_new(pair) and pair.reader is not None and pair.reader.label != "required":
        yield {"name": pair.reader.name}


def oneof_field_moved_to_top_level(pair: FieldPair) -> Arguments:
    """A member of a oneof was moved out of it."""
    oneof = pair.writer_oneof
    if pair.reader is not None and oneof is not None and pair.reader_oneof is None:
        yield {"name": pair.reader.name, "oneof": oneof}


def field_name_changed(pair: FieldPair) -> Arguments:
    """The field with this number has another name."""
    if pair.writer is not None and pair.reader is not None and pair.writer.name != pair.reader.name:
        yield {"writer_name": pair.writer.name, "reader_name": pair.reader.name}


def field_kind_changed(pair: TypePair) -> Arguments:
    """The kinds of a field differ: scalar, message or map."""
    if pair.reader.kind != pair.writer.kind:
        yield {}


def field_scalar_kind_changed(pair: TypePair) -> Arguments:
    """A scalar has a different encoding."""
    if pair.reader.kind == pair.writer.kind == SCALAR and pair.reader.group != pair.writer.group:
        yield {"reader_group": ", ".join(pair.reader.group), "writer_group": ", ".join(pair.writer.group)}


def _label_changed(pair: TypePair) -> bool:
    """Whether both fields are scalars of one group with explicit labels that differ."""
    return (
        pair.reader.kind == pair.writer.kind == SCALAR
        and pair.reader.group == pair.writer.group
        and None not in {pair.reader_label, pair.writer_label}
        and pair.reader_label != pair.writer_label
    )


def field_numeric_label_changed(pair: TypePair) -> Arguments:
    """The explicit label of a number changed."""
    if _label_changed(pair) and pair.reader.group != STRING_OR_BYTES:
        yield {"reader_label": str(pair.reader_label), "writer_label": str(pair.writer_label)}


def field_string_or_bytes_label_changed(pair: TypePair) -> Arguments:
    """The explicit label of a string or bytes field changed."""
    if _label_changed(pair) and pair.reader.group == STRING_OR_BYTES:
        yield {"reader_label": str(pair.reader_label), "writer_label": str(pair.writer_label)}


def field_named_type_changed(pair: TypePair) -> Arguments:
    """A field's message has another name, or an imported message has incompatible content."""
    if pair.reader.kind == pair.writer.kind == MESSAGE:
        names = (pair.reader.local_name, pair.writer.local_name)
        if None in names:
            names = (pair.reader.name, pair.writer.name)
        if names[0] != names[1] or pair.content_breaks:
            yield {}


#: The judges for each kind of pair. "united" is a kind of its own because the reference examines the reader's oneofs in
#: this way before it compares any of them with the writer's.
JUDGES: Mapping[str, tuple[Callable[[Any], Arguments], ...]] = {
    "file": (package_changed,),
    "message": (message_removed, message_added, message_moved),
    "enum": (enum_removed, enum_added),
    "constant": (enum_const_removed, enum_const_added, enum_const_changed),
    "united": (multiple_fields_moved_to_oneof, field_moved_to_existing_oneof),
    "oneof": (oneof_removed, oneof_added),
    "field removed": (oneof_field_removed, required_field_removed, field_removed),
    "field added": (oneof_field_added, required_field_added, field_added),
    "field kept": (oneof_field_moved_to_top_level, field_name_changed),
    "type": (
        field_kind_changed,
        field_scalar_kind_changed,
        field_numeric_label_changed,
        field_string_or_bytes_label_changed,
        field_named_type_changed,
    ),
}


#: The judges, with the rules that have their names.
_RULED = {kind: tuple((RULES[find.__name__.upper()], find) for find in judges) for kind, judges in JUDGES.items()}


def judge(
    kind: str,
    pair: Any,
    reader_at: Pointer | None = None,
    writer_at: Pointer | None = None,
    arguments: Mapping[str, str] | None = None,
) -> Iterator[Difference]:
    """The differences that the judges of a kind report for a pair.

    Args:
        kind: A key of `JUDGES`.
        pair: The pair to judge.
        reader_at: The place of the declaration in the reader; if it is missing there, the place that lacks it.
        writer_at: The same for the writer.
        arguments: Values for the rules' texts, in addition to those from the judges.
    """
    for rule, find in _RULED[kind]:
        for values in find(pair):
            path = "#/" + "/".join(pair.path)
            yield ProtobufDifference(rule, path, {**(arguments or {}), **values}, reader_at, writer_at, pair=pair)
