"""The schema that a producer is told to use: a text, a file or an id, with references, metadata and rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from compat.schema import Reference
from serdes.client.clients import RegistryClient
from serdes.error import ConfigError
from serdes.message.parsers import integer
from serdes.schema import Schema

#: Settings that name one of the registry's schemas, so that none need be given.
_NAMING = ("use.schema.id", "use.schema.guid", "use.latest.version", "use.latest.with.metadata")


def own_schema(
    client: RegistryClient, field: str, schema_type: str, own: Mapping[str, str], serde: Mapping[str, str]
) -> Schema | None:
    """The schema that `{field}.schema.id`, `{field}.schema` or `{field}.schema.file` gives, in this order.

    Returns:
        None where none of them is set, and a setting names one of the registry's.

    Raises:
        ConfigError: None is given, or a property is wrong.
        SchemaNotFound: The id is unknown.
    """
    name = f"{field}.schema"
    if f"{name}.id" in own:
        info = client.schema_by_id(integer(f"{name}.id", own[f"{name}.id"]))
        if info.schema.schema_type != schema_type:
            raise ConfigError(f"{name}.id", f"schema {info.id} is of type {info.schema.schema_type}, not {schema_type}")
        return Schema(info.schema.text, schema_type, info.schema.references, info.metadata, info.rule_set)
    text = own.get(name)
    if text is None and f"{name}.file" in own:
        try:
            text = Path(own[f"{name}.file"]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
            raise ConfigError(f"{name}.file", f"{own[f'{name}.file']} cannot be read: {reason}") from error
    if text is None:
        if any(serde.get(setting, "false") != "false" for setting in _NAMING):
            return None
        raise ConfigError(name, f"is needed: give {name}, {name}.file or {name}.id")
    references = _json(own, f"{field}.refs", list) or []
    try:
        parsed = tuple(Reference(str(each["name"]), str(each["subject"]), int(each["version"])) for each in references)
    except (TypeError, KeyError, ValueError) as error:
        raise ConfigError(f"{field}.refs", "must be an array of objects with name, subject and version") from error
    return Schema(
        text, schema_type, parsed, _json(own, f"{field}.metadata", dict), _json(own, f"{field}.rule.set", dict)
    )


def _json(own: Mapping[str, str], name: str, kind: type) -> Any:
    if name not in own:
        return None
    try:
        value = orjson.loads(own[name])
    except ValueError as error:
        raise ConfigError(name, f"is not JSON: {error}") from error
    if not isinstance(value, kind):
        raise ConfigError(name, f"must be a JSON {'array' if kind is list else 'object'}")
    return value
