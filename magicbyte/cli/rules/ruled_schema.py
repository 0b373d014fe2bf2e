"""Schemas with rules, from a registry or from files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from compat.contracts.model import Metadata, RuleSet
from compat.schema import AVRO, JSON, PROTOBUF, SchemaText
from magicbyte.check.project.rule_file import read_rule_file, rule_files_of_schema
from magicbyte.cli.records.consume import gather_properties
from magicbyte.kit.failure import Failure
from serdes.client.clients import RegistryClient
from serdes.console.client import open_client
from serdes.rules.context import Ruled

_TYPES = {".avsc": AVRO, ".json": JSON, ".proto": PROTOBUF}


def client_and_settings(options: argparse.Namespace) -> tuple[RegistryClient, dict[str, str]]:
    """The registry's client, and the settings of serializers, from the options of a command."""
    gathered = gather_properties(options)
    return open_client(gathered.client), dict(gathered.serde)


def from_files(schema: Path, rules: Path | None, subject: str | None = None) -> Ruled:
    """The schema of a file with the rules of another, or of the one beside it.

    Raises:
        Failure: A file cannot be read.
    """
    schema_type = _TYPES.get(schema.suffix)
    if schema_type is None:
        raise Failure(f"{schema}: the file of a schema ends in {', '.join(_TYPES)}")
    try:
        text = schema.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{schema} cannot be read: {getattr(error, 'strerror', 'it is no UTF-8 text')}") from error
    rule_set, metadata = rules_of_file(rules if rules is not None else next(rule_files_of_schema(schema), None))
    return Ruled(schema.name, SchemaText(schema_type, text), rule_set, metadata, (), subject or schema.stem)


def rules_of_file(file: Path | None) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The rule set and the metadata of a file, as JSON of the API; None without a file."""
    if file is None:
        return None, None
    read = read_rule_file(file)
    return RuleSet.to_json(read.rule_set), None if read.metadata is None else Metadata.to_json(read.metadata)
