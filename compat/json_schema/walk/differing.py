"""From the walk's findings to differences, under both policies at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from compat.budget import Budget
from compat.difference import Difference, Rule
from compat.json import json_text
from compat.json_schema.judges.judging import Found, Route
from compat.json_schema.model.reading import shown
from compat.json_schema.rules.table import RULES
from compat.json_schema.schema import JsonSchema
from compat.json_schema.walk.walker import compare
from compat.level import Policy
from compat.schema import ParsedSchema, Pointer, Position

#: Most parts of a value that are told one by one.
_MOST_TOLD = 6


@dataclass(frozen=True, slots=True)
class JsonDifference(Difference):
    """A difference between two JSON Schemas; `route` leads to the values in an instance that it is about."""

    route: Route = ()


def differences(reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None) -> list[Difference]:
    """What the reader schema changed from the writer schema, in the reference's order, harmless changes included.

    The policy decides not only which differences count but also which members of combined schemas fit each other. So
    what breaks under one policy only has a rule with just the other policy allowed.

    Raises:
        TooMuchWork: The comparison goes beyond the budget.
    """
    budget = budget or Budget()
    assert isinstance(reader, JsonSchema)
    assert isinstance(writer, JsonSchema)
    strict = compare(writer.model, reader.model, Policy.STRICT, budget)
    if strict.depends_on_policy:
        lenient = compare(writer.model, reader.model, Policy.LENIENT, budget)
        return [_difference(found, rule, reader, writer) for found, rule in _merged(strict.found, lenient.found)]
    return [_difference(found, RULES[found.name], reader, writer) for found in strict.found]


def _merged(strict: list[Found], lenient: list[Found]) -> list[tuple[Found, Rule]]:
    """The findings under STRICT, and those that break under LENIENT only."""
    breaking = Counter(_key(found) for found in lenient if Policy.LENIENT not in RULES[found.name].allowed)
    merged: list[tuple[Found, Rule]] = []
    for found in strict:
        rule = RULES[found.name]
        if Policy.LENIENT not in rule.allowed:
            if breaking[_key(found)]:
                breaking[_key(found)] -= 1
            else:
                rule = replace(rule, allowed=rule.allowed | {Policy.LENIENT})
        merged.append((found, rule))
    for found in lenient:
        if breaking[_key(found)]:
            breaking[_key(found)] -= 1
            rule = RULES[found.name]
            merged.append((found, replace(rule, allowed=rule.allowed | {Policy.STRICT})))
    return merged


def _key(found: Found) -> tuple[str, tuple[str, ...]]:
    return found.name, found.path


def _difference(found: Found, rule: Rule, reader: JsonSchema, writer: JsonSchema) -> JsonDifference:
    return JsonDifference(
        rule=rule,
        path="#/" + "/".join(found.path),
        arguments={
            "reader_value": _told(reader.raw, found.reader_at),
            "writer_value": _told(writer.raw, found.writer_at),
        },
        reader_at=found.reader_at,
        writer_at=found.writer_at,
        route=found.route,
    )


def _told(raw: Any, pointer: Pointer | None) -> str:
    """What stands at a place, as a few words."""
    if pointer is None:
        return "nothing"
    for step in pointer:
        raw = raw[step]
    parts = list(raw.values()) if isinstance(raw, dict) else raw if isinstance(raw, list) else []
    if len(parts) > _MOST_TOLD or any(isinstance(part, dict | list) for part in parts):
        return f"a schema with {len(parts)} keywords" if isinstance(raw, dict) else f"a list of {len(parts)}"
    return shown(raw)


def message(difference: Difference, reader: str, writer: str) -> str:
    """The reference's message, with its mismatched closing quote."""
    description = difference.fill(difference.rule.description, reader, writer)
    return f'{{errorType:"{difference.rule.name}", description:"{description}\'}}'


def locate(schema: ParsedSchema, pointer: Pointer) -> Position | None:
    """Where a pointer leads in the schema's source."""
    return json_text.locate(schema.source, pointer)
