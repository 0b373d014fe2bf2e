"""JSON Schemas of the OpenAPI documents in words, for a cell of a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: Keywords that bound a value, and how the cell says it.
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matches `{}`",
    "contentEncoding": "in {}",
    "default": "default {}",
}


def schema_words(schema: Mapping[str, Any], name: str) -> str:
    """Return what a schema allows, in words; a named schema is a link to its place in the page.

    Args:
        schema: the schema.
        name: the name of the page, which the anchors of its schemas begin with.

    """
    bounds = [
        text.format(_json(schema[key]) if key == "default" else cell(str(schema[key])))
        for key, text in _BOUNDS.items()
        if key in schema and schema[key] not in ("", None)
    ]
    return ", ".join([_kind(schema, name), *bounds])


def _kind(schema: Mapping[str, Any], name: str) -> str:
    for key, words in _KINDS.items():
        if key in schema:
            return words(schema[key], name)
    return _type(schema, name)


def _type(schema: Mapping[str, Any], name: str) -> str:
    """The words for a schema that only has a type."""
    kind = schema.get("type", "any value")
    extra = schema.get("additionalProperties")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return f"array of {schema_words(schema.get('items', {}), name)}"
    if kind == "object" and isinstance(extra, Mapping):
        return f"object with values: {schema_words(extra, name)}"
    return f"{kind} ({schema['format']})" if "format" in schema else str(kind)


def _reference(target: str, name: str) -> str:
    title = target.rpartition("/")[2]
    return f"[{title}](#api-{name}-{title.lower()})"


def _any(schemas: Sequence[Mapping[str, Any]], name: str) -> str:
    return " or ".join(dict.fromkeys(schema_words(schema, name) for schema in schemas))


#: Keyword -> what its value means; the first that a schema has counts.
_KINDS: Mapping[str, Callable[[Any, str], str]] = {
    "$ref": _reference,
    "anyOf": _any,
    "oneOf": _any,
    "allOf": lambda schemas, name: " and ".join(schema_words(schema, name) for schema in schemas),
    "const": lambda value, _: _json(value),
    "enum": lambda values, _: " or ".join(map(_json, values)),
}


def _json(value: Any) -> str:
    return f"`{cell(json.dumps(value, ensure_ascii=False))}`"


def cell(text: str) -> str:
    """Return a text for a cell of a table: in one line, and with its bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")
