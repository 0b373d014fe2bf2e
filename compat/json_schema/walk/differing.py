"""Turns the walk's changes into differences, under both policies at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from compat.budget import Budget
from compat.difference import Difference, Rule
from compat.json import json_text
from compat.json_schema.judges.judging import Change, Route
from compat.json_schema.model.reading import shown
from compat.json_schema.rules.table import RULES
from compat.json_schema.schema import JsonSchema
from compat.json_schema.walk.walker import compare
from compat.level import Policy
from compat.schema import ParsedSchema, Pointer, Position

#: How many parts of a value are shown, at most.
_MOST_SHOWN = 6


@dataclass(frozen=True, slots=True)
class JsonDifference(Difference):
    """A difference between two JSON Schemas; `route` leads to the affected values in an instance."""

    route: Route = ()


def differences(reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None) -> list[Difference]:
    """The differences of the reader schema from the writer schema, in the reference's order, including harmless ones.

    The policy decides which differences break, and also which members of combined schemas are paired. A difference that
    breaks under only one policy therefore gets a rule that allows the other policy.

    Raises:
        TooMuchWork: The comparison exceeds the budget.
    """
    budget = budget or Budget()
    assert isinstance(reader, JsonSchema)
    assert isinstance(writer, JsonSchema)
    strict = compare(writer.model, reader.model, Policy.STRICT, budget)
    if strict.depends_on_policy:
        lenient = compare(writer.model, reader.model, Policy.LENIENT, budget)
        return [_difference(change, rule, reader, writer) for change, rule in _merged(strict.changes, lenient.changes)]
    return [_difference(change, RULES[change.name], reader, writer) for change in strict.changes]


def _merged(strict: list[Change], lenient: list[Change]) -> list[tuple[Change, Rule]]:
    """The changes under STRICT, and those that break only under LENIENT."""
    breaking = Counter(_key(change) for change in lenient if Policy.LENIENT not in RULES[change.name].allowed)
    merged: list[tuple[Change, Rule]] = []
    for change in strict:
        rule = RULES[change.name]
        if Policy.LENIENT not in rule.allowed:
            if breaking[_key(change)]:
                breaking[_key(change)] -= 1
            else:
                rule = replace(rule, allowed=rule.allowed | {Policy.LENIENT})
        merged.append((change, rule))
    for change in lenient:
        if breaking[_key(change)]:
            breaking[_key(change)] -= 1
            rule = RULES[change.name]
            merged.append((change, replace(rule, allowed=rule.allowed | {Policy.STRICT})))
    return merged


def _key(change: Change) -> tuple[str, tuple[str, ...]]:
    return change.name, change.path


def _difference(change: Change, rule: Rule, reader: JsonSchema, writer: JsonSchema) -> JsonDifference:
    places = ((reader.raw, change.reader_at), (writer.raw, change.writer_at))
    values = [_summary(*place) for place in places]
    if values[0] == values[1] and None not in (change.reader_at, change.writer_at):
        # Two lists of the same length say nothing.
        values = [shown(_at(raw, pointer or ())) for raw, pointer in places]
    return JsonDifference(
        rule=rule,
        path="#/" + "/".join(change.path),
        arguments={"reader_value": values[0], "writer_value": values[1]},
        reader_at=change.reader_at,
        writer_at=change.writer_at,
        route=change.route,
    )


def _at(raw: Any, pointer: Pointer) -> Any:
    for step in pointer:
        raw = raw[step]
    return raw


def _summary(raw: Any, pointer: Pointer | None) -> str:
    """A short description of the value at a place."""
    if pointer is None:
        return "nothing"
    raw = _at(raw, pointer)
    parts = list(raw.values()) if isinstance(raw, dict) else raw if isinstance(raw, list) else []
    if len(parts) > _MOST_SHOWN or any(isinstance(part, dict | list) for part in parts):
        plural = "" if len(parts) == 1 else "s"
        return f"a schema with {len(parts)} keyword{plural}" if isinstance(raw, dict) else f"a list of {len(parts)}"
    return shown(raw)


def message(difference: Difference, reader: str, writer: str) -> str:
    """The reference's message, with its mismatched closing quote."""
    description = difference.fill(difference.rule.description, reader, writer)
    return f'{{errorType:"{difference.rule.name}", description:"{description}\'}}'


def locate(schema: ParsedSchema, pointer: Pointer) -> Position | None:
    """The position of a pointer in the schema's source."""
    return json_text.locate(schema.source, pointer)
