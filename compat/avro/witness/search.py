"""Searches for data that show an incompatibility of Avro schemas; fastavro writes and reads them as a proof."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, islice

from compat.avro.nodes import NAMED, Enum, Node, Record, Union
from compat.avro.rules.table import (
    MISSING_ENUM_SYMBOLS,
    MISSING_UNION_BRANCH,
    NAMED_RULES,
    READER_FIELD_MISSING_DEFAULT_VALUE,
    TYPE_MISMATCH,
    Places,
    missing_union_branch,
    reader_field_missing_default_value,
    type_mismatch,
)
from compat.avro.schema import AvroSchema
from compat.avro.witness.data import Route, Sizes, choices
from compat.avro.witness.pairing import Pair, pairs
from compat.avro.witness.trial import Trial
from compat.budget import Budget, TooMuchWork
from compat.difference import Difference, Witness
from compat.schema import ParsedSchema

#: The most data to try for a difference.
_MOST_TRIED = 200

NO_DATA = "No data can break: the writer's schema has no data with a value there."


def witness(
    difference: Difference, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None
) -> Witness | None:
    """The smallest datum of the writer's schema that the reader refuses because of a difference; see SchemaFormat."""
    assert isinstance(reader, AvroSchema)
    assert isinstance(writer, AvroSchema)
    budget = budget or Budget()
    try:
        sizes = Sizes(writer.root, budget)
        pair = _pair(difference, reader, writer, budget)
        if pair is None:
            return None
        if sizes.of(writer.root) == math.inf or sizes.of(pair.writer) == math.inf:
            return Witness(NO_DATA)
        trial = Trial(reader, writer, budget)
        routes = chain(_likely(difference, pair), _other_choices(pair, sizes))
        for route in islice(dict.fromkeys(islice(routes, _MOST_TRIED)), _MOST_TRIED):
            shown = trial.refused(route, sizes)
            if shown is not None:
                return shown
    except TooMuchWork:
        return None
    return None


def _pair(difference: Difference, reader: AvroSchema, writer: AvroSchema, budget: Budget) -> Pair | None:
    """The nearest pair of types with a difference."""
    places = Places(reader.pointer, writer.pointer)
    return next(
        (
            pair
            for pair in pairs(reader.root, writer.root, budget)
            if any(_is_same(difference, judged) for judged in _judge(difference, pair, places))
        ),
        None,
    )


def _is_same(one: Difference, other: Difference) -> bool:
    """Whether two differences are the same one, reached by different paths."""
    return (
        one.rule is other.rule
        and one.reader_at == other.reader_at
        and one.writer_at == other.writer_at
        and one.arguments == other.arguments
    )


def _judge(difference: Difference, pair: Pair, places: Places) -> Iterator[Difference]:
    """The differences of a pair by the rule of a given difference, even if something else compensates for them."""
    reader, writer, _ = pair
    judge = _STRUCTURAL.get(difference.rule.name)
    if judge is not None:
        yield from judge(difference, reader, writer, places)
    elif isinstance(reader, NAMED) and reader.__class__ is writer.__class__:
        for rule in NAMED_RULES[reader.type]:
            yield from rule(reader, writer, "", places)


def _missing_field(difference: Difference, reader: Node, writer: Node, places: Places) -> Iterator[Difference]:
    if isinstance(reader, Record) and isinstance(writer, Record):
        for index, field in enumerate(reader.fields):
            if field.name == difference.arguments["info"]:
                yield from reader_field_missing_default_value(reader, field, index, writer, "", places)


def _other_type(_difference: Difference, reader: Node, writer: Node, places: Places) -> Iterator[Difference]:
    if not isinstance(reader, Union) and not isinstance(writer, Union):
        yield from type_mismatch(reader, writer, "", places)


def _missing_branch(_difference: Difference, reader: Node, writer: Node, places: Places) -> Iterator[Difference]:
    if isinstance(reader, Union) and not isinstance(writer, Union):
        yield from missing_union_branch(reader, writer, "", places)


#: The rules that do not compare two named types of one kind.
_STRUCTURAL = {
    READER_FIELD_MISSING_DEFAULT_VALUE.name: _missing_field,
    TYPE_MISMATCH.name: _other_type,
    MISSING_UNION_BRANCH.name: _missing_branch,
}


def _likely(difference: Difference, pair: Pair) -> Iterator[Route]:
    """The routes to which the rule of a difference points."""
    if difference.rule is MISSING_ENUM_SYMBOLS and isinstance(pair.writer, Enum) and isinstance(pair.reader, Enum):
        has = set(pair.reader.symbols)
        yield from ((*pair.route, symbol) for symbol in pair.writer.symbols if symbol not in has)
    else:
        yield pair.route


def _other_choices(pair: Pair, sizes: Sizes) -> Iterator[Route]:
    yield from ((*pair.route, *inner) for inner in choices(pair.writer, sizes))
