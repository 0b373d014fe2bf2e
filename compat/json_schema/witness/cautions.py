"""Breaks of JSON Schema documents that the rules allow, as far as a search finds them.

The search tries each place at which the schemas differ. A document that the writer's schema accepts and the reader's
refuses becomes a caution; the keyword that refuses it determines which one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from compat.budget import Budget, TooMuchWork
from compat.difference import STRICT_AND_LENIENT, Difference, Judged, NotExamined, Rule
from compat.json import json_text
from compat.json_schema.judges.judging import Route
from compat.json_schema.model import nodes as model
from compat.json_schema.model.nodes import Node, follow
from compat.json_schema.schema import JsonSchema
from compat.json_schema.witness.trial import Refusal, Trial
from compat.schema import Pointer

#: How many places are searched, and how many documents are tried at each.
_MOST_PLACES = 40
_MOST_TRIED = 300
#: How many subschemas of the writer get a route, at most.
_MOST_NODES = 5_000


def _caution(name: str, keyword: str, harm: str, remedy: str) -> Rule:
    return Rule(
        name,
        STRICT_AND_LENIENT,
        change=f"The {{reader}} schema refuses, by `{keyword}`, documents that the {{writer}} schema accepts.",
        harm=harm,
        remedy=remedy,
    )


#: The cautions by the keyword that refuses a document; similar keywords share one.
_BY_KEYWORD: Mapping[str, Rule] = {
    "required": _caution(
        "REQUIRED_NOT_COMPARED",
        "required",
        "The rules compare names in `properties` only, and take a default for a value that readers fill in.",
        "Leave the name out of `required`.",
    ),
    "oneOf": _caution(
        "ONE_OF_OVERLAPS",
        "oneOf",
        "What matched one alternative matches two, or none.",
        "Use `anyOf`, or make the alternatives exclude each other.",
    ),
    "patternProperties": _caution(
        "PATTERN_PROPERTIES_NOT_COMPARED",
        "patternProperties",
        "The rules compare patterns of properties with single properties only.",
        "Keep the patterns and their schemas as they were.",
    ),
    "propertyNames": _caution(
        "PROPERTY_NAMES_NOT_COMPARED", "propertyNames", "The rules do not compare this keyword.", "Keep it as it was."
    ),
    "contains": _caution(
        "CONTAINS_NOT_COMPARED", "contains", "The rules do not compare its schema.", "Keep it as it was."
    ),
    "if": _caution(
        "CONDITION_NOT_COMPARED",
        "if",
        "The rules do not compare conditions.",
        "Keep `if`, `then` and `else` as they were.",
    ),
    "format": _caution(
        "FORMAT_NOT_COMPARED",
        "format",
        "The rules take formats for annotations; validators of drafts 4 to 7 refuse what does not have them.",
        "Leave the format out.",
    ),
    "type": _caution(
        "TYPE_NOT_COMPARED",
        "type",
        "The rules take keywords such as `minLength` for the type that they imply.",
        "Leave the type out, or accept several types.",
    ),
    "unevaluated": _caution(
        "UNEVALUATED_NOT_COMPARED",
        "unevaluatedProperties",
        "What alternatives evaluate decides what is left for this keyword.",
        "Keep the alternatives as they were.",
    ),
}
#: The caution for all other keywords.
DOCUMENT_REFUSED = Rule(
    "DOCUMENT_REFUSED",
    STRICT_AND_LENIENT,
    change="The {reader} schema refuses documents that the {writer} schema accepts.",
    harm="The policy or a corner of the rules allows the change all the same.",
    remedy="Keep what stands at '{path}' as it was.",
)
#: Keywords on the path to a refusal, and the key of their caution; the first match in this table decides.
_WAYS: tuple[tuple[str, str], ...] = (
    ("patternProperties", "patternProperties"),
    ("propertyNames", "propertyNames"),
    ("contains", "contains"),
    ("then", "if"),
    ("else", "if"),
    ("if", "if"),
    ("oneOf", "oneOf"),
    ("unevaluatedProperties", "unevaluated"),
    ("unevaluatedItems", "unevaluated"),
)

#: Keywords whose schemas the rules hardly compare, and the search has no route into.
_HIDDEN = frozenset({"if", "then", "else", "not"})
#: Keywords that do not decide which documents a schema accepts.
_ANNOTATIONS = frozenset(
    {"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)
#: Keywords with schemas by name: the next step of a pointer is not a keyword.
_BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"})

CAUTIONS: Mapping[str, Rule] = {rule.name: rule for rule in (*_BY_KEYWORD.values(), DOCUMENT_REFUSED)}


def cautions(judged: Judged, budget: Budget) -> Iterator[Difference]:
    """The cautions of a pair that the rules find compatible; none for any other pair.

    Raises:
        TooMuchWork: The search exceeds the budget.
        NotExamined: It leaves out places or documents, or the validator does not support a schema.
    """
    reader, writer = judged.reader, judged.writer
    assert isinstance(reader, JsonSchema)
    assert isinstance(writer, JsonSchema)
    # If the rules already report a break, a refused document would show nothing new.
    if not judged.is_compatible or reader.canonical == writer.canonical:
        return
    by_document: dict[tuple[str, str | None], Difference] = {}
    try:
        _search(reader, writer, by_document, budget)
    except TooMuchWork:
        yield from by_document.values()
        raise
    except ValueError as error:
        yield from by_document.values()
        raise NotExamined(str(error)) from error
    yield from by_document.values()


def _search(
    reader: JsonSchema, writer: JsonSchema, by_document: dict[tuple[str, str | None], Difference], budget: Budget
) -> None:
    """Add the breaks of the places at which two schemas differ, by caution and document.

    Raises:
        TooMuchWork: The search exceeds the budget.
        ValueError: It leaves out places or documents, or the validator does not support a schema.
    """
    trial = Trial(reader, writer, budget)
    routes = _routes(writer.model)
    hidden: Pointer | None = None
    places = changed(writer.raw, reader.raw)
    for pointer in islice(places, _MOST_PLACES):
        budget.spend(1)
        refusal = trial.search(_route_to(pointer, routes), (pointer, pointer), _MOST_TRIED)
        if refusal is not None:
            difference = _difference(refusal, pointer, reader, writer)
            key = (difference.rule.name, refusal.witness.example)
            # A document shows one break; prefer the place of the keyword that refuses it, if that keyword has changed.
            if key not in by_document or pointer[-1] in refusal.way:
                by_document[key] = difference
        elif _is_hidden(pointer) and not (pointer[-1] in _HIDDEN and _existing(reader.raw, pointer) is None):
            # Without the keyword, the reader accepts more.
            hidden = hidden or pointer
    if next(places, None) is not None:
        raise ValueError(f"only the first {_MOST_PLACES} of the places at which they differ were searched")
    if trial.incomplete:
        raise ValueError(trial.incomplete)
    if hidden is not None and not by_document:
        raise ValueError(f"the rules hardly compare '{_path(hidden)}', and no document was found that it refuses")


def _difference(refusal: Refusal, pointer: Pointer, reader: JsonSchema, writer: JsonSchema) -> Difference:
    rule = _rule(refusal.way)
    return Difference(
        rule, _path(pointer), {}, _existing(reader.raw, pointer), _existing(writer.raw, pointer), refusal.witness
    )


def _path(pointer: Pointer) -> str:
    return "#" + "".join(f"/{step}" for step in pointer)


def _is_hidden(pointer: Pointer) -> bool:
    """Whether a change is in a schema that the rules hardly compare, and may decide which documents it accepts."""
    keywords: set[str] = set()
    is_keyword = True
    for step in pointer:
        if is_keyword and isinstance(step, str):
            keywords.add(step)
        is_keyword = not (is_keyword and step in _BY_NAME)
    return bool(keywords & _HIDDEN) and not keywords & _ANNOTATIONS


def _rule(way: tuple[str, ...]) -> Rule:
    for keyword, caution in _WAYS:
        if keyword in way:
            return _BY_KEYWORD[caution]
    return _BY_KEYWORD.get(way[-1] if way else "", DOCUMENT_REFUSED)


def _existing(raw: Any, pointer: Pointer) -> Pointer | None:
    value = raw
    for step in pointer:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return pointer


def changed(before: Any, after: Any) -> Iterator[Pointer]:
    """The innermost places at which two JSON values differ."""
    todo: list[tuple[Pointer, Any, Any]] = [((), before, after)]
    for pointer, old, new in todo:
        if isinstance(old, dict) and isinstance(new, dict):
            for name in dict.fromkeys((*old, *new)):
                if name not in old or name not in new:
                    yield (*pointer, name)
                else:
                    todo.append(((*pointer, name), old[name], new[name]))
        elif isinstance(old, list) and isinstance(new, list) and _has_schemas(pointer) and len(old) == len(new):
            todo += [((*pointer, index), one, other) for index, (one, other) in enumerate(zip(old, new, strict=True))]
        elif json_text.dumps(old) != json_text.dumps(new):
            yield pointer


def _has_schemas(pointer: Pointer) -> bool:
    return bool(pointer) and pointer[-1] in {"allOf", "anyOf", "oneOf", "items", "prefixItems"}


def _routes(root: Node) -> Mapping[Pointer, Route]:
    """For each subschema of the writer, the shortest route to the values that it applies to."""
    routes: dict[Pointer, Route] = {}
    queue: list[tuple[Node, Route]] = [(root, ())]
    visited: set[int] = set()
    for schema, route in queue:
        node = follow(schema)
        if id(node) in visited or len(queue) > _MOST_NODES:
            continue
        visited.add(id(node))
        if node.at is not None:
            routes.setdefault(node.at, route)
        queue += [(child, (*route, *step)) for step, child in _children(node)]
    return routes


def _children(node: Node) -> Iterator[tuple[Route, Node]]:
    if isinstance(node, model.Combined):
        yield from (((), member) for member in node.members)
    elif isinstance(node, model.Object):
        yield from (((name,), schema) for name, schema in node.properties.items())
        if isinstance(node.additional, Node):
            yield ("other",), node.additional
    elif isinstance(node, model.Array):
        yield from (((index,), schema) for index, schema in enumerate(node.items))
        if node.all_items is not None:
            yield (len(node.items),), node.all_items


def _route_to(pointer: Pointer, routes: Mapping[Pointer, Route]) -> Route:
    lengths = range(len(pointer), -1, -1)
    return next((routes[pointer[:length]] for length in lengths if pointer[:length] in routes), ())
