"""Breaks of Avro data that the rules allow.

A caution about values comes with a datum that fastavro, which does not share our rules, reads differently from what
was written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from compat.avro.nodes import Enum, Fixed, Primitive, Record, Union
from compat.avro.schema import AvroSchema
from compat.avro.witness.data import Route, Sizes, Step, choices
from compat.avro.witness.logical import LOGICAL_TYPE_CHANGED, relabelled
from compat.avro.witness.pairing import Pair, pairs
from compat.avro.witness.trial import Trial
from compat.budget import Budget
from compat.difference import STRICT_AND_LENIENT, Difference, Judged, Rule
from compat.schema import Pointer

BYTES_TO_STRING = Rule(
    "BYTES_TO_STRING",
    STRICT_AND_LENIENT,
    change="The {reader} schema has string where the {writer} schema has bytes.",
    harm="A reader refuses data if the bytes are not UTF-8.",
    remedy="Keep bytes, or take a union of both.",
    writer_remedy="Keep string, or write bytes that are UTF-8 only.",
)
PRECISION_LOST = Rule(
    "PRECISION_LOST",
    STRICT_AND_LENIENT,
    change="The {reader} schema has {reader_type} where the {writer} schema has {writer_type}.",
    harm="A {reader_type} does not hold every {writer_type}: large numbers are rounded.",
    remedy="Keep {writer_type}, or take a union of both.",
    writer_remedy="Keep {reader_type}.",
)
NAMESPACE_CHANGED = Rule(
    "NAMESPACE_CHANGED",
    STRICT_AND_LENIENT,
    change="The {reader} schema names the type {reader_name}, the {writer} schema names it {writer_name}.",
    harm="The specification goes by the plain name; Java's reader compares the full names of enums and fixed types.",
    remedy='Keep the name {writer_name}, or give the type the alias "{writer_name}".',
    writer_remedy="Keep the name {reader_name}.",
)
DATA_REFUSED = Rule(
    "DATA_REFUSED",
    STRICT_AND_LENIENT,
    change="The rules find the two schemas compatible, but the reader refuses data of the {writer} schema.",
    harm="A type was taken for compatible while it was still being compared, inside a union's branch that then failed.",
    remedy="Give the branches of the union types that do not refer to each other.",
)

CAUTIONS: Mapping[str, Rule] = {
    rule.name: rule for rule in (BYTES_TO_STRING, PRECISION_LOST, LOGICAL_TYPE_CHANGED, NAMESPACE_CHANGED, DATA_REFUSED)
}

#: How many data are tried at most if no rule points to a place.
_MOST_TRIED = 60


class _Promotion(NamedTuple):
    """A promotion that changes or refuses some value."""

    rule: Rule
    value: Step


#: By the writer's type and the reader's type.
_PROMOTIONS: Mapping[tuple[str, str], _Promotion] = {
    ("bytes", "string"): _Promotion(BYTES_TO_STRING, b"\xff"),
    ("long", "float"): _Promotion(PRECISION_LOST, 2**53 + 1),
    ("long", "double"): _Promotion(PRECISION_LOST, 2**53 + 1),
}


def cautions(judged: Judged, budget: Budget) -> list[Difference]:
    """The breaks of a reader that the rules allow.

    Raises:
        TooMuchWork: The search exceeds the budget.
    """
    reader, writer = judged.reader, judged.writer
    assert isinstance(reader, AvroSchema)
    assert isinstance(writer, AvroSchema)
    sizes = Sizes(writer.root, budget)
    if sizes.of(writer.root) == math.inf:
        return []
    trial = Trial(reader, writer, budget)
    by_place: dict[tuple[object, ...], Difference] = {}
    for pair in pairs(reader.root, writer.root, budget):
        for difference in (
            *_promoted(pair, reader, writer, trial, sizes),
            *relabelled(pair, reader, writer, trial, sizes),
            *_moved(pair, reader, writer),
        ):
            place = (difference.rule.name, difference.reader_at, difference.writer_at)
            by_place.setdefault(place, difference)
    # If a break is already reported, a refused datum would show nothing new.
    searched = _refused(reader, writer, trial, sizes) if judged.is_compatible and not by_place else ()
    return [*by_place.values(), *searched]


def _promoted(pair: Pair, reader: AvroSchema, writer: AvroSchema, trial: Trial, sizes: Sizes) -> Iterator[Difference]:
    if not isinstance(pair.writer, Primitive):
        return
    for kind in _read_as(pair):
        promotion = _PROMOTIONS.get((pair.writer.type, kind))
        if promotion is None:
            continue
        witness = trial.changed((*pair.route, promotion.value), sizes)
        if witness is not None:
            arguments = {"reader_type": kind, "writer_type": pair.writer.type}
            places = reader.pointer(pair.reader), writer.pointer(pair.writer)
            yield Difference(promotion.rule, _path(pair.route), arguments, *places, witness)


def _read_as(pair: Pair) -> tuple[str, ...]:
    """The primitive types that a reader may read a primitive type as; none if a union contains that very type."""
    if isinstance(pair.reader, Primitive):
        return (pair.reader.type,)
    if isinstance(pair.reader, Union) and pair.writer.type not in pair.reader.types:
        return tuple(branch.type for branch in pair.reader.branches if isinstance(branch, Primitive))
    return ()


def _moved(pair: Pair, reader: AvroSchema, writer: AvroSchema) -> Iterator[Difference]:
    one, other = pair.reader, pair.writer
    if not isinstance(one, Enum | Fixed) or not isinstance(other, Enum | Fixed) or one.__class__ is not other.__class__:
        return
    names = one.name, other.name
    is_alias = any(alias.full == other.name.full for alias in one.aliases)
    if names[0].name == names[1].name and names[0].full != names[1].full and not is_alias:
        arguments = {"reader_name": names[0].full, "writer_name": names[1].full}
        read_at, written_at = (_name_at(place) for place in (reader.pointer(one), writer.pointer(other)))
        yield Difference(NAMESPACE_CHANGED, _path(pair.route), arguments, read_at, written_at)


def _name_at(place: Pointer | None) -> Pointer | None:
    return None if place is None else (*place, "name")


def _refused(reader: AvroSchema, writer: AvroSchema, trial: Trial, sizes: Sizes) -> Iterator[Difference]:
    """A refused datum of any kind: only recursive types in unions can hide one from the rules."""
    if not isinstance(reader.root, Record | Union):
        return
    for route in islice(choices(writer.root, sizes), _MOST_TRIED):
        witness = trial.refused(route, sizes)
        if witness is not None:
            yield Difference(DATA_REFUSED, "/", {}, (), (), witness)
            return


def _path(route: Route) -> str:
    return "/" + "/".join(map(str, route))
