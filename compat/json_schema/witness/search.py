"""Finds documents that the writer's schema accepts and the reader's refuses."""

from __future__ import annotations

import re
from typing import Any

from compat.budget import Budget, TooMuchWork
from compat.difference import Difference, Witness
from compat.json import json_text
from compat.json_schema.schema import JsonSchema
from compat.json_schema.validate.validators import compiled
from compat.json_schema.walk.differing import JsonDifference
from compat.json_schema.witness.shrinking import finite_values
from compat.json_schema.witness.trial import Trial
from compat.schema import ParsedSchema, Pointer

#: How many candidates are tried for a difference.
_MOST_TRIED = 4_000
#: The steps for a value that a schema lists.
_STEPS_A_VALUE = 4
#: Keywords that refer to other schemas, or change what references mean.
_LINKS = re.compile(r'"(?:\$ref|\$dynamicRef|\$recursiveRef|\$schema|\$id|id)":')


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
        if difference.route and _accepts_each_value(difference, reader, writer, budget):
            return Witness("No data can break here: the reader accepts each value that the writer allows.")
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


def _accepts_each_value(difference: Difference, reader: JsonSchema, writer: JsonSchema, budget: Budget) -> bool:
    """Whether the writer's schema at a difference lists its values, and the reader's accepts each of them.

    Raises:
        TooMuchWork: The budget is spent.
        ValueError: The library does not support the reader's schema.
    """
    if difference.rule.name != "TYPE_CHANGED":
        return False  # other differences point to keywords whose values are not schemas
    wanted, allowed = (
        _subschema(schema, at) for schema, at in ((reader, difference.reader_at), (writer, difference.writer_at))
    )
    values = [allowed["const"]] if writer.dialect.has_const and "const" in allowed else allowed.get("enum")
    # A reference may lead out of the subschema; in older drafts it hides the keywords beside it.
    if not wanted or not isinstance(values, list) or any(map(_is_linked, (wanted, allowed))):
        return False
    budget.spend(_STEPS_A_VALUE * len(values))
    judge = compiled(wanted, dialect=reader.dialect)
    return all(map(judge.is_valid, values))


def _subschema(schema: JsonSchema, pointer: Pointer | None) -> dict[str, Any]:
    """The innermost schema around a place; empty if there is none."""
    innermost: dict[str, Any] = {}
    value = schema.raw
    for step in (*(pointer or ()), None):
        if isinstance(value, dict):
            innermost = value
        value = value[step] if step is not None else value
    return innermost if pointer is not None else {}


def _is_linked(schema: dict[str, Any]) -> bool:
    return bool(_LINKS.search(json_text.dumps(schema)))
