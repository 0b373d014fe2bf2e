"""Instances that show a difference: the writer's schema accepts them and the reader's refuses them.

Candidates are made from the writer's schema, with values near the bounds of both schemas. Every one is tried by a
validator, jsonschema-rs, before it is given, and made as small as it can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from compat import json_text
from compat.budget import Budget, TooMuchWork
from compat.difference import Difference, Witness
from compat.json_schema.candidates import Maker, hints_at
from compat.json_schema.differing import JsonDifference
from compat.json_schema.schema import JsonSchema
from compat.json_schema.shrinking import finite_values, shrink
from compat.json_schema.validators import Validator, bounded_work, first_error, validator
from compat.schema import ParsedSchema

#: Most work that a validator may have with a candidate of some size (see `work.py`): about 1 ms.
_MOST_WORK = 100_000
_SIZE = 200
#: Candidates that are tried for one difference, and for each place in it that may show the break.
_MOST_TRIED = 4_000
_MOST_PER_PLACE = 1_500
#: The steps of a hint, and of a candidate that is tried: some at least, and more for schemas that are long.
_STEPS_A_HINT = 4
_STEPS_A_TRY = 20
_CHARACTERS_A_STEP = 100
#: Longest reason of the validator's that is repeated.
_LONGEST_REASON = 120


def witness(
    difference: Difference, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None
) -> Witness | None:
    """The smallest instance found that the writer's schema accepts and the reader's refuses; see SchemaFormat."""
    assert isinstance(difference, JsonDifference)
    assert isinstance(reader, JsonSchema)
    assert isinstance(writer, JsonSchema)
    budget = budget or Budget()
    if budget.is_spent:
        return None
    try:
        if any(_bound(schema) > _MOST_WORK for schema in (writer, reader)):
            return None
        accepts, reads = validator(writer), validator(reader)
    except ValueError:
        return None
    try:
        return _search(difference, _Sides(accepts, reads, reader, writer), budget)
    except TooMuchWork:
        return None


@dataclass(frozen=True, slots=True)
class _Sides:
    """The two schemas of a difference, and their validators."""

    accepts: Validator
    reads: Validator
    reader: JsonSchema
    writer: JsonSchema


def _search(difference: JsonDifference, sides: _Sides, budget: Budget) -> Witness | None:
    accepts, reads, reader, writer = sides.accepts, sides.reads, sides.reader, sides.writer
    hints = hints_at(difference.reader_at, reader.raw) | hints_at(difference.writer_at, writer.raw)
    budget.spend(_STEPS_A_HINT * len(hints))
    maker = Maker(hints)
    steps_a_try = _STEPS_A_TRY + (len(reader.source) + len(writer.source)) // _CHARACTERS_A_STEP
    places = [difference.route[:length] for length in range(len(difference.route), -1, -1)]
    candidates = chain.from_iterable(
        islice(maker.reaching(writer.model, place, 0), _MOST_PER_PLACE) for place in places
    )

    def breaks(candidate: Any) -> bool:
        budget.spend(steps_a_try)
        return accepts.is_valid(candidate) and not reads.is_valid(candidate)

    for candidate in islice(candidates, _MOST_TRIED):
        if breaks(candidate):
            return _shown(shrink(candidate, breaks), reads)
    values = finite_values(writer.model)
    if values is not None and not any(breaks(value) for value in values):
        return Witness("No data can break: the reader accepts each of the writer's values.")
    return None


def _shown(instance: Any, reads: Validator) -> Witness:
    at, why = first_error(reads, instance)
    why = f": {why}" if len(why) <= _LONGEST_REASON else ""
    return Witness(f"The reader refuses {f'the value at `{at}`' if at else 'it'}{why}.", json_text.dumps(instance))


@lru_cache(maxsize=4)
def _bound(schema: JsonSchema) -> float:
    """The most work of a validator; kept, because one explanation after another asks for the same schemas."""
    return bounded_work(schema.raw, schema.dependencies).bound(_SIZE)
