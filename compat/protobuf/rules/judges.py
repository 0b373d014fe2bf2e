"""One generator for each rule, named as the rule; what it is given has been paired already.

`JUDGES` says which rules look at which kind of pair, in the order of the reference's differences.
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

Found = Iterator[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class ProtobufDifference(Difference):
    """A difference between two Protobuf schemas; `pair` is what was judged, one of `pairs`."""

    pair: Any = field(default=None, compare=False, repr=False)


def package_changed(pair: FilePair) -> Found:
    """The files are in different packages."""
    if pair.reader.package != pair.writer.package:
        yield {
            "reader_package": pair.reader.package or "(none)",
            "writer_package": pair.writer.package or "(none)",
        }


def message_removed(pair: DeclaredPair) -> Found:
    """The reader lacks a message that is not a map's entry."""
    if isinstance(pair.writer, Message) and pair.reader is None and pair.writer.map_type is None:
        yield {"name": pair.name}


def message_added(pair: DeclaredPair) -> Found:
    """The writer lacks a message that is not a map's entry."""
    if isinstance(pair.reader, Message) and pair.writer is None and pair.reader.map_type is None:
        yield {"name": pair.name}


def message_moved(pair: DeclaredPair) -> Found:
    """A message has another index among its like."""
    if pair.writer is not None and pair.reader is not None and pair.writer_index != pair.reader_index:
        yield {"name": pair.name}


def enum_removed(pair: DeclaredPair) -> Found:
    """The reader lacks an enum."""
    if pair.reader is None:
        yield {"name": pair.name}


def enum_added(pair: DeclaredPair) -> Found:
    """The writer lacks an enum."""
    if pair.writer is None:
        yield {"name": pair.name}


def enum_const_removed(pair: ConstantPair) -> Found:
    """The reader has no enum value of a number."""
    if pair.writer is not None and pair.reader is None:
        yield {"name": pair.writer.name}


def enum_const_added(pair: ConstantPair) -> Found:
    """The writer has no enum value of a number."""
    if pair.writer is None and pair.reader is not None:
        yield {"name": pair.reader.name}


def enum_const_changed(pair: ConstantPair) -> Found:
    """The enum value of a number has another name."""
    if pair.writer is not None and pair.reader is not None and pair.writer.name != pair.reader.name:
        yield {"writer_name": pair.writer.name, "reader_name": pair.reader.name}


def _united(pair: OneofPair) -> tuple[int, int, str]:
    """What a oneof of the reader unites that the writer has apart.

    Old fields of one oneof exclude each other already and count once; every field outside of oneofs counts for itself;
    new fields count for nothing, as old data never has them.

    Returns:
        How many parties there are, how many of them were outside of oneofs, and their fields' names.
    """
    known = [field for field in pair.reader.oneofs[pair.name].fields if field.number in pair.writer.by_number]
    outside = [field for field in known if field.number not in pair.writer.oneof_of]
    oneofs = {pair.writer.oneof_of[field.number] for field in known if field.number in pair.writer.oneof_of}
    return len(outside) + len(oneofs), len(outside), ", ".join(field.name for field in known)


def multiple_fields_moved_to_oneof(pair: OneofPair) -> Found:
    """A oneof unites several fields that were outside of oneofs."""
    parties, outside, names = _united(pair)
    if parties > 1 and outside > 1:
        yield {"name": pair.name, "fields": names}


def field_moved_to_existing_oneof(pair: OneofPair) -> Found:
    """A oneof unites the members of one with a field from outside, or those of several oneofs."""
    parties, outside, names = _united(pair)
    if parties > 1 and outside <= 1:
        yield {"name": pair.name, "fields": names}


def oneof_removed(pair: OneofPair) -> Found:
    """The reader has no oneof of a name."""
    if pair.name not in pair.reader.oneofs:
        yield {"name": pair.name}


def oneof_added(pair: OneofPair) -> Found:
    """The writer has no oneof of a name."""
    if pair.name not in pair.writer.oneofs:
        yield {"name": pair.name}


def oneof_field_removed(pair: FieldPair) -> Found:
    """A member of a oneof is gone, and not the whole oneof with all of its members."""
    oneof = pair.writer_oneof
    if pair.reader is not None or pair.writer is None or oneof is None:
        return
    # a oneof that went with all of its members is no loss to anyone who asks for it
    if oneof in pair.reader_members.oneofs or any(
        field.number in pair.reader_members.by_number for field in pair.writer_members.oneofs[oneof].fields
    ):
        yield {"name": pair.writer.name, "oneof": oneof}


def _is_gone(pair: FieldPair) -> bool:
    """True for a field outside of oneofs that the writer alone has."""
    return pair.reader is None and pair.writer_oneof is None


def _is_new(pair: FieldPair) -> bool:
    """True for a field outside of oneofs that the reader alone has."""
    return pair.writer is None and pair.reader_oneof is None


