"""Data that show an incompatibility of Avro schemas: written with the writer's schema and tried with fastavro."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from compat.avro.data import Route, Sizes, choices, datum, to_json
from compat.avro.nodes import NAMED, Enum, Node, Record, Union
from compat.avro.pairing import Pair, pairs
from compat.avro.rules import (
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
from compat.budget import Budget, TooMuchWork
from compat.difference import Difference, Witness
from compat.schema import ParsedSchema

#: Longest text of a schema that fastavro is given, spelled out, and how much of it takes a step.
_LONGEST_SCHEMA = 500_000
_CHARACTERS_A_STEP = 40
#: Data that are tried for a difference, and the steps of one.
_MOST_TRIED = 200
_STEPS_A_TRY = 30

NO_DATA = "No data can break: the writer's schema has no data with a value there."


def witness(
    difference: Difference, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None
) -> Witness | None:
    """The smallest datum of the writer's schema that the reader's refuses because of a difference; see SchemaFormat."""
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
            shown = trial.refused(route, sizes, budget)
            if shown is not None:
                return shown
    except TooMuchWork:
        return None
    return None


class Trial:
    """Writes data with one schema and reads them with another, by fastavro."""

    def __init__(self, reader: AvroSchema, writer: AvroSchema, budget: Budget) -> None:
        """Have fastavro read the two schemas.

        Raises:
            TooMuchWork: They are too long.
        """
        self._root = writer.root
        self._writer, self._reader = fastavro_schema(writer, budget), fastavro_schema(reader, budget)

    def refused(self, route: Route, sizes: Sizes, budget: Budget) -> Witness | None:
        """The smallest datum with a route, if the reader refuses it."""
        from fastavro import schemaless_reader, schemaless_writer  # noqa: PLC0415 - only for those who ask for data

        budget.spend(_STEPS_A_TRY)
        value = datum(self._root, route, sizes)
        written = io.BytesIO()
        try:
            schemaless_writer(written, self._writer, value)
            schemaless_reader(io.BytesIO(written.getvalue()), self._writer)
        except Exception:  # noqa: BLE001 - fastavro raises anything for a schema that it does not know
            return None
        try:
            schemaless_reader(io.BytesIO(written.getvalue()), self._writer, self._reader)
        except Exception:  # noqa: BLE001 - so does its reader
            return Witness("The reader refuses it.", to_json(self._root, value), written.getvalue())
        return None


def _pair(difference: Difference, reader: AvroSchema, writer: AvroSchema, budget: Budget) -> Pair | None:
    """The nearest pair that has a difference."""
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
    """Whether two differences are one, told from different ways to it."""
    return (
        one.rule is other.rule
        and one.reader_at == other.reader_at
        and one.writer_at == other.writer_at
        and one.arguments == other.arguments
    )


def _judge(difference: Difference, pair: Pair, places: Places) -> Iterator[Difference]:
    """What a pair differs in by the rule of a difference, whether or not something else makes up for it."""
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


#: The rules that do not look at two named types of one kind.
_STRUCTURAL = {
    READER_FIELD_MISSING_DEFAULT_VALUE.name: _missing_field,
    TYPE_MISMATCH.name: _other_type,
    MISSING_UNION_BRANCH.name: _missing_branch,
}


def _likely(difference: Difference, pair: Pair) -> Iterator[Route]:
    """The routes that the rule of a difference points to."""
    if difference.rule is MISSING_ENUM_SYMBOLS and isinstance(pair.writer, Enum) and isinstance(pair.reader, Enum):
        has = set(pair.reader.symbols)
        yield from ((*pair.route, symbol) for symbol in pair.writer.symbols if symbol not in has)
    else:
        yield pair.route


def _other_choices(pair: Pair, sizes: Sizes) -> Iterator[Route]:
    yield from ((*pair.route, *inner) for inner in choices(pair.writer, sizes))


@lru_cache(maxsize=8)
def _spelled_out(schema: AvroSchema) -> Any:
    from fastavro import parse_schema  # noqa: PLC0415 - only for those who ask for data

    # Logical types are conversions to Python's types, which have nothing to do with what fits.
    value = json.loads(schema.resolved, object_hook=_without_logical_type)
    return parse_schema(value)


def _without_logical_type(value: dict[str, Any]) -> dict[str, Any]:
    value.pop("logicalType", None)
    return value


def fastavro_schema(schema: AvroSchema, budget: Budget) -> Any:
    """A schema as fastavro uses it.

    Raises:
        TooMuchWork: It is too long, or fastavro does not read it.
    """
    length = len(schema.resolved)
    budget.spend(length // _CHARACTERS_A_STEP)
    if length > _LONGEST_SCHEMA:
        raise TooMuchWork("The schema is too long")
    try:
        return _spelled_out(schema)
    except Exception as error:  # noqa: BLE001 - fastavro raises anything for a schema that it does not know
        raise TooMuchWork(f"fastavro does not read the schema: {error}") from None
