"""The schema types by name; each one's package is imported when it is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from compat.difference import SchemaFormat
from compat.schema import AVRO, JSON, PROTOBUF, Dependencies, InvalidSchema, ParsedSchema, SchemaText


class _Formats(Mapping[str, SchemaFormat]):
    """A mapping that imports what it is asked for: the libraries behind some types take long to start."""

    def __init__(self, packages: Mapping[str, str]) -> None:
        self._packages = packages
        self._imported: dict[str, SchemaFormat] = {}

    def __getitem__(self, name: str) -> SchemaFormat:
        if name not in self._imported:
            self._imported[name] = import_module(self._packages[name]).FORMAT
        return self._imported[name]

    def __contains__(self, name: object) -> bool:
        return name in self._packages

    def __iter__(self) -> Iterator[str]:
        return iter(self._packages)

    def __len__(self) -> int:
        return len(self._packages)


FORMATS: Mapping[str, SchemaFormat] = _Formats(
    {AVRO: "compat.avro", JSON: "compat.json_schema", PROTOBUF: "compat.protobuf"}
)


def parse(schema: SchemaText, dependencies: Dependencies = (), *, strict: bool = False) -> ParsedSchema:
    """Reads a schema of any type.

    Args:
        schema: The text and its type.
        dependencies: The texts it refers to, whatever a member needs before it.
        strict: Whether what only new schemas must satisfy is checked too.

    Raises:
        InvalidSchema: The type is unknown (`Invalid schema type X`), or its parser refuses the text or a dependency's.
    """
    if schema.schema_type not in FORMATS:
        raise InvalidSchema(schema.schema_type, f"Invalid schema type {schema.schema_type}")
    return FORMATS[schema.schema_type].parse(schema, dependencies, strict)
