"""Names, docs and texts of the schemas that a JSON Schema's class is made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from compat.json import json_text
from magicbyte.generate.json_schema.documents import Documents, SchemaLocation

DEFINITIONS = ("$defs", "definitions")
#: Keywords that say nothing about the type of a value.
_NOTES = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format"),
        *("$id", "id", "$schema", "$comment", "$anchor", "$dynamicAnchor", "$vocabulary", *DEFINITIONS),
    }
)


def followed(documents: Documents, place: SchemaLocation, hint: str) -> tuple[SchemaLocation, str]:
    """The schema that a reference, or an `allOf` of one schema, leads to, and the name of it."""
    seen = {place.key}
    while True:
        says = [keyword for keyword in place.keywords if keyword not in _NOTES and ":" not in keyword]
        reference, members = place.keywords.get("$ref"), place.keywords.get("allOf")
        if isinstance(reference, str) and (says == ["$ref"] or not place.resource.dialect.modern):
            place = documents.target(place, reference)
            hint = name_of(place)
        elif says == ["allOf"] and isinstance(members, list) and len(members) == 1 and isinstance(members[0], dict):
            place = documents.inside(place, "allOf", 0)
        else:
            return place, hint
        if place.key in seen:
            return place, hint
        seen.add(place.key)


def name_of(place: SchemaLocation) -> str:
    """The name of a definition, the title of a document, or the name of its file."""
    if place.pointer and isinstance(place.pointer[-1], str):
        return place.pointer[-1]
    return title_of(place) or place.document.stem


def title_of(place: SchemaLocation) -> str | None:
    """The schema's title, if it has one."""
    title = place.keywords.get("title")
    return title if isinstance(title, str) and title.strip() else None


def is_definition(place: SchemaLocation) -> bool:
    """Whether a schema is a document or one of its definitions, and so has a name of its own."""
    return not place.pointer or (len(place.pointer) > 1 and place.pointer[-2] in DEFINITIONS)


def member_hint(place: SchemaLocation, index: int) -> str:
    """The words for a member of a union: its title, the constant that tells it, or its number."""
    constants = [
        value
        for _, value in sorted((place.keywords.get("properties") or {}).items())
        if isinstance(value, dict) and isinstance(value.get("const"), str)
    ]
    return title_of(place) or (constants[0]["const"] if constants else str(index))


def doc_of(places: Sequence[SchemaLocation]) -> str | None:
    """The description, else the title, of the innermost schema that has one."""
    for keyword in ("description", "title"):
        for place in reversed(places):
            doc = place.keywords.get(keyword)
            if isinstance(doc, str) and doc.strip():
                return doc
    return None


def schema_text(documents: Documents, places: Sequence[SchemaLocation]) -> str:
    """The text of a class's schema: the document, or a part of it with the definitions that it refers to."""
    if len(places) == 1 and not places[0].pointer:
        return json_text.dumps(places[0].raw)
    raw = [place.raw for place in places]
    part: dict[str, Any] = dict(raw[0]) if len(raw) == 1 else {"allOf": raw}
    root = documents.root.raw
    if isinstance(root, dict) and any(reference.startswith("#/") for reference in _references(part)):
        part |= {keyword: root[keyword] for keyword in DEFINITIONS if keyword in root and keyword not in part}
    if isinstance(root, dict) and "$schema" in root:
        part = {"$schema": root["$schema"], **part}
    return json_text.dumps(part)


def _references(raw: Any) -> Iterator[str]:
    todo = [raw]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            todo += value.values()
        elif isinstance(value, list):
            todo += value
