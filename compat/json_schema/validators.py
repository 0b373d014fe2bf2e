"""Validators of instances, by jsonschema-rs: with the same references by name, and as offline, as the loading."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import urljoin

from compat import json_text
from compat.json_schema.dialects import dialect_of
from compat.json_schema.schema import JsonSchema


class Validator(Protocol):
    """What tells whether a schema accepts an instance."""

    def is_valid(self, instance: Any) -> bool:
        """Whether the schema accepts a decoded JSON value."""


@lru_cache(maxsize=4)
def validator(schema: JsonSchema) -> Validator:
    """A validator of instances against a schema; formats are annotations.

    Raises:
        ValueError: The library cannot work with the schema, such as with a pattern that it does not know.
    """
    # Imported here: the library takes longer to load than most schemas take to compare.
    import jsonschema_rs  # noqa: PLC0415

    classes = {
        "draft-04": jsonschema_rs.Draft4Validator,
        "draft-06": jsonschema_rs.Draft6Validator,
        "draft-07": jsonschema_rs.Draft7Validator,
        "2019-09": jsonschema_rs.Draft201909Validator,
        "2020-12": jsonschema_rs.Draft202012Validator,
    }
    base = schema.raw.get(schema.dialect.id_keyword) if isinstance(schema.raw, dict) else None
    resources: list[tuple[str, Any]] = []
    for dependency in schema.dependencies:
        raw = _in_its_draft(json_text.loads(dependency.text))
        resources.append((dependency.name, raw))
        if isinstance(base, str) and urljoin(base, dependency.name) != dependency.name:
            resources.append((urljoin(base, dependency.name), raw))
    try:
        registry = jsonschema_rs.Registry(resources) if resources else None
        made: Validator = classes[schema.dialect.name](
            _in_its_draft(schema.raw), registry=registry, validate_formats=False, offline=True
        )
    except jsonschema_rs.ReferencingError as error:
        raise ValueError(str(error)) from None
    return made


def _in_its_draft(raw: Any) -> Any:
    """The schema with the draft named that it was decided to be in: the library would look an unknown one up."""
    if not isinstance(raw, dict):
        return raw
    dialect = dialect_of(raw)
    named = {**raw, "$schema": dialect.url}
    definitions = [raw[keyword] for keyword in ("definitions", "$defs") if isinstance(raw.get(keyword), dict)]
    if dialect.modern and definitions:
        # The reference finds definitions of newer drafts under either word.
        both = {name: schema for each in definitions for name, schema in each.items()}
        named |= {"definitions": {**both, **raw.get("definitions", {})}, "$defs": {**both, **raw.get("$defs", {})}}
    return named
