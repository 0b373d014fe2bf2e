"""A schema as it is sent to Spark's workers."""

from __future__ import annotations

from dataclasses import dataclass

from compat.schema import Dependencies, SchemaText


@dataclass(frozen=True)
class Known:
    """A schema, and the texts that it refers to."""

    schema: SchemaText
    dependencies: Dependencies = ()
