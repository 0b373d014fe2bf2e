"""The schema that a producer's properties give: a text, a file or an id, with references, metadata and rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from compat.schema import Reference
from serdes.client.clients import RegistryClient
from serdes.error import ConfigError
from serdes.schema import Schema
from serdes.setting_kinds import INTEGER, typed

#: Settings that name one of the registry's schemas, so that properties need not give one.
_NAMING = ("use.schema.id", "use.schema.guid", "use.latest.version", "use.latest.with.metadata")


def own_schema(
    client: RegistryClient, field: str, schema_type: str, properties: Mapping[str, str], serde: Mapping[str, str]
) -> Schema | None:
    """The schema of `{field}.schema.id`, else of `{field}.schema`, else of `{field}.schema.file`.

    Returns:
        None if none of them is set and a setting names one of the registry's schemas.

    Raises:
        ConfigError: No schema is given, or a property is invalid.
        SchemaNotFound: The registry has no schema of this id.
    """
    name = f"{field}.schema"
    if f"{name}.id" in properties:
        info = client.schema_by_id(typed(INTEGER, f"{name}.id", properties[f"{name}.id"]))
        if info.schema.schema_type != schema_type:
            raise ConfigError(f"{name}.id", f"schema {info.id} is of type {info.schema.schema_type}, not {schema_type}")
        return Schema(info.schema.text, schema_type, info.schema.references, info.metadata, info.rule_set)
    # A text with a place is no text to decoders of JSON.
    text = str(properties[name]) if name in properties else None
    if text is None and f"{name}.file" in properties:
        try:
            text = Path(properties[f"{name}.file"]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
            raise ConfigError(f"{name}.file", f"{properties[f'{name}.file']} cannot be read: {reason}") from error
    if text is None:
        if any(serde.get(setting, "false") != "false" for setting in _NAMING):
            return None
        raise ConfigError(name, f"is needed: give {name}, {name}.file or {name}.id")
    references = _json(properties, f"{field}.refs", list) or []
    try:
        parsed = tuple(Reference(str(row["name"]), str(row["subject"]), int(row["version"])) for row in references)
    except (TypeError, KeyError, ValueError) as error:
        raise ConfigError(f"{field}.refs", "must be an array of objects with name, subject and version") from error
    metadata, rule_set = _json(properties, f"{field}.metadata", dict), _json(properties, f"{field}.rule.set", dict)
    return Schema(text, schema_type, parsed, metadata, rule_set)


def _json(properties: Mapping[str, str], name: str, kind: type) -> Any:
    if name not in properties:
        return None
    try:
        value = orjson.loads(str(properties[name]))
    except ValueError as error:
        raise ConfigError(name, f"is not JSON: {error}") from error
    if not isinstance(value, kind):
        raise ConfigError(name, f"must be a JSON {'array' if kind is list else 'object'}")
    return value
