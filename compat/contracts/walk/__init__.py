"""The fields of schemas, and walks that visit the leaves of messages: one implementation for each schema type."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from compat.contracts.model import Metadata
from compat.contracts.walk.leaf import FieldWalk
from compat.schema import AVRO, JSON, PROTOBUF, Dependencies, SchemaText

__all__ = ["field_walk"]


def field_walk(schema: SchemaText, dependencies: Dependencies, metadata: Metadata | None) -> FieldWalk:
    """The fields of a schema, and the walks over its messages.

    Args:
        schema: The schema.
        dependencies: The schemas that it refers to.
        metadata: The metadata, whose tags are added to the inline ones; None if there is none.

    Raises:
        InvalidSchema: The text or a dependency is not a schema of its type.
    """
    return _WALKS[schema.schema_type](schema, dependencies, metadata)


def _avro(schema: SchemaText, dependencies: Dependencies, metadata: Metadata | None) -> FieldWalk:
    from compat.contracts.walk.avro import walk_of  # noqa: PLC0415  each type loads the parser of its own

    return walk_of(schema, dependencies, metadata)


def _json_schema(schema: SchemaText, dependencies: Dependencies, metadata: Metadata | None) -> FieldWalk:
    from compat.contracts.walk.json_schema import walk_of  # noqa: PLC0415  as above

    return walk_of(schema, dependencies, metadata)


def _protobuf(schema: SchemaText, dependencies: Dependencies, metadata: Metadata | None) -> FieldWalk:
    from compat.contracts.walk.protobuf import walk_of  # noqa: PLC0415  as above

    return walk_of(schema, dependencies, metadata)


_WALKS: Mapping[str, Callable[[SchemaText, Dependencies, Metadata | None], FieldWalk]] = {
    AVRO: _avro,
    JSON: _json_schema,
    PROTOBUF: _protobuf,
}