def required_field_removed(pair: FieldPair) -> Found:
    """The reader lacks a required field."""
    if _is_gone(pair) and pair.writer is not None and pair.writer.label == "required":
        yield {"name": pair.writer.name}


def field_removed(pair: FieldPair) -> Found:
    """The reader lacks a field that is in no oneof and not required."""
    if _is_gone(pair) and pair.writer is not None and pair.writer.label != "required":
        yield {"name": pair.writer.name}


def oneof_field_added(pair: FieldPair) -> Found:
    """The writer lacks a field that the reader has in a oneof."""
    if pair.writer is None and pair.reader is not None and pair.reader_oneof is not None:
        yield {"name": pair.reader.name}


def required_field_added(pair: FieldPair) -> Found:
    """The writer lacks a required field."""
    if _is_new(pair) and pair.reader is not None and pair.reader.label == "required":
        yield {"name": pair.reader.name}


def field_added(pair: FieldPair) -> Found:
    """The writer lacks a field that is in no oneof and not required."""
    if _is_new(pair) and pair.reader is not None and pair.reader.label != "required":
        yield {"name": pair.reader.name}


def oneof_field_moved_to_top_level(pair: FieldPair) -> Found:
    """A member of a oneof has left it."""
    oneof = pair.writer_oneof
    if pair.reader is not None and oneof is not None and pair.reader_oneof is None:
        yield {"name": pair.reader.name, "oneof": oneof}


def field_name_changed(pair: FieldPair) -> Found:
    """The field of a number has another name."""
    if pair.writer is not None and pair.reader is not None and pair.writer.name != pair.reader.name:
        yield {"writer_name": pair.writer.name, "reader_name": pair.reader.name}


def field_kind_changed(pair: TypePair) -> Found:
    """A field is a scalar on one side and a message or a map on the other, or a message and a map."""
    if pair.reader.kind != pair.writer.kind:
        yield {}


def field_scalar_kind_changed(pair: TypePair) -> Found:
    """A scalar is encoded in another way."""
    if pair.reader.kind == pair.writer.kind == SCALAR and pair.reader.group != pair.writer.group:
        yield {"reader_group": ", ".join(pair.reader.group), "writer_group": ", ".join(pair.writer.group)}


def _label_changed(pair: TypePair) -> bool:
    """True for scalars of one group whose labels are both written and differ."""
    return (
        pair.reader.kind == pair.writer.kind == SCALAR
        and pair.reader.group == pair.writer.group
        and None not in {pair.reader_label, pair.writer_label}
        and pair.reader_label != pair.writer_label
    )


def field_numeric_label_changed(pair: TypePair) -> Found:
    """A number has become repeated, or single, or required."""
    if _label_changed(pair) and pair.reader.group != STRING_OR_BYTES:
        yield {"reader_label": str(pair.reader_label), "writer_label": str(pair.writer_label)}


def field_string_or_bytes_label_changed(pair: TypePair) -> Found:
    """A string has become repeated, or single, or required."""
    if _label_changed(pair) and pair.reader.group == STRING_OR_BYTES:
        yield {"reader_label": str(pair.reader_label), "writer_label": str(pair.writer_label)}


def field_named_type_changed(pair: TypePair) -> Found:
    """A field's message has another name, or an imported one has an incompatible content."""
    if pair.reader.kind == pair.writer.kind == MESSAGE:
        names = (pair.reader.local_name, pair.writer.local_name)
        if None in names:
            names = (pair.reader.name, pair.writer.name)
        if names[0] != names[1] or pair.content_breaks:
            yield {}


#: The judges of each kind of pair. MULTIPLE_FIELDS_MOVED_TO_ONEOF and its like look at the reader's oneofs before any
#: of them is compared with the writer's, so they have a place of their own.
JUDGES: Mapping[str, tuple[Callable[[Any], Found], ...]] = {
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


#: The judges with the rules that they are named after.
_RULED = {kind: tuple((RULES[each.__name__.upper()], each) for each in judges) for kind, judges in JUDGES.items()}


def judge(
    kind: str,
    pair: Any,
    reader_at: Pointer | None = None,
    writer_at: Pointer | None = None,
    arguments: Mapping[str, str] | None = None,
) -> Iterator[Difference]:
    """Every difference that the judges of a kind find in a pair.

    Args:
        kind: A key of `JUDGES`.
        pair: What they judge.
        reader_at: Where the reader has it, or what it misses it in.
        writer_at: The same for the writer.
        arguments: Values for the rules' texts, besides those that the judges give.
    """
    for rule, each in _RULED[kind]:
        for found in each(pair):
            path = "#/" + "/".join(pair.path)
            yield ProtobufDifference(rule, path, {**(arguments or {}), **found}, reader_at, writer_at, pair=pair)
