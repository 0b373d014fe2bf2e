"""Finds documents that the writer's schema accepts and the reader's refuses."""

from __future__ import annotations

from compat.budget import Budget, TooMuchWork
from compat.difference import Difference, Witness
from compat.json_schema.schema import JsonSchema
from compat.json_schema.walk.differing import JsonDifference
from compat.json_schema.witness.shrinking import finite_values
from compat.json_schema.witness.trial import Trial
from compat.schema import ParsedSchema

#: How many candidates are tried for a difference.
_MOST_TRIED = 4_000


def witness(
    difference: Difference, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None
) -> Witness | None:
    """A small document that the writer's schema accepts and the reader's refuses; see SchemaFormat."""
    assert isinstance(difference, JsonDifference)
    assert isinstance(reader, JsonSchema)
    assert isinstance(writer, JsonSchema)
    budget = budget or Budget()
    if budget.is_spent:
        return None
    try:
        trial = Trial(reader, writer, budget)
        refusal = trial.search(difference.route, (difference.reader_at, difference.writer_at), _MOST_TRIED)
        if refusal is not None:
            return refusal.witness
        values = finite_values(writer.model)
        if values is not None and not any(trial.breaks(value) for value in values):
            return Witness("No data can break: the reader accepts each of the writer's values.")
    except (TooMuchWork, ValueError):
        return None
    return None
