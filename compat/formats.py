"""The schema formats by name; the package of each is imported on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from compat.difference import SchemaFormat
from compat.outline_tree import Limits, Outline, ReferencedTargets
from compat.schema import AVRO, JSON, PROTOBUF, Dependencies, InvalidSchema, ParsedSchema, Reference, SchemaText


class _Formats(Mapping[str, SchemaFormat]):
    """A mapping that imports a format on first use, because some of their libraries are slow to load."""

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
    """Parse a schema of any type.

    Args:
        schema: The text and its type.
        dependencies: The texts it refers to, each after those that it needs itself.
        strict: Whether to check requirements that apply only to new schemas.

    Raises:
        InvalidSchema: The type is unknown (`Invalid schema type X`), or the parser rejects one of the texts.
    """
    if schema.schema_type not in FORMATS:
        raise InvalidSchema(schema.schema_type, f"Invalid schema type {schema.schema_type}")
    return FORMATS[schema.schema_type].parse(schema, dependencies, strict)


def make_outline(schema: ParsedSchema, references: Sequence[Reference], limits: Limits) -> Outline:
    """The outline of a schema of any type.

    Args:
        schema: The schema.
        references: Its list of references.
        limits: The limits of the outline.

    Raises:
        TooMuchWork: The budget of the limits is spent.
    """
    root = FORMATS[schema.schema_type].outline(schema, ReferencedTargets(references), limits)
    return Outline(root, limits.nodes, limits.is_cut)
