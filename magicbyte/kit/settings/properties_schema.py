"""The JSON Schema of properties: an object of names and values, as in Helm values and in the data of a ConfigMap.

A value may be a text, as in a file of properties, or a number or truth value that YAML writes without quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from magicbyte.kit.settings.kinds import PLACEHOLDER, Kind, Scalar
from magicbyte.kit.settings.patterns import texts
from magicbyte.kit.settings.section import Section, Setting, settings_of

Schema = dict[str, Any]
_LINK = re.compile(r"\[([^]]+)]\([^)]*\)")


def any_text() -> Schema:
    """Any value, as its text."""
    return {"type": ["string", "number", "boolean"]}


def described(schema: Mapping[str, Any], text: str, takes: str = "", default: Any = None) -> Schema:
    """The schema of a property's value, with words for editors; links to pages are left out."""
    words = _LINK.sub(r"\1", f"{text} Takes {takes}." if takes else text)
    return {"description": words, **({} if default is None else {"default": default}), **schema}


def obsolete(text: str, schema: Mapping[str, Any] | None = None) -> Schema:
    """The schema of a property that nobody should set any more."""
    return {**described(schema or any_text(), text), "deprecated": True}


def document(title: str, properties: Mapping[str, Schema], prefixes: Iterable[str] = ()) -> Schema:
    """The schema of all properties; those with one of the prefixes may have any name.

    No property is required: a file is one of several sources.
    """
    others = {f"^{prefix.replace('.', '[.]')}": any_text() for prefix in prefixes}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": dict(properties),
        **({"patternProperties": others} if others else {}),
        "additionalProperties": False,
    }


def section_properties(*sections: type[Section]) -> dict[str, Schema]:
    """The properties that are the settings of some sections."""
    rows = [row for section in sections for row in settings_of(section)]
    return {name: _of_row(row) for row in rows for name in row.names}


def _of_row(row: Setting) -> Schema:
    tells = row.default_words is None and isinstance(row.default, str | int | float) and row.default != ""
    return described(value_schema(row.kind), row.help, row.kind.words, row.default if tells else None)


def value_schema(kind: Kind) -> Schema:
    """The schema of a kind's values, and of the texts that stand for them."""
    if not isinstance(kind, Scalar) or not kind.schema:
        return {}
    schema = kind.json_schema()
    if schema == {"type": "string"}:
        return any_text()
    return schema if kind.parse is None else either(kind.schema, texts(kind.texts))


def either(*schemas: Mapping[str, Any]) -> Schema:
    """Values of one of several schemas, and placeholders."""
    alternatives = [dict(item) for schema in schemas for item in schema.get("anyOf", (schema,))]
    return {"anyOf": [*alternatives, dict(PLACEHOLDER)]}
